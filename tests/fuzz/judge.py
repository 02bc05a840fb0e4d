"""Whether a motion is right: by the truth, by the equations, by every row of the constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.fuzz.cases import Case, Motion, Run, run_case

Array = np.ndarray

#: Errors may be this many times rtol^(2/3), or (h / duration of the model's unit)^2, and as much
#: again as errors of the start grow.
ADAPTIVE, FIXED = 100.0, 100.0
#: Of accelerations and multipliers as much more.
DERIVED = 10.0
#: Nothing that is further off than this counts as right, whatever the tolerance.
HOPELESS = 0.3
#: Constraint residuals at steps, as distances relative to the motion, of schemes that solve them.
ON_CONSTRAINTS = 1e-6
#: The same of their rates, which rounding reaches divided by the step; where Newton's iteration is
#: asked for less than that, it is what that leaves.
ON_VELOCITIES = 10.0 * ON_CONSTRAINTS
POINTS = 12
#: Steps that may be too coarse are compared with so many times finer ones.
FINER = 8


def allowed(case: Case, run: Run) -> float:
    """Return the relative error that a motion may have."""
    if run.h is None:
        error = ADAPTIVE * run.rtol ** (2.0 / 3.0)
    else:
        error = FIXED * (run.h / case.units.tau) ** 2
    return min(HOPELESS, error * case.truth.growth)


def faults(case: Case, run: Run, found: Motion) -> str:
    """Return what is wrong with a motion; empty if nothing is."""
    # Assimulo's base class adds the end to a list of times
    by_base = run.output is None or bool(run.problem)
    end = case.t_end if by_base else float(run.output[-1])  # type: ignore[index]
    if not len(found.t) or abs(found.t[-1] - end) > 1e-9 * max(abs(end), case.units.tau):
        return f"ends at t = {found.t[-1:]}, not at {end}"
    parts = (found.q, found.v, found.vdot, found.lam, found.psi)
    if not all(np.isfinite(x).all() for x in parts):
        return "not finite"
    chosen = np.unique(np.linspace(0, len(found.t) - 1, POINTS).astype(int))
    bound = allowed(case, run)
    left = left_by_newton(case, run, found)
    for i in chosen:
        row = (found.t[i], *(x[i] for x in parts))
        fault = _fault_at(case, row, bound, left[i] if found.exact else None)
        if fault:
            return f"at t = {found.t[i]:.6g} of {case.t_end:.6g}: {fault}"
    return ""


def too_coarse(case: Case, run: Run) -> bool:
    """Tell whether given steps do not resolve the motion: they promise an order, and no more.

    Two things have to show it: the true acceleration bends within a step by more than what would be
    allowed, and with finer steps, by the same options, nothing is wrong by their own bounds, which
    are the square of that stricter.
    """
    if run.h is None:
        return False
    truth, h = case.truth, run.h / case.units.tau
    times = np.linspace(0.0, truth.t_end, int(abs(truth.t_end) / h) + 2)
    a = np.array([truth.at(t)[2] for t in times])
    bends = np.abs(np.diff(a, 2, axis=0)).max(axis=1)
    sizes = np.maximum(1.0, np.abs(a[1:-1]).max(axis=1))
    if not (bends > min(HOPELESS, DERIVED * allowed(case, run)) * sizes).any():
        return False
    finer = replace(run, h=run.h / FINER)
    return not faults(case, finer, run_case(case, finer))


def left_by_newton(case: Case, run: Run, found: Motion) -> Array:
    """Return by how much Newton's iteration may leave velocities wrong at steps, in user's units.

    It stops at an error of accelerations that the docs of `newton_accuracy` tell, relative to them
    all (Euclidean norms, in the user's units); over a step that is one of the velocity, times
    gamma < 1, or 1 with HHTI2. The index-3 scheme leaves the drift of velocities to its order.
    """
    if run.scheme == "GenAlphaI3":
        return np.full(len(found.t), np.inf)
    accuracy = run.options.get("newton_accuracy")
    if accuracy is None:
        accuracy = 1e-9 if run.h else min(1e-4, 0.05 * run.rtol ** (2.0 / 3.0))
    h = np.abs(np.diff(found.t, prepend=found.t[:1]))
    return accuracy * h * _compared_with(case, run, found)


def _compared_with(case: Case, run: Run, found: Motion) -> float:
    """Return the largest accelerations of a run; of HHTI2 those by forces alone if larger.

    Its a holds these, and its docs say that corrections are compared with the larger ones.
    """
    largest = np.linalg.norm(found.vdot, axis=1).max()
    if run.scheme != "HHTI2":
        return largest
    o, units = case.units.model, case.units
    states = [units.state(*row) for row in zip(found.t, found.q, found.v, strict=True)]
    alone = [np.linalg.solve(o.mass(*x[:2]), o.force(*x)) for x in states]
    return max(largest, np.linalg.norm(alone * units.s / units.tau**2, axis=1).max())


def _fault_at(case: Case, row: tuple, bound: float, newton: float | None) -> str:
    """Compare one instant with the truth, and put it into the equations.

    `newton` is what its iteration may leave in velocities; None: constraints are not looked at.
    """
    units, o, truth = case.units, case.units.model, case.truth
    t, x, w = units.state(*row[:3])
    a = row[3] * units.tau**2 / units.s
    lam, psi = units.multipliers(row[4], row[5])
    true_x, true_w, true_a, true_lam, true_psi = truth.at(t)
    size = truth.size
    for name, error in (("q", x - true_x), ("v", w - true_w)):
        wrong = np.abs(error).max() / size
        if not wrong <= bound:
            return f"{name} is wrong by {wrong:.1e} (allowed {bound:.1e})"
    if newton is not None:
        fault = _constraints(case, t, x, w, bound, newton)
        if fault:
            return fault
    # reactions, not multipliers: these are not unique where rows are redundant
    reaction = o.G(t, x).T @ lam + o.K(x).T @ psi
    true = o.G(t, true_x)[: len(true_lam)].T @ true_lam + o.K(true_x).T @ true_psi
    force = max(1.0, np.abs(true).max(), np.abs(o.force(t, x, w)).max(), np.abs(true_a).max())
    derived = min(HOPELESS, DERIVED * bound)
    for name, error in (("vdot", a - true_a), ("reactions", reaction - true)):
        wrong = np.abs(error).max() / force
        if not wrong <= derived:
            return f"{name} wrong by {wrong:.1e} (allowed {derived:.1e})"
    left = np.abs(o.mass(t, x) @ a - o.force(t, x, w) + reaction).max() / force
    return "" if left <= derived else f"the equations of motion are left with {left:.1e}"


def _constraints(case: Case, t: float, x: Array, w: Array, bound: float, newton: float) -> str:
    """Look at every row, those that a solver may have dropped as well.

    At velocity level a row is missed by no more than `ON_VELOCITIES`, or than what an error
    `newton` of the velocity, in any direction, makes of it (Cauchy and Schwarz); and by no more
    than the error `bound` of the velocity itself.
    """
    o, units, size = case.units.model, case.units, case.truth.size
    G, K = o.G(t, x), o.K(x)
    lengths = np.maximum(np.linalg.norm(G, axis=1), 0.1)
    off = np.abs(o.g(t, x)) / lengths / size
    if off.size and not off.max() <= ON_CONSTRAINTS:
        return f"g[{int(np.argmax(off))}] is off by {off.max():.1e}"
    for name, J, left in (
        ("the rate of g", G, G @ w + o.g_t(t)),
        ("k", K, o.k(t, x, w)),
    ):
        lengths = size * np.maximum(np.linalg.norm(J, axis=1), 0.1)
        moved = newton * np.linalg.norm(J * units.tau / units.s, axis=1) / lengths
        allowed = np.maximum(ON_VELOCITIES, np.fmin(bound, moved))
        for i in np.flatnonzero(~(np.abs(left) / lengths <= allowed)):
            off = np.abs(left[i]) / lengths[i]
            return f"{name}[{i}] is off by {off:.1e} (allowed {allowed[i]:.1e})"
    return ""
