"""The result of an integration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genalpha.driver.events import Events
from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot, interpolate

Array = np.ndarray


class Solution:
    """A motion, at the times asked for and, by interpolation, in between.

    Attributes
    ----------
    t : (k,) array
        Times: those of `t_eval`, or of all steps.
    q, v, vdot : (k, n) array
        Position, velocity, true acceleration.
    a : (k, n) array
        The scheme's algorithmic acceleration, which belongs to t + alpha h; with `t_eval`, that of
        the step that ends at or after the time.
    lam, psi : (k, m), (k, l) array
        Multipliers of the holonomic and nonholonomic constraints.
    steps : (s,) array
        Times of all steps, the start included.
    t_events : list of (e,) array
        For each function in `events`, the times of its events.
    q_events, v_events : list of (e, n) array
        Position and velocity at these events; where there is an impact, before it.
    impulses : list of Impulse
        What the constraints did at each impact, see `genalpha.driver.events.Impulse`.
    statistics : Counters

    Notes
    -----
    At an impact there are two steps of the same time, before and after it. If the mechanisms of a
    run have different numbers of multipliers, rows of `lam` and `psi` are filled up with NaN.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        times: Sequence[float] | Array,
        knots: Sequence[Knot],
        a: Sequence[Array] | Array,
        statistics: Counters,
        t_eval: Array | None,
        events: Events | None = None,
    ) -> None:
        self.mechanism, self.statistics = mechanism, statistics
        self._knots = knots  # looked at only where needed: what they hold may have to be worked out
        self.steps = np.array(times)
        self._direction = -1.0 if self.steps[-1] < self.steps[0] else 1.0
        at_steps = t_eval is None
        asked = self.steps if t_eval is None else t_eval
        shown = list(self._knots) if at_steps else [self._at(t) for t in asked]
        self.t = np.array([knot.t for knot in shown])
        self.q, self.v, self.vdot, self.lam, self.psi = (
            _rows([knot[i] for knot in shown]) for i in range(1, 6)
        )
        happened = Events([]) if events is None else events
        self.t_events = [np.array(times) for times in happened.times]
        n = mechanism.n_q
        self.q_events, self.v_events = (
            [np.array([x[i] for x in points]).reshape(-1, n) for points in happened.points]
            for i in (0, 1)
        )
        self.impulses = happened.impulses
        self.a = np.array(a if at_steps else [a[self._right_of(t)] for t in asked])

    def __call__(self, t: ArrayLike, side: str = "after") -> Knot:
        """Return the motion at time or times `t`, as a named tuple (t, q, v, vdot, lam, psi).

        For one time, q has shape (n,); for k times (k, n), and so on.

        Parameters
        ----------
        t : float or (k,) array_like
        side : {"after", "before"}
            Which side of an impact is meant where one happens exactly at `t`.
        """
        if side not in ("after", "before"):
            raise ValueError(f"side = {side!r}; expected 'after' or 'before'")
        times = np.asarray(t, dtype=float)
        if times.ndim == 0:
            knot = self._at(float(times), side)
            return Knot(knot.t, *(x.copy() for x in knot[1:]))  # the caller's own
        knots = [self._at(x, side) for x in times]
        return Knot(times, *(_rows([k[i] for k in knots]) for i in range(1, 6)))  # type: ignore[arg-type]

    def _right_of(self, t: float, side: str = "after") -> int:
        """Return the index of the step that ends at or after `t`."""
        forward = self._direction * self.steps
        first, last = sorted((self.steps[0], self.steps[-1]))
        slack = 1e-12 * max(abs(first), abs(last))
        if not first - slack <= t <= last + slack:
            raise ValueError(f"t = {t:g} is not in the integrated interval [{first:g}, {last:g}]")
        index = int(np.searchsorted(forward, self._direction * t))
        if side == "after":  # the last of those at the same time
            index = max(index, int(np.searchsorted(forward, self._direction * t, "right")) - 1)
        return min(index, len(self.steps) - 1)

    def _at(self, t: float, side: str = "after") -> Knot:
        right = self._right_of(t, side)
        if self.steps[right] == t:
            return self._knots[right]
        return interpolate(self._knots[max(0, right - 1)], self._knots[right], t)

    def plot_steps(self, axes: Any, **style: Any) -> None:
        """Plot the sizes of the steps over time; crosses are steps that were tried in vain.

        Parameters
        ----------
        axes : matplotlib axes
            Where to draw: ``solution.plot_steps(plt.gca())``. They get a logarithmic scale and
            labels; nothing is shown or saved.
        **style
            For matplotlib's `plot`: color, label, ...
        """
        sizes = np.abs(np.diff(self.steps))
        # a size is drawn over the whole of its step
        (line,) = axes.plot(
            self.steps, np.append(sizes, sizes[-1:]), **{"drawstyle": "steps-post", **style}
        )
        if self.statistics.rejections:
            t, tried = zip(*self.statistics.rejections, strict=True)
            axes.plot(t, tried, "x", color=line.get_color(), markersize=3)
        axes.set_yscale("log")
        axes.set(xlabel="t", ylabel="step size")

    def __repr__(self) -> str:
        return (
            f"<Solution of {self.mechanism.name!r}: {self.steps.size - 1} steps from "
            f"t = {self.steps[0]:g} to {self.steps[-1]:g}>"
        )


def _rows(values: Any) -> Array:
    """Return vectors as rows; shorter ones are filled up with NaN."""
    if len({x.size for x in values}) < 2:
        return np.array(values)
    longest = max(x.size for x in values)
    return np.array([np.append(x, np.full(longest - x.size, np.nan)) for x in values])


def reached(times: Array, steps: Array) -> Array:
    """Return those times that a run has reached."""
    first, last = sorted((steps[0], steps[-1]))
    return times[(first <= times) & (times <= last)]


def so_far(solution: Callable[[], Solution | None]) -> Solution | None:
    """Return what an integration that has failed leaves; a callback may fail here once more."""
    try:
        return solution()
    except Exception:
        return None
