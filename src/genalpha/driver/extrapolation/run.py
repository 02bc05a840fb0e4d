"""`integrate` with a wanted error of the result: a grid, runs on it, their extrapolation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.events import Events
from genalpha.driver.extrapolation.solution import (
    ColumnCost,
    ExtrapolatedSolution,
    ExtrapolationCounters,
    Points,
)
from genalpha.driver.extrapolation.windows import Pass, Window, cut
from genalpha.driver.options import NEWTON, STEPS, Options
from genalpha.driver.phases import Phases
from genalpha.driver.stepper import Stepper
from genalpha.errors import UnsupportedProblemError
from genalpha.model import Mechanism
from genalpha.numerics.accuracy import FULL, leading_tolerance
from genalpha.numerics.counters import Counters
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot
from genalpha.schemes import SCHEMES
from genalpha.schemes.hht import initial_solver

Array = np.ndarray

#: The first run, which finds the grid and the sizes of the motion: its scheme, the cheapest, and
#: its tolerances unless the user gives them.
FIRST, LOOSE = "GenAlphaI3", {"rtol": 1e-2, "atol": 1e-3}
#: Newton's accuracy, relative to the smallest wanted error; and its loosest.
NEWTON_PART, LOOSEST = 0.01, 1e-6
#: With as many steps as the first run has, columns of these orders have about these errors
#: (symmetric schemes, others); errors of multipliers are larger by about this.
USUAL_ORDER, USUAL_ERROR, MULTIPLIERS = {True: 6, False: 4}, {True: 4e-8, False: 2e-5}, 10.0
#: Steps of the coarsest run per step of the first one: least and most at first.
SPARSEST, DENSEST = {True: 0.4, False: 0.5}, {True: 1.2, False: 4.0}
#: How often all windows are gone through.
PASSES = 3
#: A quantity is compared with its largest value over the run, or with this part of what is natural
#: for it (the way over the time, the forces) where it is small beside that.
SMALL = 1e-6
#: Points of the first run in which multipliers are looked at, for their sizes.
SAMPLES = 16


class WantedErrorWarning(UserWarning):
    """The wanted error of the result was not reached; the message says until when it holds."""


def integrate_to_error(
    mechanism: Mechanism,
    t_final: float,
    scheme: str,
    options: Mapping[str, Any],
    t_eval: Array | None,
    start: Knot | None = None,
) -> ExtrapolatedSolution:
    """Integrate until the error of the result is estimated to be at most the option `error`.

    From `start`, of which q and v must be consistent, or from the mechanism's own.
    """
    o, before = mechanism, mechanism.calls
    if start is None:
        start = Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())
    counters = ExtrapolationCounters()
    chosen, symmetric = suited(scheme, o, options)
    wanted = chosen.error
    first = Options(FIRST, o, **{**LOOSE, **_common(options)})
    times, scales = _loose(o, start, t_final, first, counters)
    stepper = Stepper(o, chosen)
    through = Pass(stepper, symmetric, scales, chosen.newton_accuracy, first.maxsteps)
    density = _density(wanted, symmetric, first)
    windows, points, parts = _passes(start, through, cut(times), wanted, scales, density)
    _add(counters, windows)
    solution = ExtrapolatedSolution(points, counters, t_eval)
    if parts.max() > 1.0:
        _warn(points, windows, parts, first.maxsteps)
    counters.calls = {key: count - before[key] for key, count in o.calls.items()}
    return solution


def suited(scheme: str, o: Mechanism, options: Mapping[str, Any]) -> tuple[Options, bool]:
    """Return the options of the runs, and whether they make the scheme symmetric.

    Schemes that can be symmetric are, unless their coefficients are given: half as many columns do.
    """
    given, symmetric = dict(options), SCHEMES[scheme].symmetric(o)
    chosen = Options(scheme, o, **given)
    if given.get("newton_accuracy") is None:
        smallest = min(chosen.error.values())
        given["newton_accuracy"] = min(LOOSEST, max(FULL, NEWTON_PART * smallest))
    if given.get("coefficients") is None:
        for name, value in symmetric.items():
            if getattr(chosen, name) != value:
                given.setdefault(name, value)
    chosen = Options(scheme, o, **given)
    fits = symmetric and all(getattr(chosen, name) == x for name, x in symmetric.items())
    return chosen, bool(fits) and chosen.coefficients is None


def cheapest(o: Mechanism) -> str:
    """Return the scheme that takes least work to an error: a symmetric one, if there is one."""
    if o.n_lam and not o.n_psi:
        try:
            initial_solver(o, o.t0, o.q0)
        except UnsupportedProblemError:
            return FIRST
        return "HHTI2"
    return FIRST


def _common(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the first run shares."""
    names = {name for option in (*STEPS, *NEWTON) for name in (option.name, option.alias)}
    return {name: value for name, value in options.items() if name in names - {"newton_accuracy"}}


def _loose(
    o: Mechanism, start: Knot, t_final: float, chosen: Options, counters: Counters
) -> tuple[Array, dict[str, float]]:
    """Return times of a loose adaptive run, and the sizes of q, v, lam, psi in it."""
    stepper = Stepper(o, chosen, counters, leading_tolerance(chosen.rtol, chosen.atol))
    sizes = AdaptiveSteps.chosen(chosen, chosen.atol)
    phases = Phases(o, lambda _: (stepper, sizes), Events([]), complete=False)
    phases.run(t_final, (start, None))
    record, n = phases.record, o.n_q
    rows = np.concatenate([block.rows[: block.used, : 1 + 2 * n] for block in record.blocks])
    times, q, v = rows[:, 0], rows[:, 1 : 1 + n], rows[:, 1 + n :]
    span, largest_q, largest_v = abs(times[-1] - times[0]), np.abs(q).max(), np.abs(v).max()
    scales = {
        "q": max(largest_q, SMALL * largest_v * span),
        "v": max(largest_v, SMALL * largest_q / span),
    }
    natural = SMALL * _natural_multiplier(o)
    points = np.linspace(0, times.size - 1, min(SAMPLES, times.size)).round().astype(int)
    guess = o.multiplier_guess()
    found = [accelerations(o, float(times[i]), q[i], v[i], *guess)[1:] for i in points]
    for kind, x in zip(("lam", "psi"), zip(*found, strict=True), strict=True):
        size = np.abs(np.array(x)).max(initial=0.0)
        scales[kind] = max(size, natural) if np.size(x) else 0.0
    return times, {k: float(x) for k, x in scales.items()}


def _natural_multiplier(o: Mechanism) -> float:
    """Return the multiplier that would balance the forces at the start."""
    t, q, v = o.t0, o.q0, o.v0
    gradients = o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v)
    gradient = max(float(abs(J).max()) if J.shape[0] else 0.0 for J in gradients)
    return float(np.abs(o.force(t, q, v)).max()) / gradient if gradient else 0.0


def _density(wanted: Mapping[str, float], symmetric: bool, first: Options) -> float:
    """Return how many steps the coarsest run has, per step of the first one."""
    aim = min(x / (MULTIPLIERS if kind in ("lam", "psi") else 1.0) for kind, x in wanted.items())
    needed = (USUAL_ERROR[symmetric] / aim) ** (1.0 / USUAL_ORDER[symmetric])
    least = 1.0 if first.maxh else SPARSEST[symmetric]  # a largest step holds for every run
    return float(min(max(needed, least), DENSEST[symmetric]))


def _passes(
    start: Knot,
    through: Pass,
    cuts: Sequence[Array],
    wanted: Mapping[str, float],
    scales: Mapping[str, float],
    density: float,
) -> tuple[list[Window], Points, Array]:
    """Go through all windows, and again if errors have grown more on the way than is allowed.

    Return them, their points, and the errors there, relative to the wanted ones.
    """
    absolute = {kind: x * scales[kind] for kind, x in wanted.items() if scales[kind]}
    asked, found = absolute, []
    for _ in range(PASSES):
        windows = through.through(start, cuts, asked, density)
        points = Points(through.mechanism, windows)
        parts = windows[0].parts if len(windows) == 1 else points.parts(absolute)
        found.append((windows, points, parts))
        largest = parts.max()
        missed = any(window.parts.max() > 1.0 for window in windows)
        if largest <= 1.0 or missed or len(cuts) == 1 or through.left <= 0:
            break
        asked = {kind: 0.5 * x / largest for kind, x in asked.items()}
        density = max(window.trial.base for window in windows) / max(x.size - 1 for x in cuts)
    return min(found, key=lambda each: float(each[2].max()))


def _add(counters: ExtrapolationCounters, windows: Sequence[Window]) -> None:
    """Add what the runs cost."""
    counters.columns = [
        ColumnCost(c.steps, c.steps in window.trial.used, c.counters, i)
        for i, window in enumerate(windows)
        for _, c in sorted(window.runs.made.items())
    ]
    for name in ("nsteps", "nfcns", "njacs", "nfcnjacs", "nlus", "nniters", "nnfails"):
        total = sum(getattr(column.counters, name) for column in counters.columns)
        setattr(counters, name, getattr(counters, name) + total)
    for window in windows:
        for steps in window.runs.made:
            sizes = np.abs(np.diff(window.runs.times(steps)))
            counters.note_size(float(sizes.min()))
            counters.note_size(float(sizes.max()))


def _warn(points: Points, windows: Sequence[Window], parts: Array, budget: int) -> None:
    """Say until when the wanted error holds, and why not longer."""
    bad = int(np.flatnonzero(parts > 1.0)[0])
    until = points.times[max(bad - 1, 0)]
    reached = windows[: int(np.searchsorted(points.starts, max(bad, 1)))]
    trial = reached[-1].trial
    irregular = any(w.trial.is_irregular(i) for w in reached for i in range(1, w.trial.base + 1))
    grown = all(w.parts.max() <= 1.0 for w in reached)
    why = (
        "and it does not fall as it should with more steps: they do not resolve an oscillation, "
        "or a callback jumps, or the motion is chaotic"
        if irregular
        else "because small errors grow quickly in this motion, which may be chaotic"
        if grown
        else "finer steps would still lower it: raise maxsteps"
    )
    warnings.warn(
        f"{points.mechanism.name}: the wanted error holds until t = {until:.6g} only; at most it "
        f"is estimated as {parts.max():.2g} times the wanted one, with {trial.columns} runs of up "
        f"to {trial.used[-1]} steps within the {budget} steps of all runs that maxsteps allows, "
        f"{why}. solution.error has the estimates",
        WantedErrorWarning,
        stacklevel=4,
    )
