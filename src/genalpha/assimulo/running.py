"""What every solver class of ours does between two events: the driver's loop for Assimulo."""

from __future__ import annotations

from typing import Any

import numpy as np
from assimulo.implicit_ode import Implicit_ODE
from assimulo.ode import ID_PY_COMPLETE

from genalpha.assimulo.reports import Point, Reports
from genalpha.assimulo.residual import Residual
from genalpha.driver.advance import Advance
from genalpha.driver.integration import Integration
from genalpha.driver.pace import Pace
from genalpha.driver.watch import Watch
from genalpha.errors import CallbackError, InvalidOptionError
from genalpha.model.given import shown
from genalpha.numerics.counters import Counters

Array = np.ndarray

#: So many time events may happen at one instant.
STANDING = 100


class Running:
    """The integrate/report/event part of a solver class, for implicit and explicit problems.

    A class that is made of this and one of Assimulo's calls `_prepare` when it is made, has
    `_restart`, and lets its `integrate` call `_advance_to`.

    1. It ends exactly on its final time, or on an event; a failure is an exception, never a flag.
    2. Reported arrays belong to the user: no two of them share memory, none is used again.
    3. What was computed before an exception is handed to ``handle_result`` first.
    """

    problem: Any
    problem_info: dict[str, Any]
    statistics: Any
    supports: dict[str, Any]
    backward: bool
    t: float
    y: Array
    yd: Array
    _F: Residual
    #: Of steps tried in vain; None where nobody counts them.
    _counters: Counters | None = None
    #: Whether, where every step is a result, each of them is as good as an output point.
    _counts_from_results = True

    def _prepare(self) -> None:
        """Say what is supported, and that nothing runs yet."""
        for key in ("report_continuously", "interpolated_output", "state_events"):
            self.supports[key] = True
        self._run: Advance | None = None
        self._reach = 0.0  # the largest time of a run
        self._forget_events()

    def _forget_events(self) -> None:
        """Let event functions start without a past."""
        self._watch: Watch | None = None
        self._pace: Pace | None = None
        self._event_info = [0] * int(self.problem_info["dimRoot"])
        self._standing = self._steps = 0
        self._switches_before: list[bool] = []

    # --- what a class says of itself ------------------------------------------------------------

    def _restart(self, start: Point, tf: float) -> tuple[Point, Advance]:
        """Begin anew, with the present options and switches; return where, and what advances."""
        raise NotImplementedError

    def _count(self) -> None:
        """Bring the statistics up to date."""

    def _leave(self, point: Point) -> None:
        """Remember where the solver stopped."""

    def _check_steps(self, steps: int, t: float) -> None:
        """Raise an error if there were too many steps since the last output point, or the start."""

    # --- the loop -------------------------------------------------------------------------------

    def _advance_to(self, start: Point, tf: float, opts: dict[str, Any]) -> tuple[int, list[Point]]:
        """Integrate to `tf` or to the first event; return Assimulo's flag and the results."""
        found: list[Point] = []
        try:
            if opts["initialize"] or self._run is None:
                if self._is_now(start.t, tf):
                    now = [] if start.t == tf else [Point(tf, start.y.copy(), start.yd.copy())]
                    return int(ID_PY_COMPLETE), now
                self._begin(start, tf)
            assert self._run is not None
            keeper = Reports(self, self._run, tf, opts, found)
            Integration(self._run, keeper, self._watch, self._counters).run(tf)
        except BaseException:
            # the base class has not seen these points yet, and will not
            for point in found:
                self._hand_over(point)
            raise
        finally:
            self._count()
            if found:
                self._leave(found[-1])
        return keeper.flag, found

    def _begin(self, start: Point, tf: float) -> None:
        """Start, or start anew after an event."""
        self._standing = self._steps = 0
        start, self._run = self._restart(start, tf)
        if self.problem_info["state_events"]:
            if self._watch is None:
                self._watch, self._pace = (
                    Watch(self.event_func, self._run, "state_events"),
                    Pace(start.t, "state_events"),
                )
            # a handler that throws a switch has said what follows
            same = self._switches_before == list(self._F.switches)
            self._watch.begin(start, self._run, held=None if same else ())
        self._event_info = [0] * int(self.problem_info["dimRoot"])

    def _is_now(self, t: float, tf: float) -> bool:
        """Tell whether `tf` is no further away than rounding; refuse one that has passed."""
        # of the whole run: near t = 0 any number of times would be next to each other
        if abs(tf - t) <= 4.0 * np.finfo(float).eps * max(abs(t), abs(tf), self._reach):
            self._standing += 1
            if self._standing > STANDING:
                raise CallbackError(
                    f"time_events returned t = {tf!r}, or a time next to it, {STANDING} times in a "
                    "row: after its event it must return a later time, or None if there is none"
                )
            return True
        if (tf < t) != self.backward:
            raise CallbackError(f"time_events returned {tf!r}, which has passed: it is t = {t!r}")
        return False

    def simulate(self, tfinal: float, ncp: int = 0, ncp_list: Any = None) -> Any:
        """Integrate to `tfinal`; see Assimulo's documentation.

        Parameters
        ----------
        tfinal : float
        ncp : int, optional
            Number of intervals between output points; 0 (default): every step is a result.
        ncp_list : sequence of float, optional
            The output points themselves, in the order in which the run passes them.

        Returns
        -------
        t, y, yd
            A list and two arrays; without yd for an explicit problem.
        """
        faults = []
        if not np.isfinite(tfinal):
            faults.append(f"tfinal = {tfinal!r}; expected a finite time")
        if ncp_list is not None:
            times = (-1.0 if self.backward else 1.0) * np.array(ncp_list, dtype=float).ravel()
            end = -tfinal if self.backward else tfinal
            if not (np.all(np.diff(times) >= 0.0) and np.all(times <= end)):
                faults.append(
                    f"ncp_list must be times up to tfinal = {tfinal!r}, in the order in which the "
                    f"run passes them; it is {shown(ncp_list, 200)}"
                )
        if faults:
            raise InvalidOptionError("simulate", faults)
        self._reach = max(abs(float(tfinal)), abs(float(self.t)))
        return super().simulate(tfinal, ncp, ncp_list)  # type: ignore[misc]

    # --- events ---------------------------------------------------------------------------------

    def event_func(self, t: float, y: Array, yd: Array) -> Array:
        """Return the values of the problem's state events."""
        self.statistics["nstatefcns"] += 1
        return self._F.events(t, y, yd)

    def set_event_info(self, event_info: list[int]) -> None:
        """Set what `state_event_info` returns."""
        self._event_info = list(event_info)

    def state_event_info(self) -> list[int]:
        """Return for each event function +1, -1 or 0: how its sign changed in the last step."""
        return list(self._event_info)

    # --- output ---------------------------------------------------------------------------------

    def _report(self, point: Point, last: bool, opts: dict[str, Any], found: list[Point]) -> Any:
        """Hand over what was asked for.

        Return whether there was an output point, and whether a step event stops the integration.
        """
        every = opts["output_list"] is None
        if opts["report_continuously"]:
            index = opts["output_index"]
            self._leave(point)
            stop = self.report_solution(*point[: 2 + self._has_yd], opts)
            return opts["output_index"] != index, bool(stop)
        passed = self._passed_outputs(point.t, opts)
        found.extend(passed)
        if last and passed and passed[-1].t == point.t:
            found[-1] = point  # an event's state is on the constraints, an output's need not be
        elif last or every:
            found.append(point)
        return bool(passed), False

    @property
    def _has_yd(self) -> bool:
        """Whether the base class is one for implicit problems."""
        return isinstance(self, Implicit_ODE)

    def _passed_outputs(self, t: float, opts: dict[str, Any]) -> list[Point]:
        """Return the motion at the output points up to `t`, and count them as reported."""
        times, passed = opts["output_list"], []
        assert self._run is not None
        sign = -1.0 if self.backward else 1.0
        while times is not None and opts["output_index"] < len(times):
            time = float(times[opts["output_index"]])
            if sign * (time - t) > 0.0:
                break
            passed.append(self._run.at(time))
            opts["output_index"] += 1
        return passed

    def report_solution(self, *arguments: Any) -> Any:
        """Report a step at once; true if a step event asks for a new start.

        Output points are reported here, because some versions of the base class do it for
        forward runs only; the rest (clock, time limit, progress, step events) is the base's.
        """
        *point, opts = arguments
        if opts["output_list"] is not None:
            for passed in self._passed_outputs(point[0], opts):
                self._hand_over(passed)
            # nan is neither before nor after any time: the base class finds nothing to report
            opts = {**opts, "output_list": np.array([np.nan]), "output_index": 0}
        return super().report_solution(*point, opts)  # type: ignore[misc]

    def _hand_over(self, point: Point) -> None:
        self.t, self.y = point.t, point.y.copy()
        if self._has_yd:
            self.yd = point.yd.copy()
        self.problem.handle_result(self, *point[: 2 + self.problem_info["type"]])

    def interpolate(self, time: float, k: int = 0) -> Array:
        """Return y (k = 0) or yd (k = 1) at a time within the last step."""
        run = self._run
        if run is None:
            raise ValueError("there is no step to interpolate in: call simulate first")
        if k not in (0, 1):
            raise ValueError(f"k is {k!r}; expected 0 (y) or 1 (yd)")
        low, high = sorted((run.t_left, run.t))
        slack = 1e-12 * max(abs(low), abs(high))
        if not low - slack <= time <= high + slack:
            raise ValueError(f"t = {time!r} is outside the last step, [{low:.9g}, {high:.9g}]")
        point = run.at(min(max(float(time), low), high))
        return np.array(point.yd if k else point.y)
