"""Equations of perturbation of constraints, and whether they bring a motion back.

R. G. Mukharlyamov: Solving numerically equations of extremals of variational problem with
constraints (2000). Equation and theorem numbers are his.

Notation: f, f_dot, f' are the paper's holonomic constraints, their rates and the nonholonomic
constraints; here g, g_t + G v and k of a `Mechanism`, m, m and l of them. Together they are the
deviation, the paper's g = alpha = (f, f_dot, f') of (3.2), (3.8), which is made to obey

    alpha' = A~ alpha,   A~ = [  0    E    0  ]   (m rows)          (3.9)
                              [ A10  A11  A12 ]   (m rows)
                              [ A20  A21  A22 ]   (l rows)

`Gains` holds the blocks, `Perturbation` is A~ for given numbers of constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from genalpha.errors import InvalidOptionError

Array = np.ndarray

_BLOCKS = ("A10", "A11", "A12", "A20", "A21", "A22")
#: Roots with a real part up to this, relative to the largest root, count as not growing: rounding
#: splits multiple roots, as of critical damping, by its square root.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Gains:
    """The blocks of (3.9): how hard each deviation from the constraints is pulled back.

    Use one of the constructors `baumgarte` (the usual choice) and `none`, or give blocks.

    Parameters
    ----------
    A10, A11, A12, A20, A21, A22 : None, float, array_like or callable(t, q, v), optional
        Of shapes (m, m), (m, m), (m, l), (l, m), (l, m), (l, l). None (default) is zero, a number
        is that multiple of the identity (for the square blocks). Negative diagonals pull back.
        A callable makes the block a function of the state.

    Notes
    -----
    Large gains keep deviations small, but an explicit method of step size h bears only gains up
    to about 1 / h (A11, A22) and 1 / h^2 (A10).
    """

    A10: Any = None
    A11: Any = None
    A12: Any = None
    A20: Any = None
    A21: Any = None
    A22: Any = None

    @classmethod
    def baumgarte(cls, alpha: float, beta: float | None = None, rate: float | None = None) -> Gains:
        """Return Baumgarte's choice: f'' + 2 alpha f' + beta^2 f = 0, and k' + rate k = 0.

        Parameters
        ----------
        alpha : float
            In 1/s, not negative. 5 to 20 is usual for motions of a few seconds.
        beta : float, optional
            In 1/s, default `alpha`: critically damped. beta = sqrt(2) alpha is damped best
            in the sense of Butterworth.
        rate : float, optional
            In 1/s, for nonholonomic constraints, default `alpha`.
        """
        beta = alpha if beta is None else beta
        rate = alpha if rate is None else rate
        values = {"alpha": alpha, "beta": beta, "rate": rate}
        faults = [
            f"{name} = {value!r} is not a finite number from 0 on"
            for name, value in values.items()
            if not (np.isfinite(value) and value >= 0.0)
        ]
        if faults:
            raise InvalidOptionError("Gains.baumgarte", faults)
        return cls(A10=-(beta**2), A11=-2.0 * alpha, A22=-rate)

    @classmethod
    def none(cls) -> Gains:
        """Return zero gains: index reduction without stabilization, for comparison."""
        return cls()

    def sized(self, m: int, l: int) -> Perturbation:  # noqa: E741
        """Return A~ for m holonomic and l nonholonomic constraints.

        Raises
        ------
        InvalidOptionError
            With all blocks that do not fit, and, for constant blocks, if a deviation would grow.
        """
        return Perturbation(self, m, l)


class Perturbation:
    """The matrix A~ of (3.9) for given numbers of constraints.

    Attributes
    ----------
    m, l : int
        Numbers of holonomic and nonholonomic constraints.
    size : int
        2 m + l, the length of a deviation (f, f_dot, f').
    constant : (size, size) array or None
        A~ if it does not depend on the state.
    """

    def __init__(self, gains: Gains, m: int, l: int) -> None:  # noqa: E741
        self.gains, self.m, self.l, self.size = gains, m, l, 2 * m + l
        columns = (slice(0, m), slice(m, 2 * m), slice(2 * m, self.size))
        rows = {"1": slice(m, 2 * m), "2": slice(2 * m, self.size)}
        self._places = {name: (rows[name[1]], columns[int(name[2])]) for name in _BLOCKS}
        self._base = np.zeros((self.size, self.size))
        self._base[:m, m : 2 * m] = np.eye(m)
        self._variable: dict[str, Callable[..., Any]] = {}
        faults = [fault for name in _BLOCKS if (fault := self._set(name))]
        if faults:
            raise InvalidOptionError("Gains", faults)
        self.constant = None if self._variable else self._base
        if self.constant is not None:
            stability = root_stability(self.constant)
            if not stability.bounded:
                fault = f"a root of (3.9) has real part {-stability.decay:.3g}: deviations grow"
                raise InvalidOptionError("Gains", [fault])

    def _shape(self, name: str) -> tuple[int, int]:
        rows, columns = self._places[name]
        return rows.stop - rows.start, columns.stop - columns.start

    def _set(self, name: str) -> str | None:
        """Put a constant block in its place; return what is wrong with it."""
        value = getattr(self.gains, name)
        if callable(value):
            self._variable[name] = value
            return None
        try:
            self._base[self._places[name]] = self._block(name, value)
        except (TypeError, ValueError) as error:
            return str(error)
        return None

    def _block(self, name: str, value: Any) -> Array:
        shape = self._shape(name)
        if value is None:
            return np.zeros(shape)
        block = np.asarray(value, dtype=float)
        if block.ndim == 0 and (shape[0] == shape[1] or 0 in shape):
            block = float(block) * np.eye(*shape)
        if block.shape != shape or not np.isfinite(block).all():
            raise ValueError(f"{name} = {value!r}; expected finite numbers, shape {shape}")
        return block

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return A~ at a state; do not change it."""
        if not self._variable:
            return self._base
        matrix = self._base.copy()
        for name, function in self._variable.items():
            matrix[self._places[name]] = self._block(name, function(t, q.copy(), v.copy()))
        return matrix

    def pattern(self) -> Array:
        """Return which entries of A~ may differ from zero, shape (size, size), bool."""
        pattern = self._base != 0.0
        for name in self._variable:
            pattern[self._places[name]] = True
        return pattern


@dataclass(frozen=True)
class Stability:
    """What is known of the solutions of alpha' = A~ alpha.

    Attributes
    ----------
    theorem : {3, 4, 5}
        The theorem that was applied.
    bounded : bool
        No deviation grows without bound, as far as roots of A~ tell (Theorem 3 only; otherwise
        the same as `asymptotic`).
    asymptotic : bool
        The constraints are an asymptotically stable manifold: deviations decay to zero.
    decay : float
        They decay as exp(-decay t), in 1/s: exactly so in the long run (Theorem 3), at least
        (Theorems 4, 5).
    factor : float
        |alpha(t)| <= factor |alpha(t0)| exp(-decay (t - t0)); inf where it is not known.
    """

    theorem: int
    bounded: bool
    asymptotic: bool
    decay: float
    factor: float


def root_stability(matrix: Array) -> Stability:
    """Apply Theorem 3 to a constant A~, shape (size, size): all roots must lie on the left."""
    if not matrix.size:
        return Stability(3, True, True, np.inf, 1.0)
    roots, vectors = np.linalg.eig(matrix)
    largest = float(np.max(roots.real))
    bounded = bool(largest <= ROUNDING * np.abs(roots).max())
    condition = float(np.linalg.cond(vectors)) if largest < 0.0 else np.inf
    # beyond, the eigenvectors are no basis: a multiple root
    return Stability(3, bounded, largest < 0.0, -largest, condition if condition < 1e6 else np.inf)


def lyapunov_stability(matrices: Sequence[Array], L: Array | None = None) -> Stability:
    """Apply Theorem 4 to an A~ that varies, sampled along a motion.

    Parameters
    ----------
    matrices : sequence of (size, size) array
        A~ at one or more states.
    L : (size, size) array, optional
        Symmetric positive definite: V = alpha^T L alpha / 2 is the theorem's function. Default:
        the one that fits the mean of the matrices; another one may prove more.

    Notes
    -----
    The theorem prints Sylvester's criterion for A' = -L A~, which is not symmetric; the quadratic
    form alpha^T A' alpha knows only its symmetric part, and that is what is examined here.
    """
    mean = np.mean(matrices, axis=0)
    if L is None:
        if not root_stability(mean).asymptotic:
            return Stability(4, False, False, 0.0, np.inf)
        L = linalg.solve_continuous_lyapunov(mean.T, -np.eye(len(mean)))
    weights = _weights(L)
    # decay of V in its own metric: the least eigenvalue of -(L A~ + A~^T L) / 2 against L
    decay = min(linalg.eigh(-0.5 * (L @ A + A.T @ L), L, eigvals_only=True)[0] for A in matrices)
    holds = bool(decay > 0.0)
    factor = float(np.sqrt(weights[-1] / weights[0])) if holds else np.inf
    return Stability(4, holds, holds, float(decay), factor)


def _weights(L: Array) -> Array:
    """Return the eigenvalues of L, all positive."""
    weights = np.linalg.eigvalsh(L)
    if not weights[0] > 0.0:
        raise InvalidOptionError("L", [f"L is not positive definite: eigenvalue {weights[0]:.3g}"])
    return weights


def exponential_stability(
    matrices: Sequence[Array], metrics: Sequence[Array], L: Array
) -> Stability:
    """Apply Theorem 5, for nonholonomic constraints only: A22 = -k(x, t) W L, k >= k0 > 0.

    Parameters
    ----------
    matrices : sequence of (l, l) array
        A22 at states along a motion.
    metrics : sequence of (l, l) array
        W = K K^T at the same states, K = dk/dv.
    L : (l, l) array
        Symmetric positive definite.

    Returns
    -------
    Stability
        Not asymptotic if some A22 is not of the form -k W L with k > 0.

    Notes
    -----
    From V = alpha^T L alpha / 2 follows V' = -k (L alpha)^T W (L alpha) <= -2 k0 w0^2 l_1 V, hence
    decay = k0 w0^2 l_1 with the least eigenvalues w0^2 of W and l_1 of L. The paper prints
    k0 w0 l_1^2 / l_m, which is too large where w0 < l_1 / l_m.
    """
    weights = _weights(L)
    k0 = w0_squared = np.inf
    for A22, W in zip(matrices, metrics, strict=True):
        form = W @ L
        k = -float(np.sum(A22 * form)) / float(np.sum(form * form))
        if np.abs(A22 + k * form).max() > 1e-9 * np.abs(A22).max():
            return Stability(5, False, False, 0.0, np.inf)
        k0, w0_squared = min(k0, k), min(w0_squared, float(np.linalg.eigvalsh(W)[0]))
    decay = k0 * w0_squared * float(weights[0])
    holds = k0 > 0.0 and w0_squared > 0.0
    return Stability(
        5, holds, holds, decay, float(np.sqrt(weights[-1] / weights[0])) if holds else np.inf
    )
