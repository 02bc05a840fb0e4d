"""Results of a solver: which points are handed over, when, and what is printed."""

from __future__ import annotations

from typing import Any

import numpy as np
from assimulo.implicit_ode import Implicit_ODE
from assimulo.ode import NORMAL

from genalpha.assimulo.course import Course, Point
from genalpha.assimulo.option import HasOptions
from genalpha.numerics.counters import Counters
from genalpha.schemes import SCHEMES

Array = np.ndarray


class Output(HasOptions, Implicit_ODE):
    """The output modes: every step, output points, at once or at the end of `integrate`."""

    _course: Course | None
    _stopped: bool
    _counters: Counters
    scheme: str
    h: float | None
    atol: Array
    rtol: float
    linear_solver: str

    def _leave(self, point: Point) -> None:
        """Remember where the solver stopped."""
        raise NotImplementedError

    def _report(self, point: Point, last: bool, opts: dict[str, Any], found: list[Point]) -> bool:
        """Hand over what was asked for; tell whether something was handed over."""
        if opts["report_continuously"]:
            index = opts["output_index"]
            self._leave(point)
            self._stopped = bool(self.report_solution(*point, opts))
            return opts["output_list"] is None or bool(opts["output_index"] != index)
        self._stopped = False
        passed = self._passed_outputs(point.t, opts)
        found.extend(passed)
        if last and passed and passed[-1].t == point.t:
            found[-1] = point  # an event's state is on the constraints, an output's need not be
        elif last or opts["output_list"] is None:
            found.append(point)
        return opts["output_list"] is None or bool(passed)

    def _passed_outputs(self, t: float, opts: dict[str, Any]) -> list[Point]:
        """Return the motion at the output points up to `t`, and count them as reported."""
        times, passed = opts["output_list"], []
        assert self._course is not None
        sign = -1.0 if self.backward else 1.0
        while times is not None and opts["output_index"] < len(times):
            time = float(times[opts["output_index"]])
            if sign * (time - t) > 0.0:
                break
            passed.append(self._course.at(time))
            opts["output_index"] += 1
        return passed

    def report_solution(self, t: float, y: Array, yd: Array, opts: dict[str, Any]) -> Any:
        """Report a step at once; true if a step event asks for a new start.

        Output points are reported here, because some versions of the base class do it for
        forward runs only; the rest (clock, time limit, progress, step events) is the base's.
        """
        if opts["output_list"] is not None:
            for point in self._passed_outputs(t, opts):
                self._hand_over(point)
            # nan is neither before nor after any time: the base class finds nothing to report
            opts = {**opts, "output_list": np.array([np.nan]), "output_index": 0}
        return Implicit_ODE.report_solution(self, t, y, yd, opts)

    def _hand_over(self, point: Point) -> None:
        self.t, self.y, self.yd = point.t, point.y.copy(), point.yd.copy()
        self.problem.handle_result(self, *point[: 2 + self.problem_info["type"]])

    def interpolate(self, time: float, k: int = 0) -> Array:
        """Return y (k = 0) or yd (k = 1) at a time within the last step."""
        if self._course is None:
            raise ValueError("there is no step to interpolate in: call simulate first")
        if k not in (0, 1):
            raise ValueError(f"k is {k!r}; expected 0 (y) or 1 (yd)")
        point = self._course.at(float(time))
        return point.yd if k else point.y

    def print_statistics(self, verbose: int = NORMAL) -> None:
        """Print the statistics and the main options."""
        Implicit_ODE.print_statistics(self, verbose)
        steps = "adaptive" if self.h is None else f"fixed, h = {self.h:g}"
        own = self._values(SCHEMES[self.scheme].options)
        scheme = ", ".join(f"{name} = {value}" for name, value in own.items())
        atol = np.unique(self.atol)
        sizes = f"{self._counters.h_min:.3g}, {self._counters.h_max:.3g}"
        for line in (
            f" {'Smallest and largest step':<48}: {sizes}",
            "\nSolver options:\n",
            f" Solver                  : {type(self).__name__}",
            f" Scheme                  : {scheme}",
            f" Steps                   : {steps}",
            f" Tolerances (absolute)   : {atol[0] if atol.size == 1 else self.atol}",
            f" Tolerances (relative)   : {self.rtol}",
            f" Linear solver           : {self.linear_solver}",
            "",
        ):
            self.log_message(line, verbose)
