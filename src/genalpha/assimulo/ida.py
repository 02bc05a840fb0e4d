"""IDA of SUNDIALS, through scikit-sundae, with the calls of an Assimulo solver.

It stands for Assimulo's own IDA where Assimulo was built without SUNDIALS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from assimulo.implicit_ode import Implicit_ODE
from assimulo.ode import NORMAL
from assimulo.problem import cOverdetermined_Problem
from assimulo.support import Statistics
from scipy import sparse

from genalpha.assimulo.ida_options import IDA_OPTIONS
from genalpha.assimulo.option import HasOptions, with_options
from genalpha.assimulo.reports import Point
from genalpha.assimulo.residual import Residual
from genalpha.assimulo.running import Running
from genalpha.assimulo.sundae import IDAError, Run, jacobian_near
from genalpha.errors import InvalidOptionError, UnsupportedProblemError

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
class IDA(Running, HasOptions, Implicit_ODE):
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

    _counts_from_results = False
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
        self._set_defaults()
        self._prepare()

    def _has_sparse_jacobian(self) -> bool:
        if not self._F.has_jacobian:
            return False
        return bool(sparse.issparse(jacobian_near(self._F, Point(self.t, self.y, self.yd))))

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

    def re_init(self, *arguments: Any, **keywords: Any) -> None:
        """Start anew from other values."""
        Implicit_ODE.re_init(self, *arguments, **keywords)
        self._run = None
        self._forget_events()

    def integrate(
        self, t: float, y: Array, yd: Array, tf: float, opts: dict[str, Any]
    ) -> tuple[int, list[float], list[Array], list[Array]]:
        """Integrate to `tf` or to the first event (called by the base class)."""
        flag, points = self._advance_to(Point(float(t), y, yd), tf, opts)
        return flag, [x.t for x in points], [x.y for x in points], [x.yd for x in points]

    def _restart(self, start: Point, tf: float) -> tuple[Point, Run]:
        """Start SUNDIALS anew, with the present options and switches."""
        if self.backward and self.report_continuously:
            fault = "backward and report_continuously are both True; IDA can do only one of them"
            raise InvalidOptionError("IDA", [fault])
        if self.problem_info["switches"]:
            self._F.switches = self.sw
        size = self._F(*start).size
        if size != self._leny:
            raise UnsupportedProblemError(
                f"IDA needs as many equations as unknowns: res returns {size} values for "
                f"{self._leny} unknowns"
            )
        untested = (self.algvar == 0) & self.suppress_alg
        run = self._start(Point(start.t, start.y.copy(), start.yd.copy()), untested)
        return run.now, run

    def _check_steps(self, steps: int, t: float) -> None:
        if steps >= self.maxsteps:
            raise IDAError(f"IDA took maxsteps = {steps} steps and is at t = {t:g}", t, None)

    def _start(self, point: Point, untested: Array, **options: Any) -> Run:
        sparse_solver = self.linear_solver == "SPARSE"
        options |= self._sundae_options()
        return Run(
            self._F, point, self.atol, untested, self.usejac, sparse_solver, self._tally, options
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

    def _tally(self, key: str, number: int) -> None:
        self.statistics[key] += number

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
            Point(self.t, self.y.copy(), self.yd.copy()),
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
            f" Tolerances (absolute) : {self._in_short('atol')}",
            f" Tolerances (relative) : {self.rtol}",
            f" Linear solver         : {self.linear_solver}",
            "",
        ):
            self.log_message(line, verbose)
