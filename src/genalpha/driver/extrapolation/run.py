"""`integrate` with a wanted error of the result: a grid, runs on it, their extrapolation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from genalpha.driver.events import Events
from genalpha.driver.extrapolation.carry import Inherited
from genalpha.driver.extrapolation.columns import COUNTED
from genalpha.driver.extrapolation.legs import Leg, Legs, carried
from genalpha.driver.extrapolation.measure import Pair
from genalpha.driver.extrapolation.solution import (
    ColumnCost,
    ExtrapolatedSolution,
    ExtrapolationCounters,
    Points,
)
from genalpha.driver.extrapolation.windows import Window
from genalpha.driver.options import Options
from genalpha.driver.origin import Origin
from genalpha.driver.solution import reached
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: How often the whole motion is gone through.
PASSES = 3
#: Wanted errors of windows below this, relative to the motion, are not tried.
ROUNDING = 1e-13


class WantedErrorWarning(UserWarning):
    """The wanted error of the result was not reached; the message says until when it holds."""


class Gone(NamedTuple):
    """The motion as it was found once: legs, points, errors over wanted ones, and events."""

    legs: list[Leg]
    points: Points
    parts: Array
    events: Events


def integrate_to_error(
    mechanism: Mechanism,
    t_final: float,
    scheme: str | None,
    options: Mapping[str, Any],
    t_eval: Array | None,
    start: Knot | None = None,
    events: Events | None = None,
    inherited: Inherited | None = None,
) -> ExtrapolatedSolution:
    """Integrate until the error of the result is estimated to be at most the option `error`.

    From `start`, of which q and v must be consistent, or from the mechanism's own. Without a scheme
    the cheapest is taken. Errors that are `inherited` are carried on.
    """
    o, before = mechanism, mechanism.calls
    if start is None:
        start = Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())
    counters = ExtrapolationCounters()
    legs = Legs(o, start, t_final, scheme, options, counters, inherited)
    off = None if inherited is None else inherited.off
    wanted = Options("GenAlphaI3", o, error=options["error"]).error
    found = _passes(legs, Events([]) if events is None else events, wanted, off)
    windows = [window for leg in found.legs for window in leg.windows]
    _add(counters, legs, windows)
    phases = [(i, leg.mechanism) for i, leg in zip(found.points.firsts, found.legs, strict=True)]
    if t_eval is not None:
        t_eval = reached(t_eval, found.points.times)
    solution = ExtrapolatedSolution(found.points, counters, t_eval, Origin(phases, found.events))
    if found.parts.max() > 1.0:
        _warn(found, windows, legs.maxsteps, off is not None)
    counters.calls = {key: count - before[key] for key, count in o.calls.items()}
    return solution


def _passes(legs: Legs, events: Events, wanted: Mapping[str, float], off: Pair | None) -> Gone:
    """Go through the motion, and again if errors have grown more on the way than is allowed."""
    found: list[Gone] = []
    tighter, density = 1.0, None
    for _ in range(PASSES):
        happened = events.copy()
        gone = legs.through(happened, tighter, density)
        gone, repeatable = carried(gone, happened, legs.sizes, legs.budget, off)
        windows = [window for leg in gone for window in leg.windows]
        points = Points(gone)
        alone = len(windows) == 1 and off is None
        parts = windows[0].parts if alone else points.parts(legs.sizes.absolute(wanted))
        found.append(Gone(gone, points, parts, happened))
        largest = float(parts.max())
        missed = any(window.parts.max() > 1.0 for window in windows)
        if largest <= 1.0 or missed or len(windows) == 1 or off is not None:
            break
        if not repeatable:  # impacts that count, for example, would do something else now
            break
        finer = (2.0 * largest) ** (1.0 / points.order)
        if finer * sum(sum(window.trial.used) for window in windows) > legs.budget.left:
            break
        tighter *= 0.5 / largest
        if tighter * min(wanted.values()) < ROUNDING:  # what grows is rounding
            break
        density = finer * max(window.density for window in windows)
    return min(found, key=lambda each: float(each.parts.max()))


def _add(counters: ExtrapolationCounters, legs: Legs, windows: Sequence[Window]) -> None:
    """Add what the runs cost, all of them; those of the windows one by one."""
    counters.columns = [
        ColumnCost(c.steps, c.steps in window.trial.used, c.counters, i)
        for i, window in enumerate(windows)
        for _, c in sorted(window.runs.made.items())
    ]
    for name in COUNTED:
        total = sum(getattr(each, name) for each in legs.counted)
        setattr(counters, name, getattr(counters, name) + total)
    for window in windows:
        for steps in window.runs.made:
            sizes = np.abs(np.diff(window.runs.times(steps)))
            counters.note_size(float(sizes.min()))
            counters.note_size(float(sizes.max()))


def _warn(found: Gone, windows: Sequence[Window], budget: int, is_inherited: bool) -> None:
    """Say until when the wanted error holds, and why not longer."""
    points, parts, name = found.points, found.parts, found.legs[0].mechanism.name
    bad = int(np.flatnonzero(parts > 1.0)[0])
    until = points.times[max(bad - 1, 0)]
    gone = windows[: int(np.searchsorted(points.starts, max(bad, 1)))]
    trial = gone[-1].trial
    irregular = any(
        w.trial.stalled or any(map(w.trial.is_irregular, range(1, w.trial.base + 1))) for w in gone
    )
    if irregular:
        why = (
            "and it does not fall as it should with more steps: they do not resolve an "
            "oscillation, or a callback jumps, or the motion is chaotic"
        )
    elif is_inherited and all(w.parts.max() <= 1.0 for w in gone):
        why = "because of errors of the motion before its start, which grow"
    elif all(w.parts.max() <= 1.0 for w in gone):
        why = "because small errors grow quickly in this motion, which may be chaotic"
    elif trial.failure:
        why = f"and finer steps fail ({trial.failure})"
    elif trial.is_noise:
        why = "because rounding and Newton's iteration leave as much"
    else:
        why = "finer steps would still lower it: raise maxsteps"
    warnings.warn(
        f"{name}: the wanted error holds until t = {until:.6g} only; at most it "
        f"is estimated as {parts.max():.2g} times the wanted one, with {trial.columns} runs of up "
        f"to {trial.used[-1]} steps within the {budget} steps of all runs that maxsteps allows, "
        f"{why}. solution.error has the estimates",
        WantedErrorWarning,
        stacklevel=4,
    )
