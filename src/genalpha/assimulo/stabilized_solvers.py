"""StabilizedEuler and StabilizedRK2: Assimulo solvers of fixed steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from assimulo.explicit_ode import Explicit_ODE
from assimulo.ode import ID_PY_COMPLETE, ID_PY_EVENT, NORMAL

from genalpha.assimulo.events import changed_signs, first_change
from genalpha.assimulo.residual import Residual
from genalpha.assimulo.stabilized import StabilizedMechanism
from genalpha.driver.stabilized import equal_steps
from genalpha.driver.stabilized_options import StabilizedOptions
from genalpha.driver.stabilized_system import Recorder
from genalpha.errors import ConvergenceError, InvalidOptionError
from genalpha.numerics.deviation import Deviation
from genalpha.schemes.stabilized import ORDERS

Array = np.ndarray


class _Point(NamedTuple):
    t: float
    y: Array
    yd: Array


class _Stabilized(Explicit_ODE):
    """What both solver classes share: fixed steps, output, events, the record of deviations."""

    scheme = ""

    def __init__(self, problem: Any) -> None:
        Explicit_ODE.__init__(self, problem)
        self.options["h"] = getattr(problem, "h", None)
        for key in ("report_continuously", "interpolated_output", "state_events"):
            self.supports[key] = True
        self._F = Residual(problem)
        self._zeros = np.zeros(len(self.y0))
        self._left = self._right = _Point(self.t, self.y.copy(), self._zeros)
        self._g_old, self._info = np.zeros(0), [0] * self.problem_info["dimRoot"]
        self._recorder: Recorder | None = None

    def _set_h(self, h: float) -> None:
        if not (np.ndim(h) == 0 and np.isfinite(h) and h > 0.0):
            raise InvalidOptionError(self.scheme, [f"h = {h!r} is not a positive step size"])
        self.options["h"] = float(h)

    def _get_h(self) -> float | None:
        """Step size, fixed; no default, unless the problem was made for one (gains="auto")."""
        return self.options["h"]

    h = property(_get_h, _set_h)

    def _options(self) -> StabilizedOptions:
        return StabilizedOptions(self.scheme)

    @property
    def deviation(self) -> Deviation | None:
        """Measured and guaranteed deviation of the last `simulate`; None without a mechanism."""
        return None if self._recorder is None else self._recorder.result()

    def initialize(self) -> None:
        """Reset the statistics and the record (called by `simulate`)."""
        self.statistics.reset()
        self._recorder = None
        if isinstance(self.problem, StabilizedMechanism):
            system = self.problem.system
            promise = system.promise if system.options.scheme == self.scheme else None
            self._recorder = Recorder(system.perturbation, ORDERS[self.scheme], promise)

    def _rhs(self, t: float, y: Array) -> Array:
        """Return y'; for explicit problems the residual is yd - rhs."""
        self.statistics["nfcns"] += 1
        return -self._F(t, y, self._zeros)

    def _point(self, t: float, y: Array, h: float) -> _Point:
        """Evaluate the right-hand side at the end of a step, or at a start (h = 0)."""
        if not np.isfinite(y).all():
            raise ConvergenceError(
                f"{self.scheme}: the solution is not finite at t = {t:.9g}: h = {self.h:.3g} is "
                "too large for this problem"
            )
        if self._recorder is None:
            return _Point(t, y, self._rhs(t, y))
        self.statistics["nfcns"] += 1
        found = self.problem.system.evaluate(t, y)
        self._recorder.add(t, h, y, found.deviation)
        return _Point(t, y, found.xdot)

    def integrate(
        self, t: float, y: Array, tf: float, opts: dict[str, Any]
    ) -> tuple[int, list[float], list[Array]]:
        """Integrate to `tf` or to the first event (called by the base class)."""
        if opts["initialize"]:
            self._restart(t, y)
        found: list[_Point] = []
        try:
            flag = self._integrate(tf, opts, found)
        except BaseException:
            # the base class has not seen these points yet, and will not
            for point in found:
                self.t, self.y = point.t, point.y
                self.problem.handle_result(self, point.t, point.y)
            raise
        return flag, [point.t for point in found], [point.y for point in found]

    def _restart(self, t: float, y: Array) -> None:
        faults = []
        if self.h is None:
            faults.append("h is missing: set the step size")
        if self.backward:
            faults.append("backward is True; gains pull back only forward in time")
        if faults:
            raise InvalidOptionError(self.scheme, faults)
        if isinstance(self.problem, StabilizedMechanism):
            self.problem.system.check_step(self.h, self.scheme)
        if self.problem_info["switches"]:
            self._F.switches = self.sw
        self._left = self._right = self._point(float(t), np.array(y, dtype=float), 0.0)
        if self.problem_info["state_events"]:
            self._g_old = self._events(self._right)

    def _integrate(self, tf: float, opts: dict[str, Any], found: list[_Point]) -> int:
        """Step to `tf` or to an event, and report on the way."""
        if tf == self._right.t:
            return int(ID_PY_COMPLETE)
        step = self._options().step()
        for size, t_next in equal_steps(self._right.t, tf, self.h):
            self._left = left = self._right
            y = step(self._rhs, left.t, left.y, left.yd, size)
            self._right = self._point(t_next, y, size)
            self.statistics["nsteps"] += 1
            point, event = self._until_event()
            stop = self._report(point, event or point.t == tf, opts, found)
            if event or stop:
                return int(ID_PY_EVENT)
        return int(ID_PY_COMPLETE)

    def _until_event(self) -> tuple[_Point, bool]:
        """Return the end of the last step, or the first event within it."""
        if not self.problem_info["state_events"]:
            return self._right, False
        point, g = self._right, self._events(self._right)
        if any(changed_signs(self._g_old, g)):
            time = first_change(
                lambda t: self._events(self._between(t)), self._g_old, self._left.t, point.t
            )
            point = self._between(time)
            g = self._events(point)
            self.statistics["nstateevents"] += 1
        self._info, self._g_old = changed_signs(self._g_old, g), g
        return point, any(self._info)

    def _events(self, point: _Point) -> Array:
        self.statistics["nstatefcns"] += 1
        return self._F.events(*point)

    def state_event_info(self) -> list[int]:
        """Return for each event function +1, -1 or 0: how its sign changed in the last step."""
        return self._info

    def _report(self, point: _Point, last: bool, opts: dict[str, Any], found: list[_Point]) -> bool:
        """Hand over what was asked for; true if a step event stops the integration."""
        if opts["report_continuously"]:
            return bool(self.report_solution(point.t, point.y, opts))
        times = opts["output_list"]
        while times is not None and opts["output_index"] < len(times):
            time = float(times[opts["output_index"]])
            if time > point.t:
                break
            found.append(self._between(time))
            opts["output_index"] += 1
        if times is None or (last and not (found and found[-1].t == point.t)):
            found.append(point)
        return False

    def _between(self, t: float) -> _Point:
        """Return the cubic Hermite polynomial of the last step, and its derivative."""
        (t0, y0, d0), (t1, y1, d1) = self._left, self._right
        if t == t1 or t0 == t1:
            return self._right
        h, s = t1 - t0, (t - t0) / (t1 - t0)
        slope = (y1 - y0) / h
        A, B = 3.0 * slope - 2.0 * d0 - d1, d0 + d1 - 2.0 * slope
        y = y0 + h * s * (d0 + s * (A + s * B))
        return _Point(t, y, d0 + s * (2.0 * A + 3.0 * s * B))

    def interpolate(self, t: float, k: int = 0) -> Array:
        """Return y (k = 0) or y' (k = 1) at a time within the last step."""
        return self._between(t)[1:][k]

    def print_statistics(self, verbose: int = NORMAL) -> None:
        """Print the statistics, the main options, and the deviation beside its bound."""
        Explicit_ODE.print_statistics(self, verbose)
        lines = [
            "\nSolver options:\n",
            f" Solver                : {self.scheme}",
            " Solver type           : fixed step",
            f" Step size             : {self.h}",
        ]
        found = self.deviation
        if found is not None and found.measured.size:
            lines += [
                f" Largest deviation     : {found.measured.max():.3e}",
                f" Guaranteed deviation  : {found.guaranteed.max():.3e}",
            ]
        for line in (*lines, ""):
            self.log_message(line, verbose)


class StabilizedEuler(_Stabilized):
    """Euler's method (5.1) with fixed steps, for problems that are pulled to their constraints.

    Parameters
    ----------
    problem : Explicit_Problem
        ``mechanism.problem("stabilized", gains=...)``. Any other explicit problem is solved by
        the plain method.

    Attributes
    ----------
    h : float
        Step size; no default, unless the problem was made for one.
    deviation : Deviation
        After `simulate`: how far the run was from the constraints, and Theorem 6's bound on it.
    """

    scheme = "StabilizedEuler"


class StabilizedRK2(_Stabilized):
    """The second-order Runge-Kutta method (5.4) to (5.7) with fixed steps; see `StabilizedEuler`.

    Parameters
    ----------
    problem : Explicit_Problem
        ``mechanism.problem("stabilized", gains=...)``.

    Attributes
    ----------
    h : float
        Step size; no default, unless the problem was made for one.
    sigma, alpha : float
        Weight and place of the second slope, 2 alpha sigma = 1: setting one sets the other.
        sigma = 1 (default) takes it at the middle of the step, sigma = 1/2 at its end.
    deviation : Deviation
        After `simulate`: how far the run was from the constraints, and Theorem 7's bound on it.
    """

    scheme = "StabilizedRK2"

    def __init__(self, problem: Any) -> None:
        _Stabilized.__init__(self, problem)
        self.options["sigma"] = 1.0

    def _set_sigma(self, sigma: float) -> None:
        StabilizedOptions.checked(self.scheme, {"sigma": sigma})
        self.options["sigma"] = float(sigma)

    def _get_sigma(self) -> float:
        return float(self.options["sigma"])

    sigma = property(_get_sigma, _set_sigma)

    def _set_alpha(self, alpha: float) -> None:
        StabilizedOptions.checked(self.scheme, {"alpha": alpha})
        self.options["sigma"] = 0.5 / float(alpha)

    def _get_alpha(self) -> float:
        return 0.5 / self.sigma

    alpha = property(_get_alpha, _set_alpha)

    def _options(self) -> StabilizedOptions:
        return StabilizedOptions(self.scheme, sigma=self.sigma)
