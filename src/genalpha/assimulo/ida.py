"""IDA of SUNDIALS, through scikit-sundae, with the calls of an Assimulo solver.

It stands for Assimulo's own IDA where Assimulo was built without SUNDIALS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from assimulo.implicit_ode import Implicit_ODE
from assimulo.ode import ID_PY_COMPLETE, ID_PY_EVENT, NORMAL
from assimulo.problem import cOverdetermined_Problem
from assimulo.support import Statistics
from scipy import sparse

from genalpha.assimulo.events import changed_signs, first_change
from genalpha.assimulo.ida_options import IDA_OPTIONS
from genalpha.assimulo.option import HasOptions, with_options
from genalpha.assimulo.residual import Residual
from genalpha.assimulo.sundae import IDAError, Point, Run, jacobian_near
from genalpha.errors import InvalidOptionError, UnsupportedProblemError
from genalpha.model.differences import EPS

Array = np.ndarray

#: scikit-sundae does not report these.
UNKNOWN = ("nerrfails", "nlus", "nniters", "nnfails")
#: What is printed of those that are counted.
COUNTED = {
    "nsteps": "Number of steps",
    "nfcns": "Number of function evaluations",
    "njacs": "Number of Jacobian evaluations",
    "nfcnjacs": "Number of function eval. due to Jacobian eval.",
    "nstatefcns": "Number of state function evaluations",
    "nstateevents": "Number of state events",
    "ntimeevents": "Number of time events",
    "nstepevents": "Number of step events",
}


class _Statistics(Statistics):
    """Assimulo's counters, with None for those that scikit-sundae keeps to itself."""

    def __init__(self, keys: Iterable[str]) -> None:
        Statistics.__init__(self)
        for key in keys:
            self.add_key(key, COUNTED.get(key, key))

    def __getitem__(self, key: str) -> Any:
        return None if key in UNKNOWN else Statistics.__getitem__(self, key)


@with_options(IDA_OPTIONS)
class IDA(HasOptions, Implicit_ODE):
    """IDA of SUNDIALS (variable-order BDF) on an Assimulo problem.

    Parameters
    ----------
    problem : Implicit_Problem or Explicit_Problem
        With as many equations as unknowns. `jac`, `algvar`, `state_events`, `time_events`,
        `step_events`, `handle_event` and switches are used as Assimulo's solvers use them.

    Notes
    -----
    It is called as any solver of Assimulo: options are properties, `simulate` returns t, y, yd,
    and what was computed before a failure stays in `t_sol`, `y_sol`, `yd_sol`. Differences from
    Assimulo's own IDA:

    - A failure is an exception, `IDAError`, not a flag.
    - ``suppress_alg``: scikit-sundae cannot take the algebraic variables out of SUNDIALS' error
      test, so they get an absolute tolerance of 1e20, which does the same. The convergence test
      of Newton's iteration then ignores them too, which SUNDIALS' own option does not.
    - ``statistics``: nerrfails, nlus, nniters and nnfails are None, because scikit-sundae does
      not report them.
    - Without `jac`, the Jacobian is differenced here with SUNDIALS' increments, except that a
      zero is moved in proportion to sqrt(atol) and not to atol, which rounding would swallow.
    - No sensitivities, no SPGMR. Backward runs cannot be combined with `report_continuously`.
    """

    rtol: float
    inith: float
    maxh: float
    maxord: int
    maxsteps: int
    tout1: float
    atol: Array
    algvar: Array
    suppress_alg: bool
    usejac: bool
    linear_solver: str

    def __init__(self, problem: Any) -> None:
        Implicit_ODE.__init__(self, problem)
        self.statistics: Any = _Statistics(self.statistics.keys())
        self._leny = len(self.y)
        self._F = Residual(problem)
        self._run: Run | None = None
        self._g_old, self._info = np.zeros(0), [0] * self.problem_info["dimRoot"]
        self._set_defaults()
        for key in ("report_continuously", "interpolated_output", "state_events"):
            self.supports[key] = True

    def _has_sparse_jacobian(self) -> bool:
        if not self._F.has_jacobian:
            return False
        return bool(sparse.issparse(jacobian_near(self._F, (self.t, self.y, self.yd))))

    def check_instance(self) -> None:
        """Refuse overdetermined problems (called by the base class)."""
        if isinstance(self.problem, cOverdetermined_Problem):
            raise UnsupportedProblemError(
                "IDA needs as many equations as unknowns, and this problem is overdetermined: "
                "take ODASSL or a class of genalpha, or the formulation 'ind2' or 'ggl2'"
            )
        Implicit_ODE.check_instance(self)

    def initialize(self) -> None:
        """Reset the statistics (called by `simulate`)."""
        self.statistics.reset()
        for key in ("nsteps", "nfcns", "njacs", "nfcnjacs"):
            self.statistics[key] = 0

    def integrate(
        self, t: float, y: Array, yd: Array, tf: float, opts: dict[str, Any]
    ) -> tuple[int, list[float], list[Array], list[Array]]:
        """Integrate to `tf` or to the first event (called by the base class)."""
        found: list[Point] = []
        try:
            if opts["initialize"] or self._run is None:
                self._run = self._restart(t, y, yd)
            flag = self._integrate(self._run, tf, opts, found)
        except BaseException:
            # the base class has not seen these points yet, and will not
            for point in found:
                self.t, self.y, self.yd = point
                self.problem.handle_result(self, *point[: 2 + self.problem_info["type"]])
            raise
        return flag, [x[0] for x in found], [x[1] for x in found], [x[2] for x in found]

    def _restart(self, t: float, y: Array, yd: Array) -> Run:
        """Start SUNDIALS anew, with the present options and switches."""
        if self.backward and self.report_continuously:
            fault = "backward and report_continuously are both True; IDA can do only one of them"
            raise InvalidOptionError("IDA", [fault])
        if self.problem_info["switches"]:
            self._F.switches = self.sw
        size = self._F(t, y, yd).size
        if size != self._leny:
            raise UnsupportedProblemError(
                f"IDA needs as many equations as unknowns: res returns {size} values for "
                f"{self._leny} unknowns"
            )
        untested = (self.algvar == 0) & self.suppress_alg
        run = self._start((float(t), y.copy(), yd.copy()), untested)
        if self.problem_info["state_events"]:
            self._g_old = self._events(run.now)
        return run

    def _start(self, point: Point, untested: Array, **options: Any) -> Run:
        sparse_solver = self.linear_solver == "SPARSE"
        options |= self._sundae_options()
        return Run(
            self._F, point, self.atol, untested, self.usejac, sparse_solver, self._count, options
        )

    def _sundae_options(self) -> dict[str, Any]:
        """Translate to scikit-sundae's names; tolerances of single variables are not here."""
        return {
            "rtol": self.rtol,
            "first_step": self.inith,
            "max_step": 0.0 if np.isinf(self.maxh) else self.maxh,
            "max_order": self.maxord,
            "algebraic_idx": [int(i) for i in np.flatnonzero(self.algvar == 0)],
        }

    def _count(self, key: str, number: int) -> None:
        self.statistics[key] += number

    def _integrate(self, run: Run, tf: float, opts: dict[str, Any], found: list[Point]) -> int:
        """Step to `tf` or to an event, and report on the way."""
        sign, steps = (1.0 if tf >= run.now[0] else -1.0), 0
        while sign * (tf - run.now[0]) > 4.0 * EPS * abs(tf):  # less is no step for IDA
            run.step(tf)
            point, event = self._until_event(run)
            steps = 0 if _passed_output(point[0], sign, opts) else steps + 1
            last = event or point[0] == tf
            stop = self._report(run, point, last, sign, opts, found)
            if event or stop:
                return int(ID_PY_EVENT)
            if steps >= self.maxsteps and not last:
                t = point[0]
                raise IDAError(f"IDA took maxsteps = {steps} steps and is at t = {t:g}", t, None)
        if run.now[0] != tf:
            run.now = tf, *run.now[1:]
            self._report(run, run.now, True, sign, opts, found)
        return int(ID_PY_COMPLETE)

    def _until_event(self, run: Run) -> tuple[Point, bool]:
        """Return the end of the last step, or the first event within it."""
        if not self.problem_info["state_events"]:
            return run.now, False
        point, g = run.now, self._events(run.now)
        if any(changed_signs(self._g_old, g)):
            time = first_change(
                lambda t: self._events(run.at(t)), self._g_old, run.previous, point[0]
            )
            point = run.at(time)
            g = self._events(point)
            self._count("nstateevents", 1)
        self._info, self._g_old = changed_signs(self._g_old, g), g
        return point, any(self._info)

    def _events(self, point: Point) -> Array:
        self._count("nstatefcns", 1)
        return self._F.events(*point)

    def state_event_info(self) -> list[int]:
        """Return for each event function +1, -1 or 0: how its sign changed in the last step."""
        return self._info

    def _report(
        self,
        run: Run,
        point: Point,
        last: bool,
        sign: float,
        opts: dict[str, Any],
        found: list[Point],
    ) -> bool:
        """Hand over what was asked for; true if a step event stops the integration."""
        if opts["report_continuously"]:
            return bool(self.report_solution(*point, opts))
        while _passed_output(point[0], sign, opts):
            found.append(run.at(float(opts["output_list"][opts["output_index"]])))
            opts["output_index"] += 1
        if opts["output_list"] is None or (last and not (found and found[-1][0] == point[0])):
            found.append((point[0], point[1].copy(), point[2].copy()))
        return False

    def interpolate(self, t: float, k: int = 0) -> Array:
        """Return y (k = 0) or yd (k = 1) at a time within the last step."""
        if self._run is None:
            raise ValueError("there is no step to interpolate in: call simulate first")
        return self._run.at(t)[1:][k]

    def make_consistent(self, method: str) -> list[Any]:
        """Let IDA calculate consistent initial values, and start from them.

        It can do so for index 1 only; mechanisms are better served by
        `genalpha.consistent_initial_values`.

        Parameters
        ----------
        method : {"IDA_YA_YDP_INIT", "IDA_Y_INIT"}
            Algebraic y and differential yd from differential y (see `algvar`); or y from yd.

        Returns
        -------
        [flag, y, yd]
            The flag is 0; a failure raises `IDAError`.
        """
        methods = {"IDA_YA_YDP_INIT": "yp0", "IDA_Y_INIT": "y0"}
        if method not in methods:
            fault = f"method is {method!r}; expected one of {list(methods)}"
            raise InvalidOptionError("make_consistent", [fault])
        direction = -self.tout1 if self.backward else self.tout1
        run = self._start(
            (self.t, self.y.copy(), self.yd.copy()),
            np.zeros(self._leny, dtype=bool),  # IDA's own tests must see all variables here
            calc_initcond=methods[method],
            calc_init_dt=direction,
        )
        _, self.y, self.yd = run.now
        return [0, self.y, self.yd]

    def print_statistics(self, verbose: int = NORMAL) -> None:
        """Print the statistics and the main options."""
        Implicit_ODE.print_statistics(self, verbose)
        for line in (
            "\nSolver options:\n",
            " Solver                : IDA (SUNDIALS, by scikit-sundae)",
            f" Maximal order         : {self.maxord}",
            f" Suppressed algebr. var: {self.suppress_alg}",
            f" Tolerances (absolute) : {self._compact_atol()}",
            f" Tolerances (relative) : {self.rtol}",
            f" Linear solver         : {self.linear_solver}",
            "",
        ):
            self.log_message(line, verbose)


def _passed_output(t: float, sign: float, opts: dict[str, Any]) -> bool:
    """Tell whether there is an output point up to time t that was not reported yet."""
    times, index = opts["output_list"], opts["output_index"]
    return times is not None and index < len(times) and sign * (times[index] - t) <= 0
