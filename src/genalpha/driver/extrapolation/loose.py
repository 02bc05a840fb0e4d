"""The first run, at a loose tolerance: it finds the steps that suit, and the sizes of the motion.

With events that stop the motion (impacts, ends) it leads a little beyond the first of them only:
the motion there is that without the event, and the event is located in the extrapolated one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.events import Coordinates, Events
from genalpha.driver.extrapolation.inertia import Way
from genalpha.driver.extrapolation.measure import by_kind
from genalpha.driver.extrapolation.points import accelerations_at
from genalpha.driver.integration import Integration
from genalpha.driver.march import March
from genalpha.driver.options import Options
from genalpha.driver.phases import PhaseRecord
from genalpha.driver.watch import Watch
from genalpha.model import Mechanism
from genalpha.numerics.accuracy import leading_tolerance
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: A quantity is compared with its largest value over the run, or with this part of what is natural
#: for it (the way over the time, the forces) where it is small beside that.
SMALL = 1e-6
#: Points in which multipliers are looked at, for their sizes.
SAMPLES = 16
#: How far beyond a loose event it goes: a part of the step, but at least this part of the way.
BEYOND, OF_THE_WAY = 0.5, 0.01


class Loose(NamedTuple):
    """Times of a loose run, the sizes of all kinds in it, and its way until an event."""

    times: Array
    sizes: Mapping[str, float]
    way: Way


def loose_run(
    o: Mechanism,
    start: Knot,
    t_final: float,
    chosen: Options,
    counters: Counters,
    events: Events,
    watch: Watch | None,
) -> Loose:
    """Run to the end, or a little beyond the first event that stops the motion.

    Parameters
    ----------
    events, watch
        Copies, which are used up.
    """
    tolerance = leading_tolerance(chosen.rtol, chosen.atol)
    march = March(o, chosen, AdaptiveSteps.chosen(chosen, chosen.atol), counters, tolerance)
    march.start(start, t_final)
    if watch is not None:
        watch.begin(start[:3], Coordinates(march), held=())
    record = PhaseRecord(march, False, events, None)
    record.keep()
    stopped = Integration(march, record, watch, counters).run(t_final)
    n = o.n_q
    rows = np.concatenate([block.rows[: block.used, : 1 + 2 * n] for block in record.blocks])
    times, q, v = way = rows[:, 0], rows[:, 1 : 1 + n], rows[:, 1 + n :]
    if stopped:
        assert record.happening is not None
        times = np.append(times, _beyond(march, record.happening.t, float(times[0]), t_final))
        q, v = (np.vstack([x, y]) for x, y in zip((q, v), record.happening.point[1:], strict=True))
    return Loose(times, _sizes(o, times, q, v), way)


def _beyond(march: March, t: float, t0: float, t_final: float) -> float:
    """Return a time a little after an event."""
    way = max(BEYOND * abs(march.t - march.t_left), OF_THE_WAY * abs(t - t0))
    return float(t + np.copysign(min(way, abs(t_final - t)), t_final - t0))


def _sizes(o: Mechanism, times: Array, q: Array, v: Array) -> dict[str, float]:
    """Return the sizes of all quantities, none of them smaller than what counts beside others."""
    span, parts = abs(times[-1] - times[0]), by_kind((q, v), o.n_moving)
    largest_q, largest_v = (np.abs(parts[kind]).max() for kind in "qv")
    sizes = {
        "q": max(largest_q, SMALL * largest_v * span),
        "v": max(largest_v, SMALL * largest_q / span),
    }
    natural = SMALL * _natural_multiplier(o, float(times[0]), q[0], v[0])
    points = np.linspace(0, len(q) - 1, min(SAMPLES, len(q))).round().astype(int)
    vdot, lam, psi = accelerations_at(o, times[points], q[points], v[points])
    if o.n_states:
        change = span * np.abs(vdot[:, o.n_moving :]).max()
        sizes["z"] = max(np.abs(parts["z"]).max(), SMALL * change)
    for kind, x in (("lam", lam), ("psi", psi)):
        sizes[kind] = max(np.abs(x).max(), natural) if x.size else 0.0
    return {kind: float(x) for kind, x in sizes.items()}


def _natural_multiplier(o: Mechanism, t: float, q: Array, v: Array) -> float:
    """Return the multiplier that would balance the forces at the start."""
    gradients = o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v)
    gradient = max(float(abs(J).max()) if J.shape[0] else 0.0 for J in gradients)
    return float(np.abs(o.force(t, q, v)).max()) / gradient if gradient else 0.0
