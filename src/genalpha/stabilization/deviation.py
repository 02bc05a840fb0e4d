"""Bounds on the deviation from the constraints under a method of fixed steps.

R. G. Mukharlyamov (2000), Theorems 6 and 7; see `genalpha.stabilization.gains` for A~ and the
deviation, alpha = (f, f_dot, f'). One step of size h gives, with a remainder r,

    alpha_1 = Phi alpha_0 + r,   Phi = E + h A~                            Euler (5.3)
                                 Phi = E + h A~ + h^2 (A~^2 + A~') / 2     Runge-Kutta (5.13)

so that, in any norm with ||Phi|| <= q < 1, no deviation exceeds eps if the first one does not and
if all ||r|| <= (1 - q) eps. Here is what the printed theorems need to be true and of use:

- Their A is A~, and the norm is not the maximum norm: for Euler, Phi has the rows [E, h E, 0],
  whose norm is 1 + h. With a weight P from Lyapunov's equation Phi^T P Phi / s^2 - P = -W, the
  norm ||x||^2 = x^T P x gives ||Phi|| < s, for any s above the spectral radius.
- Constraints that A~ does not couple are kept apart: each set of coupled ones (a "block": for
  diagonal gains f_i and f_dot_i) has a norm, a q and an eps of its own. The norm of the theorems is
  the largest of ||alpha_block|| / eps_block, and their eps is 1.
- The remainder is what the step leaves over, r = alpha_1 - Phi alpha_0, and so exact; the paper
  writes it with derivatives at points that are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

Array = np.ndarray

#: Tried for s, as fractions of the way from the spectral radius to 1.
_FRACTIONS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: Remainders of a run are thinned out to so many while s is chosen; the bound is from all.
_SAMPLES = 500


def step_matrix(A: Array, h: float, order: int, A_rate: Array | None = None) -> Array:
    """Return Phi of Euler's method (order 1) or of the Runge-Kutta method (order 2)."""
    E = np.eye(len(A))
    if order == 1:
        return E + h * A
    rate = 0.0 if A_rate is None else A_rate
    return E + h * A + 0.5 * h**2 * (A @ A + rate)


@dataclass(frozen=True)
class BlockNorm:
    """A norm for each block of coupled deviations, ||x||^2 = x^T P x = |C x|^2.

    Attributes
    ----------
    blocks : (size,) int array
        The number of the block to which each component belongs.
    C : (size, size) array
        Block diagonal.
    reach : (size,) array
        The largest component in the unit ball, sqrt of the diagonal of P^-1.
    """

    blocks: Array
    C: Array
    reach: Array

    @property
    def count(self) -> int:
        """The number of blocks."""
        return int(self.blocks.max(initial=-1)) + 1

    def of(self, deviations: Array) -> Array:
        """Return the norms of one or many deviations, shape (..., blocks)."""
        squares = (deviations @ self.C.T) ** 2
        member = self.blocks[:, None] == np.arange(self.count)
        return np.sqrt(squares @ member)

    def contraction(self, Phi: Array) -> Array:
        """Return ||Phi|| for each block, shape (blocks,)."""
        found = np.zeros(self.count)
        for i in range(self.count):
            where = np.ix_(self.blocks == i, self.blocks == i)
            C = self.C[where]
            # C Phi C^-1, with C triangular
            found[i] = np.linalg.norm(np.linalg.solve(C.T, (C @ Phi[where]).T), 2)
        return found


def contracting_norm(Phi: Array, pattern: Array, remainders: Array) -> BlockNorm:
    """Return the norm in which Phi contracts and the bound on the deviation is least.

    Parameters
    ----------
    Phi : (size, size) array
        A typical step matrix. Blocks in which it does not contract (spectral radius from 1 on)
        get a Euclidean norm, and so no bound.
    pattern : (size, size) bool array
        Which entries of A~ may differ from zero.
    remainders : (k, size) array
        Typical remainders; they decide on the weights.
    """
    size = len(Phi)
    blocks = _blocks(pattern)
    C, reach = np.zeros((size, size)), np.ones(size)
    every = max(1, len(remainders) // _SAMPLES)
    largest = np.abs(remainders).max(axis=0, initial=0.0)
    for i in range(int(blocks.max(initial=-1)) + 1):
        member = np.flatnonzero(blocks == i)
        where = np.ix_(member, member)
        some = np.vstack([remainders[::every, member], np.diag(largest[member])])
        C[where], reach[member] = _block_norm(Phi[where], some)
    return BlockNorm(blocks, C, reach)


def _blocks(pattern: Array) -> Array:
    """Number the sets of components that A~ couples."""
    graph = sparse.csr_array(pattern.astype(int))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1])


def _block_norm(Phi: Array, remainders: Array) -> tuple[Array, Array]:
    """Return C and the reach of one block: the best of Lyapunov's equation for several s."""
    n = len(Phi)
    # roots of Phi - E, because those of Phi crowd near 1, where rounding would blur them
    radius = float(np.abs(1.0 + np.linalg.eigvals(Phi - np.eye(n))).max())
    best = np.inf, np.eye(n), np.ones(n)
    if not radius < 1.0:
        return best[1:]
    sizes = _sizes(Phi, remainders)
    scaled = Phi * sizes / sizes[:, None]  # in units of `sizes`, all components are alike
    for fraction in _FRACTIONS:
        s = radius + fraction * (1.0 - radius)
        P = _lyapunov(scaled / s)
        if P is None:
            continue
        C = np.linalg.cholesky(P).T
        reach = np.linalg.norm(np.linalg.inv(C), axis=1)
        q = np.linalg.norm(np.linalg.solve(C.T, (C @ scaled).T), 2)
        if not q < 1.0:
            continue
        bound = np.linalg.norm(remainders / sizes @ C.T, axis=1).max() / (1.0 - q) * reach.max()
        if bound < best[0]:
            best = bound, C / sizes, reach * sizes
    return best[1:]


def _lyapunov(X: Array) -> Array | None:
    """Solve X^T P X - P = -E: the sum of (X^T)^j X^j, which doubling finds in a few products.

    Unlike a linear system for P, it keeps P symmetric and above E, however far X is from normal.
    None: the spectral radius is too near to 1 to tell on which side it lies.
    """
    P = np.eye(len(X))
    while np.abs(P).max() < 1e24:
        more = X.T @ P @ X
        P = P + 0.5 * (more + more.T)
        if np.abs(more).max() <= 1e-14 * np.abs(P).max():
            return P
        X = X @ X
    return None


def _sizes(Phi: Array, remainders: Array) -> Array:
    """Return about how large each component becomes: sum over j of |Phi^j| |r|, by doubling j."""
    size = np.abs(remainders).max(axis=0, initial=0.0)
    if not size.any():
        return np.ones(len(Phi))
    total, power, weight = size.copy(), Phi, 1.0
    while weight < 2.0**40:
        more = weight * np.abs(power) @ size
        total += more
        if np.all(more <= 1e-3 * total):
            break
        power, weight = power @ power, 2.0 * weight
    return np.maximum(total, 1e-12 * total.max())  # what nothing drives still needs a unit


@dataclass(frozen=True)
class Guarantee:
    """A bound that is given before a run: eps for each block of deviations.

    Attributes
    ----------
    norm : BlockNorm
    eps : (blocks,) array
        The norm of no block will exceed it, says the theorem, if all its conditions hold.
    h : float
        Step size for which it was found.
    """

    norm: BlockNorm
    eps: Array
    h: float

    @property
    def components(self) -> Array:
        """The bound on each component of (f, f_dot, f'), shape (size,)."""
        return self.norm.reach * self.eps[self.norm.blocks]

    def edge(self, direction: Array) -> Array:
        """Return the largest deviation (f, f_dot, f') along `direction` that a start may have.

        Each block that is not zero is scaled to the norm eps, shape (size,).
        """
        norms = self.norm.of(direction)
        factors = np.divide(self.eps, norms, out=np.zeros_like(norms), where=norms > 0.0)
        return np.asarray(direction * factors[self.norm.blocks])


@dataclass(frozen=True)
class Deviation:
    """How far a run was from the constraints, and how far it can have been.

    Components are in the order (f, f_dot, f'): position constraints, their rates, nonholonomic
    constraints; m, m and l of them.

    Attributes
    ----------
    t : (k,) array
        Times of all steps, the start included.
    values : (k, size) array
        The deviations themselves.
    measured : (size,) array
        The largest absolute value of each.
    guaranteed : (size,) array
        What Theorem 6 or 7 guarantees, with remainders as they were in this run; inf where the
        step matrix does not contract.
    contraction : float
        The largest ||Phi|| of all steps and blocks: q of the theorems, in the weighted norm.
    promised : (size,) array or None
        What was promised before the run (gains="auto").
    breach : float or None
        Time of the first step that broke a condition of the theorem on which the promise rests;
        None if there was none, and then ``measured <= promised``.
    """

    t: Array
    values: Array
    measured: Array
    guaranteed: Array
    contraction: float
    promised: Array | None = None
    breach: float | None = None


def deviation_of_run(
    t: Array,
    h: Array,
    values: Array,
    matrices: Sequence[Array],
    which: Array,
    pattern: Array,
    promise: Guarantee | None = None,
) -> Deviation:
    """Apply Theorem 6 or 7 to a run.

    Parameters
    ----------
    t : (k,) array
        Times of all steps, starts included.
    h : (k,) array
        Size of the step that ended there; 0 at a start, of which there may be several.
    values : (k, size) array
        Deviations.
    matrices : sequence of (size, size) array
        Step matrices Phi.
    which : (k,) int array
        Which of them belongs to the step that ended there; ignored at a start.
    pattern : (size, size) bool array
        Which entries of A~ may differ from zero.
    promise : Guarantee, optional
        To be checked.
    """
    steps = np.flatnonzero(h != 0.0)
    remainders = np.empty((steps.size, values.shape[1]))
    for i, Phi in enumerate(matrices):
        mine = which[steps] == i
        end = steps[mine]
        remainders[mine] = values[end] - values[end - 1] @ Phi.T
    counts = np.bincount(which[steps], minlength=len(matrices))
    usual = int(np.argmax(counts))
    norm = contracting_norm(matrices[usual], pattern, remainders[which[steps] == usual])
    eps = norm.of(values[h == 0.0]).max(axis=0, initial=0.0)
    q = np.array([norm.contraction(Phi) for Phi in matrices])[which[steps]]
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(q < 1.0, norm.of(remainders) / (1.0 - q), np.inf)
    eps = np.maximum(eps, needed.max(axis=0, initial=0.0))
    breach = None
    if promise is not None:
        breach = _breach(promise, t, h, values, remainders, matrices, which[steps])
    return Deviation(
        t,
        values,
        np.abs(values).max(axis=0),
        norm.reach * eps[norm.blocks],
        float(q.max(initial=0.0)),
        None if promise is None else promise.components,
        breach,
    )


def _breach(
    promise: Guarantee,
    t: Array,
    h: Array,
    values: Array,
    remainders: Array,
    matrices: Sequence[Array],
    which: Array,
) -> float | None:
    """Return the time of the first step for which ||Phi|| eps + ||r|| <= eps does not hold."""
    norm, eps = promise.norm, promise.eps
    q = np.array([norm.contraction(Phi) for Phi in matrices])[which]
    kept = np.empty(t.size, dtype=bool)
    kept[h == 0.0] = (norm.of(values[h == 0.0]) <= eps).all(axis=1)
    kept[h != 0.0] = (q * eps + norm.of(remainders) <= eps).all(axis=1)
    broken = np.flatnonzero(~kept)
    return float(t[broken[0]]) if broken.size else None
