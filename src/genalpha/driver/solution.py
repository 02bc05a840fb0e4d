"""The result of an integration."""

from __future__ import annotations

import importlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genalpha.driver import animation, derived, hints, pictures
from genalpha.driver.frames import to_frame
from genalpha.driver.knots import Knots
from genalpha.driver.origin import Last, Origin
from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot, interpolate, interpolate_rows, narrow_knot

Array = np.ndarray
NONE = np.arange(0)


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
    z, zdot : (k, s) array
        First-order states and their rates; without columns if the mechanism has none.
    steps : (s,) array
        Times of all steps, the start included; of a very long run with `t_eval`, of those kept.
    t_events : list of (e,) array
        For each function in `events`, the times of its events.
    q_events, v_events : list of (e, n) array
        Position and velocity at these events; where there is an impact, before it.
    z_events : list of (e, s) array
        First-order states at these events.
    impulses : list of Impulse
        What the constraints did at each impact, see `genalpha.driver.events.Impulse`.
    statistics : Counters
        What the run took: steps, rejections, iterations, matrices, calls.

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
        origin: Origin | None = None,
    ) -> None:
        # knots, phases and events have Q and V, see `genalpha.model.states`; attributes are narrow
        self.mechanism, self.statistics = mechanism.narrow, statistics
        self._n = n = mechanism.n_moving
        self.origin = Origin([(0, mechanism)]) if origin is None else origin
        self._knots = knots  # looked at only where needed: what they hold may have to be worked out
        self.steps = np.array(times)
        self._direction = -1.0 if self.steps[-1] < self.steps[0] else 1.0
        self._at_steps = at_steps = t_eval is None
        right = NONE if t_eval is None else self._right_of_all(t_eval)
        shown = self._at_once(t_eval, right) or self._one_by_one(t_eval)
        self.t = np.asarray(shown.t)
        self.q, self.v, self.vdot, self.lam, self.psi = shown[1:]
        self.z, self.zdot = self.v[:, n:], self.vdot[:, n:]
        happened, wide = self.origin.events, mechanism.n_q
        self.t_events = [np.array(times) for times in happened.times]
        self.q_events: list[Array]
        self.v_events: list[Array]
        self.q_events, self.v_events = (
            [np.array([x[i] for x in points]).reshape(-1, wide) for points in happened.points]
            for i in (0, 1)
        )
        self.z_events = [v[:, n:] for v in self.v_events]
        self.impulses = happened.impulses
        self._a = a
        self.a = np.array(a) if at_steps else np.asarray(a)[right]
        if mechanism.n_states:
            self.q, self.v, self.vdot, self.a = (
                x[:, :n].copy() for x in (self.q, self.v, self.vdot, self.a)
            )
            self.q_events, self.v_events = (
                [x[:, :n] for x in events] for events in (self.q_events, self.v_events)
            )

    def _one_by_one(self, t_eval: Array | None) -> Knot:
        """Return the motion at steps, or at some times, as arrays."""
        shown = list(self._knots) if t_eval is None else self._at_all(t_eval)
        times: Any = np.array([knot.t for knot in shown])
        return Knot(times, *(rows([knot[i] for knot in shown]) for i in range(1, 6)))

    def _at_once(self, t_eval: Array | None, right: Array) -> Knot | None:
        """Return the same without looking at each step by itself; None where that does not do.

        `right` are the steps that end at the times or after them.
        """
        simple = len(self.origin.phases) == 1 and not any(self.origin.events.times)
        if not isinstance(self._knots, Knots) or not simple or self.origin.gaps:
            return None
        if t_eval is None:
            return self._knots.table(np.arange(len(self.steps)))
        if not t_eval.size:
            return None
        between = self.steps[right] != t_eval
        if not between.any() and (np.diff(right) > 0).all():
            return self._knots.table(right)
        left = np.maximum(right - between, 0)
        which, place = np.unique(np.concatenate([left, right]), return_inverse=True)
        found = self._knots.table(which)
        if found is None:
            return None
        start, end = (_chosen(found, at) for at in np.split(place, 2))
        inside = np.flatnonzero(start.t != end.t)
        some = interpolate_rows(_chosen(start, inside), _chosen(end, inside), t_eval[inside])
        for whole, part in zip(end, some, strict=True):
            whole[inside] = part
        return end

    def __call__(self, t: ArrayLike, side: str = "after") -> Knot:
        """Return the motion at time or times `t`, as a named tuple (t, q, v, vdot, lam, psi).

        For one time, q has shape (n,); for k times (k, n), and so on. Of a mechanism with states
        the tuple also has z and zdot.

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
            found = Knot(knot.t, *(x.copy() for x in knot[1:]))  # the caller's own
        else:
            knots = self._at_all(times, side)
            found = Knot(times, *(rows([k[i] for k in knots]) for i in range(1, 6)))  # type: ignore[arg-type]
        return narrow_knot(found, self._n) if self.z.shape[1] else found

    def points(self, t: ArrayLike | None = None) -> list[tuple[Mechanism, Knot]]:
        """Return the motion at times, default `self.t`, each with the mechanism that moves there.

        That is always the same one, unless an impact hands over to another. Of a mechanism with
        states both are those of Q and V, see `genalpha.model.states`.
        """
        if t is None and self._at_steps:
            return [(self._mechanism_of(i), knot) for i, knot in enumerate(self._knots)]
        times = np.atleast_1d(np.asarray(self.t if t is None else t, dtype=float))
        return [(self._mechanism_of(self._right_of(x)), self._at(x)) for x in times.tolist()]

    def _mechanism_of(self, step: int) -> Mechanism:
        """Return the mechanism that moves in a step."""
        phases = self.origin.phases
        return phases[bisect_right(phases, step, key=lambda phase: phase[0]) - 1][1]

    def energy(self, t: ArrayLike | None = None) -> Array:
        """Return the energy at times `t`, default all of `self.t`; shape (k,), or () for one time.

        Raises
        ------
        UnsupportedProblemError
            The mechanism was made without `energy`.
        """
        found = derived.energies(self.points(t))
        return found if t is None or np.ndim(t) else found[0]

    def residuals(self, t: ArrayLike | None = None) -> derived.ResidualHistory:
        """Tell how far the motion is from each constraint, at every level, over time.

        Parameters
        ----------
        t : float or (k,) array_like, optional
            Default `self.t`. Between two steps interpolation misses the constraints by O(h^3).
        """
        return derived.residuals(self.points(t))

    def reaction(self, which: str | int, t: ArrayLike | None = None) -> Array:
        """Return the force that one constraint exerts on each coordinate.

        It is a part of `reaction` in M v' = f + reaction, and so has the sign of a force that acts
        on the mechanism: ``-G[i] * lam[i]``, or ``-K[i] * psi[i]``. For a coordinate that is a
        length it is a force, for one that is an angle a torque.

        Parameters
        ----------
        which : str or int
            Name of the constraint, or its number in `constraint_names` (first the holonomic ones,
            then the nonholonomic). Constraints with the same name are added up: the components
            of a joint, for example.
        t : float or (k,) array_like, optional
            Default `self.t`.

        Returns
        -------
        (k, n) array
            One row for each time; (n,) for one time.

        Notes
        -----
        A reaction of the user's own need not be linear in the multipliers; there it is what would
        be lost if those of the constraint were zero. With redundant constraints
        (``redundant="least"``) the multipliers of single ones are a convention, their sum is not.
        """
        found = derived.reactions(self.points(t), which)[:, : self._n]
        return found if t is None or np.ndim(t) else found[0]

    def to_frame(self, t: ArrayLike | None = None) -> Any:
        """Return the motion as a `pandas.DataFrame`, which needs pandas.

        Its index is the time. Its columns have two levels: the quantity (``"q"``, ``"v"``,
        ``"vdot"``, ``"z"``, ``"zdot"``, ``"lam"``, ``"psi"``) and the name of the coordinate, state
        or constraint:
        ``frame["q", "x"]``, ``frame["lam"]``.

        Parameters
        ----------
        t : float or (k,) array_like, optional
            Default `self.t`.
        """
        return to_frame(self.points(t))

    def continued(
        self,
        t_final: float,
        t_eval: ArrayLike | None = None,
        h: float | Sequence[float] | None = None,
    ) -> Solution:
        """Return the whole motion, longer: from the start of this one to `t_final`.

        The run goes on with the same scheme, options and events from its own last state, with the
        step size that was to come next. The result is that of one long run, up to the tolerances
        (this one has a step that ends where it ended). After an event, within a step, it
        starts anew from there, as it does after an impact.

        Parameters
        ----------
        t_final : float
            Beyond the end.
        t_eval : (k,) array_like, optional
            Times wanted of the rest; default: all its steps.
        h : float or sequence of float, optional
            Another step size for the rest; needed if step sizes were given one by one.
        """
        # which builds on `integrate`, which builds on solutions
        continuation = importlib.import_module("genalpha.driver.continuation")
        return continuation.continued(self, t_final, t_eval, h)

    def end(self) -> tuple[Knot, Last | None]:
        """Return where the run has ended, and what it takes to go on from there."""
        return self._knots[-1], self.origin.last

    def extended(
        self,
        steps: Array,
        knots: Sequence[Knot],
        a: Array,
        statistics: Counters,
        t_eval: Array | None,
        origin: Origin,
    ) -> Solution:
        """Return this motion and one that goes on from its end, as one; arguments as there."""
        count = self.steps.size
        others = origin.phases[1:]
        phases = [*self.origin.phases, *((count - 1 + i, o) for i, o in others)]
        if not (self._at_steps and t_eval is None):
            t_eval = np.concatenate([self.t, steps[1:] if t_eval is None else t_eval])
        return Solution(
            self.mechanism.widened,
            np.concatenate([self.steps, steps[1:]]),
            [*self._knots, *knots[1:]],
            np.concatenate([self._a, a[1:]]),
            statistics,
            t_eval,
            replace(
                origin,
                phases=phases,
                gaps=self.origin.gaps | {count - 1 + i for i in origin.gaps},
            ),
        )

    def _right_of(self, t: float, side: str = "after") -> int:
        """Return the index of the step that ends at or after `t`."""
        return int(self._right_of_all(np.array([t]), side)[0])

    def _right_of_all(self, times: Array, side: str = "after") -> Array:
        """Return the same of many times."""
        first, last = sorted((self.steps[0], self.steps[-1]))
        slack = 1e-12 * max(abs(first), abs(last))
        outside = ~((first - slack <= times) & (times <= last + slack))
        if outside.any():
            t = times[outside][0]
            raise ValueError(f"t = {t:g} is not in the integrated interval [{first:g}, {last:g}]")
        forward, along = self._direction * self.steps, self._direction * times
        index = np.searchsorted(forward, along)
        if side == "after":  # the last of those at the same time
            index = np.maximum(index, np.searchsorted(forward, along, "right") - 1)
        return np.minimum(index, len(self.steps) - 1)

    def _at_all(self, times: Array, side: str = "after") -> list[Knot]:
        """Return the motion at some times."""
        return [self._at(t, side) for t in times.tolist()]

    def _at(self, t: float, side: str = "after") -> Knot:
        right = self._right_of(t, side)
        if self.steps[right] == t:
            return self._knots[right]
        if right in self.origin.gaps:
            raise ValueError(
                f"the steps around t = {t:g} have been let go: of very long runs with t_eval only "
                "those next to its times are kept. Put this time into t_eval, too"
            )
        return interpolate(self._knots[max(0, right - 1)], self._knots[right], t)

    def plot(self, figure: Any = None) -> Any:
        """Draw motion, multipliers, residuals and steps at a glance; needs matplotlib.

        Grey lines are events. Of many curves those are drawn that change most.

        Parameters
        ----------
        figure : matplotlib figure, optional
            An empty one to draw into; default: a new one of `matplotlib.pyplot`.

        Returns
        -------
        matplotlib figure
            It is neither shown nor saved.
        """
        return pictures.plot(self, figure)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        sketch: Callable[[float, Array], Sequence[Array]] | None = None,
        seconds: float | None = None,
        fps: int = 20,
        trail: bool = False,
    ) -> Any:
        """Make a film of the motion; needs matplotlib, unless it is saved as SVG.

        Parameters
        ----------
        path : str or Path, optional
            Where to save it: a file name that ends with .gif, .html (with buttons) or .svg (small
            and sharp, for web pages). Default: nowhere.
        sketch : callable(t, q) -> list of (k, 2) arrays, optional
            The mechanism's outline as polylines. Mechanisms of `genalpha.mechanisms` have one.
        seconds : float, optional
            Length of the film. Default: that of the motion, but from 3 to 20 seconds.
        fps : int, optional
            Frames per second, default 20.
        trail : bool, optional
            Whether the last point of the outline's last line leaves its path. Default False.

        Returns
        -------
        matplotlib.animation.FuncAnimation or None
            For notebooks; keep it in a variable while it is shown. None if it was saved as SVG.
        """
        return animation.animate(self, path, sketch, seconds, fps, trail)

    @property
    def hint(self) -> str:
        """What missing derivatives cost in this run, and which to give; empty if little.

        It is also written to the log, once per run: logger "genalpha", level INFO.
        """
        return hints.hint(self.mechanism, self.statistics)

    def plot_steps(self, axes: Any, **style: Any) -> None:
        """Plot the sizes of the steps over time; crosses are rejected steps.

        Parameters
        ----------
        axes : matplotlib axes
            Where to draw: ``solution.plot_steps(plt.gca())``. They get a logarithmic scale and
            labels; nothing is shown or saved.
        **style
            For matplotlib's `plot`: color, label, ...
        """
        pictures.plot_steps(self, axes, **style)

    def __repr__(self) -> str:
        return (
            f"<Solution of {self.mechanism.name!r}: {self.steps.size - 1} steps from "
            f"t = {self.steps[0]:g} to {self.steps[-1]:g}>"
        )


def _chosen(knot: Any, which: Array) -> Any:
    """Return some rows of a knot of arrays."""
    return Knot(*(x[which] for x in knot))


def rows(values: Any) -> Array:
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
