"""A mechanism as an Assimulo problem: seven formulations of the same equations.

Notation: q' and v' are the parts of Assimulo's yd, mu is the extra multiplier of "ggl2". Where
there are first-order states z, v is V = (v, z), of the widened mechanism: z' = r are rows of its
equations of motion, and there is no row q' = v for the coordinates that stand for z.
Each formulation is a list of row blocks (`FORMS`), each row block one equation (`_BLOCKS`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from assimulo.problem import Implicit_Problem, Overdetermined_Problem
from numpy.typing import ArrayLike
from scipy import sparse

from genalpha.assimulo.explicit import ExplicitMechanism
from genalpha.assimulo.layout import layout_of
from genalpha.assimulo.stabilized import StabilizedMechanism
from genalpha.errors import InvalidOptionError, UnsupportedProblemError
from genalpha.model import Mechanism
from genalpha.model.differences import Groups, find_pattern, forward_jacobian
from genalpha.numerics.initial_values import check_start, consistent_initial_values

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array

#: The row blocks of each formulation, in the order of Assimulo's `Mechanical_System`.
FORMS: dict[str, tuple[str, ...]] = {
    "ind3": ("q' = v", "motion", "g", "k"),
    "ind2": ("q' = v", "motion", "g'", "k"),
    "ind1": ("q' = v", "motion", "g''", "k'"),
    "ggl2": ("q' = v - G^T mu", "motion", "g'", "k", "g"),
    "ovstab2": ("q' = v", "motion", "g'", "k", "g"),
    "ovstab1": ("q' = v", "motion", "g''", "k'", "g", "g'", "k"),
    "ode": (),  # explicit: q' = v and v' from "motion" with "g''" and "k'"
}


class State(NamedTuple):
    """What a row block may depend on; `lam_psi` is lam and psi in one array, qdot has no zeta."""

    t: float
    q: Array
    v: Array
    lam_psi: Array
    mu: Array
    qdot: Array
    vdot: Array


def _with(s: State, key: str, x: Array) -> State:
    return s._replace(**{key: x})  # type: ignore[arg-type]


class Block(NamedTuple):
    """One row block: its residual, its derivatives, and what must be given for a Jacobian.

    `by` maps a field of `State` to the derivative; None: difference it (for Newton only).
    """

    residual: Callable[[Mechanism, State], Array]
    by: dict[str, Callable[[Mechanism, State], Matrix] | None]
    needs: tuple[str, ...] = ()


def _full(o: Mechanism, s: State) -> tuple[Any, ...]:
    """Return the arguments of stiffness, damping and imbalance."""
    return s.t, s.q, s.v, s.vdot, s.lam_psi[: o.n_lam], s.lam_psi[o.n_lam :]


def _reaction_by_multipliers(o: Mechanism, s: State) -> Matrix:
    lam, psi = s.lam_psi[: o.n_lam], s.lam_psi[o.n_lam :]
    return -o.reaction_jacobian(s.t, s.q, s.v, lam, psi)


def _identity(o: Mechanism, s: State) -> Matrix:
    n = o.n_moving
    return sparse.eye_array(n, format="csc") if o.is_sparse else np.eye(n)


def _minus_identity(o: Mechanism, s: State) -> Matrix:
    n, wide = o.n_moving, o.n_q
    return -(sparse.eye_array(n, wide, format="csc") if o.is_sparse else np.eye(n, wide))


def _G(o: Mechanism, s: State) -> Matrix:
    return o.holonomic_jacobian(s.t, s.q)


def _K(o: Mechanism, s: State) -> Matrix:
    return o.nonholonomic_jacobian(s.t, s.q, s.v)


_BLOCKS: dict[str, Block] = {
    "q' = v": Block(
        lambda o, s: s.qdot - s.v[: o.n_moving],
        {"qdot": _identity, "v": _minus_identity},
    ),
    "q' = v - G^T mu": Block(
        lambda o, s: s.qdot - s.v[: o.n_moving] + (_G(o, s).T @ s.mu)[: o.n_moving],
        {
            "qdot": _identity,
            "v": _minus_identity,
            "q": None,
            "mu": lambda o, s: _G(o, s).T[: o.n_moving],
        },
    ),
    "motion": Block(
        lambda o, s: o.imbalance(*_full(o, s)),
        {
            "q": lambda o, s: o.stiffness(*_full(o, s)),
            "v": lambda o, s: o.damping(*_full(o, s)),
            "vdot": lambda o, s: o.mass(s.t, s.q),
            "lam_psi": _reaction_by_multipliers,
        },
        ("stiffness", "damping"),
    ),
    "g": Block(
        lambda o, s: o.holonomic(s.t, s.q),
        {"q": _G},
        ("holonomic_jacobian",),
    ),
    "g'": Block(
        lambda o, s: o.holonomic_rate(s.t, s.q, s.v),
        {"q": None, "v": _G},
        ("holonomic_jacobian",),
    ),
    "g''": Block(
        lambda o, s: _G(o, s) @ s.vdot + o.holonomic_acceleration(s.t, s.q, s.v),
        {"q": None, "v": None, "vdot": _G},
        ("holonomic_jacobian", "holonomic_acceleration"),
    ),
    "k": Block(
        lambda o, s: o.nonholonomic(s.t, s.q, s.v),
        {"q": None, "v": _K},
        ("nonholonomic_jacobian",),
    ),
    "k'": Block(
        lambda o, s: _K(o, s) @ s.vdot + o.nonholonomic_acceleration(s.t, s.q, s.v),
        {"q": None, "v": None, "vdot": _K},
        ("nonholonomic_jacobian", "nonholonomic_acceleration"),
    ),
}
#: The columns of a Jacobian, and the field whose derivative enters with the factor c.
_COLUMNS = {"q": "qdot", "v": "vdot", "lam_psi": None, "mu": None}


def problem(
    mechanism: Mechanism, form: str = "ind3", *, name: str | None = None, **options: Any
) -> Any:
    """Return a mechanism as an Assimulo problem.

    The state is y = [q, v, lam, psi] ("ggl2" appends mu, which is 0 on the solution; "ode" has
    [q, v] only), with first-order states y = [q, v, z, lam, psi]. The start is consistent at every
    level, and the attributes `mechanism` and `form` say where the problem comes from. `algvar`
    marks q, v and z as differential, the multipliers as algebraic. `jac` = dF/dy + c dF/dyd is
    there when the derivatives it needs were given to the mechanism; it is sparse if that is.

    Parameters
    ----------
    mechanism : Mechanism
    form : str, optional
        Equations beside q' = v and M v' = f + reaction, and solvers for them:

        - "ind3": g = 0, k = 0 (default; GenAlphaI3, GenAlphaSOI2, HHTI2);
        - "ind2": g' = 0, k = 0 (ODASSL, IDA);
        - "ind1": g'' = 0, k' = 0 (Radau5DAE, IDA);
        - "ggl2": g' = 0, k = 0, g = 0, and q' = v - G^T mu (Radau5DAE, IDA);
        - "ovstab2": g' = 0, k = 0, g = 0, overdetermined (ODASSL);
        - "ovstab1": g'' = 0, k' = 0, g = 0, g' = 0, k = 0, overdetermined (ODASSL);
        - "ode": v' from g'' = 0, k' = 0, explicit (Dopri5, LSODAR);
        - "stabilized": the same with Mukharlyamov's (or Baumgarte's) terms that pull the motion
          back onto the constraints, explicit (CVode, Dopri5).

        The rows come in the order of Assimulo's `Mechanical_System`.
    name : str, optional
        Default: the mechanism's name and the form.
    **options
        Of the form "stabilized", see `genalpha.assimulo.StabilizedMechanism`.

    Returns
    -------
    Implicit_Problem, Overdetermined_Problem or Explicit_Problem
        The problem for "ode" has a method ``multipliers(t, y)`` that returns lam and psi.

    Raises
    ------
    InvalidOptionError
        There is no such form.
    InconsistentStartError
        The mechanism's start violates a constraint, which is named.
    """
    if form == "stabilized":
        if mechanism.n_z:
            raise UnsupportedProblemError(
                f"{mechanism.name}: the form 'stabilized' has no first-order states z; take 'ode', "
                "or integrate with StabilizedRK2"
            )
        return StabilizedMechanism(mechanism, name=name, **options)
    if options:
        raise TypeError(f"the form {form!r} has no options {sorted(options)}")
    if form not in FORMS:
        known = [*FORMS, "stabilized"]
        raise InvalidOptionError("problem", [f"form is {form!r}; expected one of {known}"])
    wide = mechanism.widened
    check_start(wide, wide.t0, wide.q0, wide.v0)
    start = consistent_initial_values(wide)
    label = name or f"{mechanism.name} ({form})"
    if form == "ode":
        return ExplicitMechanism(mechanism, start, label)
    equations = _Equations(wide, form)
    y0, yd0 = equations.layout.assemble(start)
    overdetermined = form in ("ovstab2", "ovstab1")
    kind = Overdetermined_Problem if overdetermined else Implicit_Problem
    made = kind(equations.residual, y0, yd0, mechanism.t0, name=label)
    differential = wide.n_moving + wide.n_q
    made.algvar = [1] * differential + [0] * (y0.size - differential)
    made.mechanism, made.form = mechanism, form
    if overdetermined:
        made.neq = sum(equations.rows.values())
    if equations.needs <= wide.given:
        made.jac = equations.jacobian
    return made


class _Equations:
    """The residual of a formulation and its Jacobian, as Assimulo calls them."""

    def __init__(self, mechanism: Mechanism, form: str) -> None:
        self.mechanism = mechanism
        sizes = {"g": mechanism.n_lam, "k": mechanism.n_psi}
        sizes |= dict.fromkeys(("q' = v", "q' = v - G^T mu"), mechanism.n_moving)
        rows = {name: sizes.get(name.rstrip("'"), mechanism.n_q) for name in FORMS[form]}
        self.rows = {name: size for name, size in rows.items() if size}
        self.blocks = {name: _BLOCKS[name] for name in self.rows}
        self.layout = layout_of(mechanism, form)
        self._groups: dict[tuple[str, str], Groups] = {}

    @property
    def needs(self) -> set[str]:
        """Derivatives that the mechanism must know before it can give a Jacobian."""
        return {key for block in self.blocks.values() for key in block.needs}

    def _state(self, t: float, y: ArrayLike, yd: ArrayLike) -> State:
        """Split copies of y and yd, so that no callback can change the solver's arrays."""
        y, yd = np.array(y, dtype=float), np.array(yd, dtype=float)
        o, end = self.mechanism, y.size - self.layout.n_mu
        n, k = o.n_moving, o.n_moving + o.n_q
        q = np.append(y[:n], np.zeros(o.n_states)) if o.n_states else y[:n]
        return State(t, q, y[n:k], y[k:end], y[end:], yd[:n], yd[n:k])

    def residual(self, t: float, y: Array, yd: Array, sw: Any = None) -> Array:
        """Return F(t, y, yd); switches, which Assimulo's solvers hand over, mean nothing here."""
        s = self._state(t, y, yd)
        return np.concatenate([b.residual(self.mechanism, s) for b in self.blocks.values()])

    def jacobian(self, c: float, t: float, y: Array, yd: Array, sw: Any = None) -> Matrix:
        """Return dF/dy + c dF/dyd."""
        s = self._state(t, y, yd)
        columns = [key for key in _COLUMNS if getattr(s, key).size]
        rows = [[self._entry(name, key, c, s) for key in columns] for name in self.blocks]
        if self.mechanism.is_sparse:
            return sparse.block_array(rows, format="csc")
        return np.block(rows)

    def _entry(self, name: str, key: str, c: float, s: State) -> Matrix:
        """Return the derivative of one row block by one part of y, c times that of yd added."""
        entry, rate = self._derivative(name, key, s), _COLUMNS[key]
        return entry if rate is None else entry + c * self._derivative(name, rate, s)

    def _derivative(self, name: str, key: str, s: State) -> Matrix:
        o, block = self.mechanism, self.blocks[name]
        if key not in block.by:
            shape = (self.rows[name], o.n_moving if key == "q" else getattr(s, key).size)
            return sparse.csc_array(shape) if o.is_sparse else np.zeros(shape)
        known = block.by[key]
        found = self._differenced(name, key, s) if known is None else known(o, s)
        return found[:, : o.n_moving] if key == "q" and o.n_states else found

    def _differenced(self, name: str, key: str, s: State) -> Matrix:
        """Difference a row block by q or v."""

        def of(x: Array) -> Array:
            return self.blocks[name].residual(self.mechanism, _with(s, key, x))

        x = getattr(s, key)
        groups = self._pattern(name, key) if self.mechanism.is_sparse else None
        return forward_jacobian(of, x, of(x), groups)

    def _pattern(self, name: str, key: str) -> Groups:
        """Find the pattern of a differenced block once, at a point where nothing vanishes."""
        if (name, key) not in self._groups:
            o, random = self.mechanism, np.random.default_rng(0)
            sizes = (o.n_q, o.n_q, o.n_lam + o.n_psi, self.layout.n_mu, o.n_moving, o.n_q)
            point = State(o.t0, *(random.uniform(0.5, 1.5, size) for size in sizes))
            # at q0 itself an angle may be 0, and its sine hide an entry
            point = point._replace(q=o.q0 + 1e-3 * point.q, v=o.v0 + point.v)
            pattern = find_pattern(
                [lambda x: self.blocks[name].residual(o, _with(point, key, x))],
                getattr(point, key),
                random,
            )
            self._groups[name, key] = Groups(pattern)
        return self._groups[name, key]
