"""Functions of a mechanism: those that were given, checked, and what is missing, completed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.kernels import Native
from genalpha.model import completion
from genalpha.model.c_functions import check_size
from genalpha.model.callbacks import (
    Array,
    MatrixFunction,
    VectorFunction,
    checked_matrix,
    checked_vector,
    constant_matrix,
)
from genalpha.model.constraint import Holonomic
from genalpha.model.differences import DIFFERENCED, EPS
from genalpha.model.equations import Equations
from genalpha.model.patterns import Patterns
from genalpha.model.quadratic import velocity_terms
from genalpha.model.slips import call_first, check_symmetry
from genalpha.model.states import table_of
from genalpha.model.table import arguments_of, shape_of

Callback = Callable[..., Any]


class Functions(Equations):
    """Equations whose functions are made from callbacks; `Mechanism` says what these are.

    Attributes
    ----------
    rounding : float
        Relative error with which the constraints and their gradients can be evaluated.
    tangent_cost : int
        Evaluations of the equations of motion per tangent matrix; 0 if no derivative is missing.
    """

    holonomic_acceleration: VectorFunction
    nonholonomic_gradient: MatrixFunction
    nonholonomic_acceleration: VectorFunction
    reaction_jacobian: MatrixFunction
    stiffness: MatrixFunction
    damping: MatrixFunction
    tangent: MatrixFunction
    rounding: float
    tangent_cost: int
    given: frozenset[str]
    is_sparse: bool
    quadratic_velocity: bool | Callback
    t0: float
    q0: Array
    v0: Array
    z0: Array
    lam0: Array | None
    psi0: Array | None
    #: How many of the last coordinates only stand for states, see `states`.
    n_states = 0
    _arguments: dict[str, Any]

    @property
    def n_moving(self) -> int:
        """The number of coordinates that mean something, see `states`."""
        return self.n_q - self.n_states

    @property
    def has_linear_reaction(self) -> bool:
        """Whether the reaction is that of G and K."""
        return self.is_ideal

    def multiplier_guess(self) -> tuple[Array, Array]:
        """Return lam0 and psi0, zeros where they are not given."""
        lam = np.zeros(self.n_lam) if self.lam0 is None else self.lam0.copy()
        psi = np.zeros(self.n_psi) if self.psi0 is None else self.psi0.copy()
        return lam, psi

    def _set_functions(
        self, mass: Any, force: Callback, given: dict[str, Callback], patterns: dict[str, Any]
    ) -> None:
        """Wrap what is given, and complete what is not."""
        n, m, l = self.n_q, self.n_lam, self.n_psi  # noqa: E741
        vector, matrix = self._wrappers(given)

        self.force = checked_vector(force, "force", n)
        self._set_mass(mass)
        if self.quadratic_velocity and self.constant_mass is None:
            self.force = velocity_terms(self.force, self.mass, self.quadratic_velocity, n)
        self.holonomic = vector("holonomic") or _empty
        self.nonholonomic = vector("nonholonomic") or _empty
        self.reaction = vector("reaction") or _empty  # replaced below when it is the default
        probe = Patterns(self, patterns)

        own = None
        if m and "holonomic_jacobian" not in given:
            user: Callback | None = given["holonomic"]
            if self.n_moving < n or isinstance(user, Native) or hasattr(user, "py_func"):
                user = None  # wide, of C, or of numba, which would compile it for complex numbers
            self.holonomic = own = Holonomic(self.holonomic, probe.holonomic(), user, self.n_moving)
        self.holonomic_jacobian = matrix("holonomic_jacobian") or (
            own.jacobian if own else self._empty_matrix((m, n))
        )
        self.nonholonomic_jacobian = matrix("nonholonomic_jacobian") or self._unless_empty(
            (l, n), lambda: completion.velocity_jacobian(self.nonholonomic, probe.nonholonomic())
        )
        self.nonholonomic_gradient = matrix("nonholonomic_gradient") or self._unless_empty(
            (l, n), lambda: completion.position_gradient(self.nonholonomic, probe.gradient())
        )
        G, K = self.holonomic_jacobian, self.nonholonomic_jacobian
        self.holonomic_rate = vector("holonomic_rate") or (
            own.rate if own else completion.position_rate(self.holonomic, G) if m else _empty
        )
        knows_rate = {"holonomic_rate", "holonomic_jacobian"} & self.given
        self.holonomic_acceleration = vector("holonomic_acceleration") or (
            completion.along_motion(self.holonomic_rate, lambda t, q, v: G(t, q), self.n_moving)
            if knows_rate
            else own.acceleration
            if own
            else _empty
        )
        self.nonholonomic_acceleration = vector("nonholonomic_acceleration") or (
            completion.along_motion(self.nonholonomic, K, self.n_moving) if l else _empty
        )
        if "reaction" in given:
            self.reaction_jacobian = matrix("reaction_jacobian") or completion.reaction_jacobian(
                self.reaction, m, probe.reaction()
            )
        else:
            self.reaction = completion.default_reaction(G, K, m, l)
            self.reaction_jacobian = completion.default_reaction_jacobian(G, K)
        knows_gradients = {"holonomic_jacobian"} <= self.given or not m
        knows_gradients &= {"nonholonomic_jacobian"} <= self.given or not l
        self.rounding = EPS if knows_gradients else DIFFERENCED
        self._set_tangent(matrix("stiffness"), matrix("damping"), probe)

    def _wrappers(self, given: dict[str, Callback]) -> tuple[Callback, Callback]:
        """Return functions that wrap a given callback by its name, or return None."""

        def shape(key: str) -> tuple[int, ...]:
            return shape_of(key, self.n_q, self.n_lam, self.n_psi)

        def vector(key: str) -> VectorFunction | None:
            return checked_vector(given[key], key, *shape(key)) if key in given else None

        def matrix(key: str) -> MatrixFunction | None:
            if key not in given:
                return None
            rows, columns = shape(key)
            if not callable(given[key]):
                return constant_matrix(given[key], key, (rows, columns), self.is_sparse)
            return checked_matrix(given[key], key, (rows, columns), self.is_sparse)

        return vector, matrix

    def _start(self) -> dict[str, Any]:
        """Return the start as callbacks take it, at rest."""
        lam, psi = self.multiplier_guess()
        values = self.t0, self.q0, self.v0, self.z0, np.zeros(self.n_q), lam, psi
        return dict(zip(("t", "q", "v", "z", "vdot", "lam", "psi"), values, strict=True))

    def _has_sparse(self, mass: Any, given: dict[str, Callback]) -> bool:
        """Evaluate each given matrix at the start, to see whether any is sparse."""
        table = table_of(self._arguments)
        matrices = {"mass": mass} | {k: x for k, x in given.items() if table[k].is_matrix}
        start = self._start()
        return any(
            sparse.issparse(value(*arguments_of(key, start, table)) if callable(value) else value)
            for key, value in matrices.items()
        )

    def _set_mass(self, mass: Any) -> None:
        """Constant (kept as it is, evaluated never) or callable."""
        n = self.n_q
        self.constant_mass = None
        if callable(mass):
            self.mass = checked_matrix(mass, "mass", (n, n), self.is_sparse)
            return
        if mass is None:
            mass = sparse.eye_array(n) if self.is_sparse else np.eye(n)
        self.mass = constant_matrix(mass, "mass", (n, n), self.is_sparse)
        self.constant_mass = self.mass()

    def _unless_empty(
        self, shape: tuple[int, int], complete: Callable[[], MatrixFunction]
    ) -> MatrixFunction:
        """Complete a Jacobian by differences; without rows it is the empty matrix."""
        return complete() if shape[0] else self._empty_matrix(shape)

    def _empty_matrix(self, shape: tuple[int, int]) -> MatrixFunction:
        empty = sparse.csc_array(shape) if self.is_sparse else np.zeros(shape)
        return lambda *arguments: empty

    def _set_tangent(
        self, stiffness: MatrixFunction | None, damping: MatrixFunction | None, probe: Patterns
    ) -> None:
        """Kt, Ct and cq Kt + cv Ct; differenced together when both are missing."""
        groups = None if stiffness and damping else probe.stiffness()
        Kt = stiffness or completion.stiffness(self.imbalance, groups)
        Ct = damping or completion.damping(self.imbalance, groups)
        self.stiffness, self.damping = Kt, Ct
        columns = self.n_q if groups is None else len(groups.columns)
        self.tangent_cost = 0 if stiffness and damping else columns + 1
        if stiffness or damping:
            self.tangent = lambda t, q, v, vdot, lam, psi, cq, cv: (
                cq * Kt(t, q, v, vdot, lam, psi) + cv * Ct(t, q, v, vdot, lam, psi)
            )
        else:
            self.tangent = completion.tangent(self.imbalance, groups, self.n_moving)

    def _call_once(self) -> None:
        """Call every given callback once, so that a wrong shape is found here and not later."""
        for key in ("mass", "force", *sorted(self.given)):
            function, arguments = getattr(self, key), arguments_of(key, self._start())
            if isinstance(function, Native):
                check_size(key, function, arguments[0], arguments[1:])
            value = call_first(key, function, arguments)
            if key == "mass" and self.is_ideal:
                check_symmetry(value)


_NOTHING = np.zeros(0)


def _empty(*arguments: Any) -> Array:
    return _NOTHING
