"""The constrained mechanical system that everything else in genalpha is about.

    q' = v
    M(t, q) v' = f(t, q, v) + reaction(t, q, v, lam, psi)
    0 = g(t, q)            holonomic constraints,    G = dg/dq,  multipliers lam
    0 = k(t, q, v)         nonholonomic constraints, K = dk/dv,  multipliers psi

with the one sign convention of this package: unless the user gives another,

    reaction = -G(t, q)^T lam - K(t, q, v)^T psi.

With first-order states z, which f and k may depend on, there is also z' = r(t, q, v, z); such a
mechanism is solved as one without (`Widened`, see `states`).
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from genalpha.errors import InvalidOptionError
from genalpha.kernels import Native
from genalpha.model import audit
from genalpha.model.arguments import faults_of_values
from genalpha.model.c_functions import CFunction, with_c_functions
from genalpha.model.callbacks import Array, count_of
from genalpha.model.functions import Functions
from genalpha.model.given import Given, real, shown
from genalpha.model.reference import Reference
from genalpha.model.slips import NoEnergy
from genalpha.model.states import DRIVEN_TABLE, Narrowed, WideCallbacks, table_of
from genalpha.model.table import TABLE

Callback = Callable[..., Any]

#: Imported when it is used, because numba is large.
COMPILER = "genalpha.model.compiled"


@cache
def _ordered(given: frozenset[str]) -> tuple[str, ...]:
    """Return the names of callbacks, those that every mechanism has first."""
    return ("mass", "force", *sorted(given))


class Mechanism(Functions):
    """A mechanism: mass, forces, constraints, a start; every derivative given or differenced.

    Parameters
    ----------
    mass : None, (n, n) array or sparse, or callable(t, q), optional
        None (default) is the identity. A constant matrix is the fastest.
    force : callable(t, q, v) -> (n,)
        Applied, gyroscopic and Coriolis forces: all that is not a reaction.
    q0, v0 : (n,) array_like
        Position and velocity at `t0`. They should satisfy the constraints;
        `genalpha.consistent_initial_values` repairs them.
    t0 : float, optional
        Initial time, default 0.
    holonomic : callable(t, q) -> (m,), optional
        Position constraints g.
    holonomic_jacobian : callable(t, q) -> (m, n) array or sparse, optional
        G = dg/dq. Give it when you can: it enters the equations, not only Newton's iteration.
        This and all matrices below may also be given as constant matrices (linear constraints,
        linear springs and dampers), which are then evaluated never.
    nonholonomic : callable(t, q, v) -> (l,), optional
        Velocity constraints k that are not derivatives of position constraints.
    nonholonomic_jacobian : callable(t, q, v) -> (l, n) array or sparse, optional
        K = dk/dv.
    nonholonomic_gradient : callable(t, q, v) -> (l, n) array or sparse, optional
        dk/dq, for Newton's iteration.
    reaction : callable(t, q, v, lam, psi) -> (n,), optional
        Default ``-G.T @ lam - K.T @ psi``. Give it for reactions that are not ideal or not
        linear in the multipliers.
    reaction_jacobian : callable(t, q, v, lam, psi) -> (n, m + l), optional
        Derivative of a custom reaction by (lam, psi).
    stiffness, damping : callable(t, q, v, vdot, lam, psi) -> (n, n), optional
        Derivatives of ``M vdot - f - reaction`` by q and by v, for Newton's iteration.
    holonomic_rate : callable(t, q, v) -> (m,), optional
        g_t + G v. Give ``lambda t, q, v: G(t, q) @ v`` where g does not depend on time:
        it saves two evaluations of g.
    holonomic_acceleration, nonholonomic_acceleration : callable(t, q, v), optional
        What g'' holds beside G vdot: g_tt + 2 g_tq v + g_qq(v, v); what k' holds beside
        K vdot: k_t + k_q v. Used for consistent accelerations and for index-1 formulations.
    quadratic_velocity : bool or callable(t, q) -> (n, n, n), optional
        Whether the Coriolis and centrifugal terms of M(t, q), and that of its change in time, are
        added to `force`, which then holds applied forces only. They come from differences of M,
        2 n + 4 evaluations per force, or from the function: its entry [i, j, k] is dM[i, j]/dq[k].
        Derivatives `stiffness` and `damping`, if they are given, are those of all forces. Default
        False.
    redundant : {"error", "least"}, optional
        Dependent constraint rows: an error that names them (default), or minimum-norm
        multipliers. The motion is the same.
    energy : callable(t, q, v) or callable(t, q, v, z) -> float, optional
        For audits.
    z0 : (s,) array_like, optional
        Start of first-order states z: currents, pressures, integrators, filters. With it, `force`,
        `nonholonomic`, `reaction`, `stiffness`, `damping` and the derivatives of `nonholonomic`
        take z after v: ``force(t, q, v, z)``.
    state_rate : callable(t, q, v, z) -> (s,), optional
        r of z' = r. It may be stiff.
    state_rate_jacobian : callable(t, q, v, z) -> (s, 2 n + s) array or sparse, optional
        Derivatives of r by q, v and z beside each other, for Newton's iteration. This and the next
        are used where stiffness and damping are given too; without these, all is differenced.
    state_coupling : callable(t, q, v, z, vdot, lam, psi) -> (n, s), optional
        Derivative of ``M vdot - f - reaction`` by z, for Newton's iteration.
    nonholonomic_state_jacobian : callable(t, q, v, z) -> (l, s), optional
        dk/dz. Reactions do not act on states: they are along dk/dv only.
    lam0, psi0 : array_like, optional
        Multipliers at `t0`, or a guess of them; needed when a custom reaction is nonlinear.
    name : str, optional
    constraint_names : sequence of m + l str, optional
        Used in messages; default ``g[0]``, ``g[1]``, ..., ``k[0]``, ...
    coordinate_names : sequence of n str, optional
        Used in tables and plots; default ``q[0]``, ``q[1]``, ...
    state_names : sequence of s str, optional
        The same of states; default ``z[0]``, ``z[1]``, ...
    sparsity : mapping, optional
        Patterns for missing derivatives of sparse mechanisms, by the name of what is missing:
        ``"stiffness"`` (of stiffness and damping together), ``"holonomic_jacobian"``,
        ``"nonholonomic_jacobian"``, ``"nonholonomic_gradient"``, ``"reaction_jacobian"``. Absent
        ones are found by probing, which costs 2 n evaluations once. Entries that a pattern of a
        constraint's Jacobian lacks are noticed along the motion, and added.
    reference : Reference, optional
        The true motion, where it is known.

    Attributes
    ----------
    n_q, n_lam, n_psi, n_z : int
        Numbers of coordinates, holonomic and nonholonomic constraints, first-order states.
    is_sparse : bool
        Whether matrices are `scipy.sparse.csc_array`; they are if any given one is sparse.
    constant_mass : matrix or None
        The mass matrix if it is constant.
    rounding : float
        Relative error with which the constraints and their gradients can be evaluated: that of
        rounding, or of differences.
    tangent_cost : int
        Evaluations of the equations of motion per tangent matrix; 0 if no derivative is missing.
    given : frozenset of str
        Names of the optional callbacks that the user gave.

    Notes
    -----
    All callbacks become methods of the same name, checked, with missing ones differenced.
    """

    _wide: Any = None
    #: Whether the callbacks are genalpha's, which know how they are called.
    _has_own_callbacks = False
    #: A function and its arguments that made this, where that is not the constructor.
    recipe: tuple[Callable[..., Mechanism], Any, Any] | None = None
    #: Formulas and parameters that it comes from, see `genalpha.formulas`.
    formulas: Any = None
    #: Returns the outline of a mechanism at (t, q) as polylines, where that is known.
    outline: Callable[[Mechanism, float, Array], list[Array]] | None = None

    def __init__(
        self,
        *,
        force: Callback,
        q0: ArrayLike,
        v0: ArrayLike,
        t0: float = 0.0,
        mass: Any = None,
        holonomic: Callback | None = None,
        holonomic_jacobian: Callback | None = None,
        nonholonomic: Callback | None = None,
        nonholonomic_jacobian: Callback | None = None,
        nonholonomic_gradient: Callback | None = None,
        reaction: Callback | None = None,
        reaction_jacobian: Callback | None = None,
        stiffness: Callback | None = None,
        damping: Callback | None = None,
        holonomic_rate: Callback | None = None,
        holonomic_acceleration: Callback | None = None,
        nonholonomic_acceleration: Callback | None = None,
        quadratic_velocity: bool | Callback = False,
        redundant: str = "error",
        energy: Callable[[float, Array, Array], float] | None = None,
        lam0: ArrayLike | None = None,
        psi0: ArrayLike | None = None,
        name: str | None = None,
        constraint_names: Sequence[str] | None = None,
        coordinate_names: Sequence[str] | None = None,
        sparsity: Mapping[str, Any] | None = None,
        reference: Reference | None = None,
        z0: ArrayLike | None = None,
        state_rate: Callback | None = None,
        state_rate_jacobian: Callback | None = None,
        state_coupling: Callback | None = None,
        nonholonomic_state_jacobian: Callback | None = None,
        state_names: Sequence[str] | None = None,
    ) -> None:
        given = {key: _own(value) for key, value in locals().items() if key != "self"}
        self._arguments = given
        faults: list[str] = []
        arguments, table = with_c_functions(given, faults), table_of(given)
        optional = {k for k, x in table.items() if x.is_optional}
        callbacks = {k: x for k, x in arguments.items() if k in optional and x is not None}
        faults += faults_of_values(arguments, callbacks, table, self._has_own_callbacks)
        if faults:
            raise InvalidOptionError("Mechanism", faults)
        self.given = frozenset(callbacks)
        self.whole = None
        self.is_ideal = "reaction" not in callbacks
        self.name = name or "mechanism"
        self.redundant, self.reference = redundant, reference
        self.energy = energy or NoEnergy(self.name)
        self.quadratic_velocity = quadratic_velocity
        self.t0 = float(t0)
        self.q0, self.v0 = real(q0), real(v0)
        self.n_q = self.q0.size
        self.coordinate_names = _names("coordinate", "q", coordinate_names, self.n_q)
        self.z0 = np.zeros(0) if z0 is None else real(z0)
        self.n_z = self.z0.size
        self.state_names = _names("state", "z", state_names, self.n_z)
        self._set_sizes(callbacks)
        self._set_multipliers(lam0, psi0, constraint_names)
        if self.n_z:
            self._set_states({"mass": mass, "force": force, **callbacks}, dict(sparsity or {}))
            return
        size = self.n_q, self.n_lam, self.n_psi
        bound = {k: x.bound(*size) for k, x in arguments.items() if isinstance(x, CFunction)}
        mass, force = bound.pop("mass", mass), bound.pop("force", force)
        self.is_sparse = self._has_sparse(mass, callbacks | bound)
        self._set_functions(mass, force, callbacks | bound, dict(sparsity or {}))
        self._call_once()

    def _set_sizes(self, callbacks: dict[str, Callback]) -> None:
        """Find the numbers of constraints by evaluating them at the start."""
        g, k = callbacks.get("holonomic"), callbacks.get("nonholonomic")
        self.n_lam = count_of("holonomic", g, self.t0, self.q0) if g else 0
        state = (self.q0, self.v0, self.z0) if self.n_z else (self.q0, self.v0)
        self.n_psi = count_of("nonholonomic", k, self.t0, *state) if k else 0

    def _set_states(self, given: dict[str, Any], sparsity: dict[str, Any]) -> None:
        """Widen a mechanism with states, and let its callbacks ask the widened one."""
        sizes = self.n_q, self.n_z, self.n_lam, self.n_psi
        self.is_sparse = self._has_sparse(given["mass"], given)
        callbacks = WideCallbacks(given, sizes, self.is_sparse)
        # By name, because it is a mechanism, too.
        home = importlib.import_module("genalpha.model.widened")
        self._wide = wide = home.Widened(self, callbacks, sparsity)
        for key in DRIVEN_TABLE:
            setattr(self, key, Narrowed(wide, key))
        M, n = wide.constant_mass, self.n_q
        self.constant_mass = None if M is None else M[:n, :n]
        self.rounding, self.tangent_cost = wide.rounding, wide.tangent_cost

    @property
    def widened(self) -> Mechanism:
        """The mechanism that is solved: this one, or one in which states are velocities."""
        return self if self._wide is None else self._wide

    @property
    def narrow(self) -> Mechanism:
        """The mechanism as the user gave it."""
        return self

    def _set_multipliers(
        self, lam0: ArrayLike | None, psi0: ArrayLike | None, names: Sequence[str] | None
    ) -> None:
        """Take over multipliers and names, which must fit the numbers of constraints."""
        given, size = Given("Mechanism"), self.n_lam + self.n_psi
        self.lam0 = None if lam0 is None else given.vector("lam0", lam0, self.n_lam)
        self.psi0 = None if psi0 is None else given.vector("psi0", psi0, self.n_psi)
        if names is not None and len(names) != size:
            given.faults.append(
                f"constraint_names has {len(names)} entries; expected {size}, one per constraint"
            )
        given.check()
        default = [f"g[{i}]" for i in range(self.n_lam)] + [f"k[{i}]" for i in range(self.n_psi)]
        self.constraint_names = list(names) if names is not None else default

    @property
    def calls(self) -> dict[str, int]:
        """How often each given callback was called so far, by name."""
        if self._wide is not None:
            return self._wide.calls
        found = {key: getattr(getattr(self, key), "calls", None) for key in _ordered(self.given)}
        return {key: calls for key, calls in found.items() if calls is not None}

    def replace(self, **changes: Any) -> Mechanism:
        """Return a copy with some constructor arguments changed, for example another start."""
        changed = Mechanism.__new__(Mechanism)
        changed.n_states = self.n_states
        Mechanism.__init__(changed, **{**self._arguments, **changes})
        if self.recipe:
            changed.recipe = (Mechanism.replace, (self,), changes)
        changed.outline = self.outline
        if self.formulas is not None:
            changed.formulas = self.formulas.replaced(changes)
        return changed

    def with_callbacks(self, changes: dict[str, Any]) -> Mechanism:
        """Return a copy with other callbacks and another start, which are not checked.

        For mechanisms that differ in numbers only: a tenth of the time of `replace`.
        """
        made = Mechanism.__new__(Mechanism)
        made.__dict__.update(self.__dict__)
        for key in ("n_q", "n_lam", "n_psi", "is_ideal", "whole"):  # fields of C, if compiled
            setattr(made, key, getattr(self, key))
        made._arguments = {**self._arguments, **changes}
        made.q0, made.v0 = made._arguments["q0"], made._arguments["v0"]
        made.energy = made._arguments["energy"] or NoEnergy(made.name)
        size = self.n_q, self.n_lam, self.n_psi
        bound = {
            k: x.bound(*size) if isinstance(x, CFunction) else x
            for k, x in made._arguments.items()
            if k in TABLE and x is not None
        }
        mass, force = bound.pop("mass", None), bound.pop("force")
        made._set_functions(mass, force, bound, dict(made._arguments["sparsity"] or {}))
        return made

    def compiled(self, partly: bool = False) -> Mechanism:
        """Return the same mechanism with its Python callbacks as machine code.

        Needs numba: the extra [numba]. Compiling takes about a second per callback; numba keeps the
        result for other processes where it can (functions in files that use no globals but
        modules). Callbacks must be functions, of numbers, arrays and NumPy; functions that they
        call are compiled too. Values of globals and closures are those of now.

        Parameters
        ----------
        partly : bool, optional
            Whether callbacks that cannot be compiled stay as they are. Default False: an error
            names them.

        Raises
        ------
        UnsupportedProblemError
            With every callback that cannot be compiled, why, and what to write instead.
        """
        python = {
            key: self._arguments[key]
            for key in TABLE
            if callable(self._arguments[key]) and not isinstance(getattr(self, key), Native)
        }
        if not python:
            return self
        size = self.n_q, self.n_lam, self.n_psi
        made = self.replace(**importlib.import_module(COMPILER).compiled(python, size, partly))
        made.recipe = (Mechanism.compiled, (self, partly), {})
        return made

    @classmethod
    def from_lagrangian(cls, lagrangian: Any, coordinates: Any, **arguments: Any) -> Mechanism:
        """Derive a mechanism from its Lagrangian, compiled, with every derivative.

        M, forces with all terms of velocities, constraint gradients, rates, accelerations,
        stiffness, damping and energy follow from the formulas. Needs SymPy: the extra [symbolic].

        Parameters
        ----------
        lagrangian : expression
            L = T - V, of SymPy, in coordinates, their derivatives, time and parameters; quadratic
            in the derivatives.
        coordinates : sequence of n functions of time
            As `sympy.physics.mechanics.dynamicsymbols` makes them.
        holonomic, nonholonomic : sequence of expressions or equations, optional
            Constraints g(t, q) = 0 and k(t, q, v) = 0.
        forces : sequence of n expressions, or mapping of coordinates to expressions, optional
            Generalized forces that have no potential.
        dissipation : expression, optional
            Rayleigh's function R; forces -dR/dv are added.
        parameters : mapping of symbols or names to numbers, optional
            Values of all other symbols; `with_parameters` changes them.
        q0, v0 : sequence of n numbers or expressions of parameters, or mapping by coordinate
            The start; v0 is 0 if it is left out.
        backend : {"auto", "c", "numba", "python"}, optional
            What compiles the formulas. "auto" (default): a C compiler where there is one, else
            numba, else Python as it is. What was compiled is kept in the user's cache folder, or
            in that of the environment variable GENALPHA_CACHE.
        **others
            Further arguments of `Mechanism`: name, constraint_names, redundant, t0, ...

        Examples
        --------
        >>> import sympy as sp
        >>> from sympy.physics.mechanics import dynamicsymbols
        >>> x, y = dynamicsymbols("x y")
        >>> m, l, g = sp.symbols("m l g")
        >>> L = m * (x.diff()**2 + y.diff()**2) / 2 - m * g * y
        >>> pendulum = Mechanism.from_lagrangian(
        ...     L, [x, y], holonomic=[x**2 + y**2 - l**2], q0=[l, 0],
        ...     parameters={m: 1.0, l: 1.0, g: 9.81})
        >>> longer = pendulum.with_parameters(l=1.2)
        """
        # By name, because the model must not know the layers above it.
        home = _needing_sympy("from_lagrangian")
        return home.from_lagrangian(lagrangian, coordinates, **arguments)

    @classmethod
    def from_sympy(cls, method: Any, **arguments: Any) -> Mechanism:
        """Take over a `LagrangesMethod` or `KanesMethod` of `sympy.physics.mechanics`.

        Configuration constraints become holonomic, velocity constraints that are no derivatives of
        those nonholonomic. Quasi-velocities of Kane's method become derivatives of coordinates;
        speeds without a coordinate get one, their integral. Needs SymPy: the extra [symbolic].

        Parameters
        ----------
        method : LagrangesMethod or KanesMethod
            Of a KanesMethod, `kanes_equations` must have been called.
        parameters, q0, v0, backend, **others
            As in `from_lagrangian`; q0 and v0 are in the order of the method's coordinates, and v0
            are their derivatives, not the speeds u.
        """
        return _needing_sympy("from_sympy").from_sympy(method, **arguments)

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters of a mechanism from formulas; empty for others."""
        return {} if self.formulas is None else dict(self.formulas.values)

    def with_parameters(
        self, values: Mapping[str, float] | None = None, /, **more: float
    ) -> Mechanism:
        """Return a mechanism from formulas with other values of some parameters.

        Nothing is derived or compiled anew. A start that was given as formulas follows.

        Raises
        ------
        InvalidOptionError
            A name is no parameter, or the mechanism does not come from formulas.
        """
        if self.formulas is None:
            fault = (
                "only mechanisms from formulas (from_lagrangian, from_sympy) have parameters; for "
                "others, write a function that makes the mechanism"
            )
            raise InvalidOptionError("with_parameters", [fault])
        return self.formulas.mechanism({**(values or {}), **more})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by how it was made; what was wrapped is wrapped anew."""
        function, args, kwargs = self.recipe or (type(self), (), self._arguments)
        return _made, (function, args, kwargs)

    def residuals(
        self,
        t: float | None = None,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        vdot: ArrayLike | None = None,
        z: ArrayLike | None = None,
    ) -> audit.Residuals:
        """Tell how far a state (default: the start) is from each constraint, at every level.

        Parameters
        ----------
        t : float, optional
            Default `t0`.
        q, v : (n,) array_like, optional
            Position and velocity; default `q0`, `v0`.
        vdot : (n,) array_like, optional
            The acceleration. By default the one that lam0 and psi0 give, if the user gave them;
            otherwise the acceleration level is left out.
        z : (s,) array_like, optional
            First-order states; default `z0`.
        """
        if self._wide is None:
            return audit.residuals(self, t, q, v, vdot)
        return audit.residuals(self._wide, t, *self._wide.state(t, q, v, vdot, z))

    def check_derivatives(
        self, rtol: float = 1e-5, distance: float = 1e-2, seed: int = 0
    ) -> dict[str, float]:
        """Compare each derivative that the user gave with differences, at a random nearby point.

        Parameters
        ----------
        rtol : float, optional
            Allowed deviation relative to the largest entry. Default 1e-5.
        distance : float, optional
            How far from the start the random point lies, relative to the start. Default 1e-2.
        seed : int, optional
            Another seed gives another point.

        Returns
        -------
        dict
            Largest relative deviation by callback.

        Raises
        ------
        DerivativeError
            Names every callback that is wrong, its worst entry, and both values.
        """
        return audit.check_derivatives(self, rtol, distance, seed)

    def problem(self, form: str = "ind3", **options: Any) -> Any:
        """Return the mechanism as an Assimulo problem.

        Parameters
        ----------
        form : {"ind3", "ind2", "ind1", "ggl2", "ovstab2", "ovstab1", "ode", "stabilized"}
            The formulation; see `genalpha.assimulo.problem`. Default "ind3".
        """
        # By name, because the model must not know the layers above it.
        return importlib.import_module("genalpha.assimulo").problem(self, form, **options)

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        states = f", {self.n_z} states" if self.n_z else ""
        return (
            f"<Mechanism {self.name!r}: {self.n_q} coordinates, {self.n_lam} holonomic and "
            f"{self.n_psi} nonholonomic constraints{states}, {kind}>"
        )


def _made(function: Callable[..., Mechanism], args: Any, kwargs: Any) -> Mechanism:
    return function(*args, **kwargs)


def _needing_sympy(what: str) -> Any:
    try:
        importlib.import_module("sympy")
    except ImportError as error:
        text = f"{what} needs SymPy, which is not installed: pip install genalpha[symbolic]"
        raise ImportError(text, name="sympy") from error
    return importlib.import_module("genalpha.formulas")


def _own(value: Any) -> Any:
    """Return a copy of what the user may change later, as in a loop over starts."""
    if value is None or callable(value):
        return value
    is_data = isinstance(value, (np.ndarray, list, dict)) or sparse.issparse(value)
    return copy.copy(value) if is_data else value


def _names(kind: str, letter: str, given: Sequence[str] | None, n: int) -> list[str]:
    """Return names of coordinates or states."""
    if given is None:
        return [f"{letter}[{i}]" for i in range(n)]
    if len(given) != n or isinstance(given, str):
        fault = f"{kind}_names = {shown(given)}; expected {n} names, one for each {kind}"
        raise InvalidOptionError("Mechanism", [fault])
    return list(given)
