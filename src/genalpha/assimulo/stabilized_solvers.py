"""StabilizedEuler and StabilizedRK2: Assimulo solvers of fixed steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from assimulo.explicit_ode import Explicit_ODE
from assimulo.ode import NORMAL

from genalpha.assimulo.option import HasOptions, with_options
from genalpha.assimulo.reports import Point
from genalpha.assimulo.residual import Residual
from genalpha.assimulo.running import Running
from genalpha.assimulo.stabilized import StabilizedMechanism
from genalpha.driver.advance import Advance
from genalpha.errors import ConvergenceError, InvalidOptionError
from genalpha.stabilization.deviation import Deviation
from genalpha.stabilization.equations import ORDERS
from genalpha.stabilization.march import ExplicitMarch
from genalpha.stabilization.options import SIGMA, H, StabilizedOptions
from genalpha.stabilization.system import Recorder

Array = np.ndarray


class _Explicit(ExplicitMarch):
    """The march, with points as Assimulo has them."""

    def at(self, t: float) -> Any:
        """See `Advance`."""
        t, y, yd = super().at(t)
        return Point(t, y.copy(), yd.copy())


@with_options((H,))
class _Stabilized(HasOptions, Running, Explicit_ODE):
    """What both solver classes share: fixed steps, output, events, the record of deviations."""

    scheme = ""
    h: float | None

    def __init__(self, problem: Any) -> None:
        Explicit_ODE.__init__(self, problem)
        self._leny = len(self.y0)
        self._set_defaults()
        self._prepare()
        self._F = Residual(problem)
        self._zeros = np.zeros(len(self.y0))
        self._recorder: Recorder | None = None

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

    def re_init(self, *arguments: Any, **keywords: Any) -> None:
        """Start anew from other values."""
        Explicit_ODE.re_init(self, *arguments, **keywords)
        self._run = None
        self._forget_events()

    def _rhs(self, t: float, y: Array) -> Array:
        """Return y'; for explicit problems the residual is yd - rhs."""
        self.statistics["nfcns"] += 1
        return -self._F(t, y, self._zeros)

    def _arrived(self, t: float, y: Array, h: float) -> Array:
        """Evaluate the right-hand side at the end of a step, or at a start (h = 0)."""
        self.statistics["nsteps"] += h != 0.0
        if not np.isfinite(y).all():
            raise ConvergenceError(
                f"{self.scheme}: the solution is not finite at t = {t:.9g}: h = {self.h:.3g} is "
                "too large for this problem"
            )
        if self._recorder is None:
            return self._rhs(t, y)
        self.statistics["nfcns"] += 1
        found = self.problem.system.evaluate(t, y)
        self._recorder.add(t, h, y, found.deviation)
        return found.xdot

    def integrate(
        self, t: float, y: Array, tf: float, opts: dict[str, Any]
    ) -> tuple[int, list[float], list[Array]]:
        """Integrate to `tf` or to the first event (called by the base class)."""
        flag, points = self._advance_to(Point(float(t), y, self._zeros), tf, opts)
        return flag, [point.t for point in points], [point.y for point in points]

    def _restart(self, start: Point, tf: float) -> tuple[Point, Advance]:
        faults = self._faults()
        if self.h is None:
            faults.append("h is missing: set the step size")
        if self.backward:
            faults.append("backward is True; gains pull back only forward in time")
        if faults:
            raise InvalidOptionError(self.scheme, faults)
        if isinstance(self.problem, StabilizedMechanism):
            self.problem.system.check_step(float(self.h or 0.0), self.scheme)
        if self.problem_info["switches"]:
            self._F.switches = self.sw
        y = np.array(start.y, dtype=float)
        method = self._options().step()
        run = _Explicit(method, self._rhs, self._arrived, (start.t, y), self.h)
        return run.at(start.t), run

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


@with_options((H, SIGMA))
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

    sigma: float

    @property
    def alpha(self) -> float:
        """Place of the second slope, in steps."""
        return 0.5 / self.sigma

    @alpha.setter
    def alpha(self, alpha: float) -> None:
        self.sigma = 0.5 / StabilizedOptions(self.scheme, alpha=alpha).alpha

    def _options(self) -> StabilizedOptions:
        return StabilizedOptions(self.scheme, sigma=self.sigma)
