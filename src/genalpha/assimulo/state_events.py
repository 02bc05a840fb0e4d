"""State events of a solver: their values, and the first one in a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from assimulo.ode import ID_PY_EVENT, ID_PY_OK

from genalpha.assimulo.course import Course, Point
from genalpha.assimulo.events import changed_signs, first_change
from genalpha.assimulo.residual import Residual

Array = np.ndarray


class StateEvents:
    """What Assimulo calls when it deals with state events; a part of `GenAlphaSolver`.

    Attributes
    ----------
    g_old : (k,) array
        Values of the event functions at the end of the last step.
    """

    statistics: Any
    problem_info: dict[str, Any]
    g_old: Array
    _course: Course | None
    _F: Residual
    _event_info: Any

    def _no_event(self) -> list[int]:
        return [0] * int(self.problem_info["dimRoot"])

    def event_func(self, t: float, y: Array, yd: Array) -> Array:
        """Return the values of the problem's state events."""
        self.statistics["nstatefcns"] += 1
        return self._F.events(t, y, yd)

    def event_locator(
        self, t_low: float, t_high: float, y_high: Array, yd_high: Array
    ) -> tuple[int, float, Array, Array]:
        """Look for the first event in the last step.

        An event function has an event where it becomes positive or is no longer so. The state
        returned is on the far side of the event, and on the constraints.

        Returns
        -------
        flag, t, y, yd
            ``ID_PY_EVENT`` and the event, or ``ID_PY_OK`` and the end of the step.
        """
        point = Point(t_high, y_high, yd_high)
        self._event_info = self._no_event()
        course = self._course
        if course is None or not self.problem_info["state_events"]:
            return int(ID_PY_OK), *point
        g = self.event_func(*point)
        if any(changed_signs(self.g_old, g)):
            time = first_change(
                lambda t: self.event_func(*course.consistent_at(t)), self.g_old, t_low, t_high
            )
            point = course.consistent_at(time)
            g = self.event_func(*point)
        self.set_event_info(changed_signs(self.g_old, g))
        event = any(self._event_info)
        self.g_old = g
        self.statistics["nstateevents"] += event
        return int(ID_PY_EVENT if event else ID_PY_OK), *point

    def set_event_info(self, event_info: list[int]) -> None:
        """Set what `state_event_info` returns."""
        self._event_info = event_info

    def state_event_info(self) -> list[int]:
        """Return for each event function +1, -1 or 0: how its sign changed in the last step."""
        return list(self._event_info)
