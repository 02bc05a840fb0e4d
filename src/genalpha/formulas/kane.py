"""A mechanism from SymPy's own methods: LagrangesMethod and KanesMethod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, Point, dynamicsymbols

from genalpha.errors import InvalidOptionError
from genalpha.formulas.equations import Motion
from genalpha.formulas.lagrange import from_lagrangian, mechanism, read_start
from genalpha.formulas.libraries import BACKENDS
from genalpha.formulas.mechanism import fault_of_backend
from genalpha.formulas.symbols import Symbols
from genalpha.model import Mechanism


def from_sympy(
    method: Any,
    *,
    parameters: Mapping[Any, Any] | None = None,
    q0: Any,
    v0: Any = None,
    backend: str = "auto",
    **others: Any,
) -> Mechanism:
    """See `genalpha.Mechanism.from_sympy`."""
    if isinstance(method, LagrangesMethod):
        return _of_lagrange(method, parameters, q0, v0, backend, others)
    if isinstance(method, KanesMethod):
        return _of_kane(method, parameters, q0, v0, backend, others)
    fault = f"method is a {type(method).__name__}; expected a LagrangesMethod or a KanesMethod"
    raise InvalidOptionError("from_sympy", [fault])


def _of_lagrange(
    method: LagrangesMethod,
    parameters: Mapping[Any, Any] | None,
    q0: Any,
    v0: Any,
    backend: str,
    others: dict[str, Any],
) -> Mechanism:
    """Take over its Lagrangian, constraints and loads."""
    q = list(method.q)
    holonomic = list(method._hol_coneqs)  # at position level there is no other way to them
    nonholonomic = list(method.coneqs)[len(holonomic) :]
    return from_lagrangian(
        method._L[0],
        q,
        holonomic=holonomic,
        nonholonomic=nonholonomic,
        forces=_generalized(method.forcelist or [], method.inertial, [x.diff() for x in q]),
        parameters=parameters,
        q0=q0,
        v0=v0,
        backend=backend,
        **others,
    )


def _generalized(loads: Sequence[Any], frame: Any, speeds: Sequence[Any]) -> list[Any]:
    """Return the forces that loads (point, force) and (frame, torque) exert along speeds."""
    found = [sp.S.Zero] * len(speeds)
    for where, load in loads:
        moves = where.vel(frame) if isinstance(where, Point) else where.ang_vel_in(frame)
        for i, speed in enumerate(speeds):
            found[i] += moves.diff(speed, frame, var_in_dcm=False) & load
    return found


def _of_kane(
    method: KanesMethod,
    parameters: Mapping[Any, Any] | None,
    q0: Any,
    v0: Any,
    backend: str,
    others: dict[str, Any],
) -> Mechanism:
    """Form Kane's equations without the constraints, and in the coordinates' own derivatives.

    With u = Y q' + y, the equations Mk u' = fk become Y^T Mk Y q'' = Y^T (fk - Mk (Y' q' + y')):
    their unknowns are accelerations, and reactions act along the constraints' gradients.
    """
    fault_of_backend(backend, BACKENDS)
    coordinates, rates, speeds = _kinematics(method)
    u, t = list(method.u), dynamicsymbols._t
    in_rates = dict(zip(u, speeds, strict=True))
    Mk, fk = (x.xreplace(in_rates) for x in _free_equations(method))
    Y = sp.Matrix(speeds).jacobian(rates)
    constant = {x.diff(t): sp.S.Zero for x in rates}
    turning = sp.Matrix([x.diff(t) for x in speeds]).xreplace(constant)
    mass, force = Y.T * Mk * Y, Y.T * (fk - Mk * turning)
    holonomic = list(method._f_h)  # SymPy has no public name for it
    nonholonomic = [x.xreplace(in_rates) for x in _own_velocity_constraints(method)]
    names, n = Symbols("from_sympy", coordinates, parameters or {}), len(coordinates)
    o = Motion(
        names.t,
        names.q,
        names.v,
        names.vdot,
        [[names.read("mass", mass[i, j], "t q") for j in range(n)] for i in range(n)],
        names.read_all("force", force),
        names.read_all("configuration_constraints", holonomic, "t q"),
        names.read_all("velocity_constraints", nonholonomic),
        None,
    )
    start = read_start(names, coordinates, q0, v0)
    names.check()
    return mechanism(names, o, start, backend, others)


def _kinematics(method: KanesMethod) -> tuple[list[Any], list[Any], list[Any]]:
    """Return coordinates, their rates, and the speeds u as formulas of them.

    Speeds without a coordinate, as those of wheels whose angles do not matter, get one: their
    integral.
    """
    q, u, t = list(method.q), list(method.u), dynamicsymbols._t
    known = method.kindiffdict()
    present = set().union(*(x.atoms(sp.Function) for x in known.values()))
    alone = [x for x in u if x not in present]
    if len(u) - len(alone) != len(q):
        fault = (
            f"{len(u)} speeds for {len(q)} coordinates: each coordinate must have a speed of its "
            "own (Euler parameters have not)"
        )
        raise InvalidOptionError("from_sympy", [fault])
    coordinates = q + [sp.Function(f"integral_of_{x.func.__name__}")(t) for x in alone]
    rates = [x.diff(t) for x in coordinates]
    right = sp.Matrix([known[x] for x in rates[: len(q)]] + alone)
    N = right.jacobian(u)
    rest = right.xreplace(dict.fromkeys(u, sp.S.Zero))
    return coordinates, rates, list(N.LUsolve(sp.Matrix(rates) - rest))


def _free_equations(method: KanesMethod) -> tuple[Any, Any]:
    """Return Mk and fk of Mk u' = fk, as if there were no constraints."""
    if method.bodies is None:
        fault = "call kanes_equations(bodies, loads) of the KanesMethod first"
        raise InvalidOptionError("from_sympy", [fault])
    kinematic = [rate - x for rate, x in method.kindiffdict().items()]
    free = KanesMethod(method._inertial, list(method.q), list(method.u), kinematic)
    free.kanes_equations(method.bodies, method.loads)
    return free.mass_matrix, free.forcing


def _own_velocity_constraints(method: KanesMethod) -> list[Any]:
    """Return the velocity constraints that are no derivatives of configuration constraints.

    KanesMethod is given these too. They are told by their coefficients at a random point.
    """
    if not method._k_nh:
        return []
    u, t = list(method.u), dynamicsymbols._t
    velocity = list(method._k_nh * method.u + method._f_nh)
    derived = [x.diff(t).xreplace(method.kindiffdict()) for x in method._f_h]
    symbols = set().union(*(x.free_symbols | x.atoms(AppliedUndef) for x in velocity + derived))
    random = np.random.default_rng(0)
    at = {x: sp.Float(random.uniform(0.4, 0.9)) for x in sorted(symbols - {*u}, key=str)}
    rows = sp.Matrix(derived + velocity)
    whole = rows.jacobian(u).row_join(rows.xreplace(dict.fromkeys(u, sp.S.Zero)))
    values = np.array(whole.xreplace(at).evalf().tolist(), dtype=float)
    kept, own = list(range(len(derived))), []
    for i in range(len(derived), len(values)):
        if np.linalg.matrix_rank(values[[*kept, i]], tol=1e-9) > len(kept):
            kept.append(i)
            own.append(velocity[i - len(derived)])
    return own
