"""What Assimulo asks of a solver class, once for all schemes: translation, no mathematics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from assimulo.implicit_ode import Implicit_ODE
from assimulo.ode import NORMAL
from assimulo.problem import cOverdetermined_Problem, cProblem
from numpy.typing import ArrayLike

from genalpha.assimulo.adapting import knows_derivatives, without_derivatives
from genalpha.assimulo.course import Course, made_consistent, start_knot
from genalpha.assimulo.explicit_calls import first_rhs, results_without_yd
from genalpha.assimulo.option import HasOptions
from genalpha.assimulo.option import key as name_of
from genalpha.assimulo.reading import Reading
from genalpha.assimulo.reports import Point
from genalpha.assimulo.residual import Residual
from genalpha.assimulo.running import Running
from genalpha.assimulo.solver_options import FOREIGN
from genalpha.assimulo.step_sizes import step_sizes
from genalpha.driver.extrapolation import (
    ExtrapolatedSolution,
    Inherited,
    Replay,
    integrate_to_error,
    over_jump,
)
from genalpha.driver.march import March
from genalpha.driver.options import NEWTON, RESULT, Options, options_of
from genalpha.errors import (
    CallbackError,
    InvalidOptionError,
    StepLimitError,
    UnsupportedProblemError,
)
from genalpha.model import Mechanism, Motion
from genalpha.model.given import shown
from genalpha.numerics.accuracy import leading_tolerance
from genalpha.numerics.counters import Counters
from genalpha.numerics.initial_values import accelerations, consistent_initial_values
from genalpha.numerics.interpolation import Knot
from genalpha.schemes import SCHEMES

Array = np.ndarray
Results = tuple[int, list[float], list[Array], list[Array]]

#: Statistics that Newton's counters know; the others are counted here and by the base class.
COUNTED = tuple(name for name in Counters.__dataclass_fields__ if name.startswith("n"))
EVENTS = ("nstatefcns", "nstateevents", "ntimeevents", "nstepevents")


class GenAlphaSolver(Running, HasOptions, Implicit_ODE):
    """Base class of the solvers: an Assimulo solver class whose steps the driver takes.

    1. `integrate` starts anew when ``opts["initialize"]`` says so: the problem's data and the
       options are read again, and a new march begins at y.
    2. The user's options and tolerances are never changed.

    How it runs and reports is in `Running`.
    """

    #: Name of the scheme in `genalpha.schemes`.
    scheme = ""
    h: float | None
    error: dict[str, float] | None
    atol: Array
    rtol: float
    linear_solver: str

    def __init__(self, problem: Any) -> None:
        if not isinstance(problem, cProblem):
            name = type(self).__name__
            made = ""
            if isinstance(problem, Mechanism):
                made = (
                    f": write {name}(mechanism.problem('ind3')), or integrate(mechanism, t_final)"
                )
            fault = f"problem = {shown(problem)}; expected a problem of Assimulo{made}"
            raise InvalidOptionError(name, [fault])
        F = Residual(problem)
        with first_rhs(problem, F):
            Implicit_ODE.__init__(self, problem)
        self._leny = len(self.y)
        self._F = F
        self._reading = self._read(problem)
        mechanism = self._reading.mechanism
        self._plain = mechanism.narrow is not getattr(problem, "mechanism", None)
        self._knows_jacobian = self._F.has_jacobian if self._plain else knows_derivatives(mechanism)
        self._set_defaults()
        #: Time and position at which the solver stopped last.
        self._left: tuple[float, Array | None] | None = None
        self._has_started = False
        #: Calls of res, and those for matrices, that earlier runs have reported.
        self._before = self._reported = 0, 0
        #: Mechanisms that the present run asks, and their calls before it.
        self._asked: list[tuple[Mechanism, dict[str, int]]] = []
        self._counters: Counters = Counters()
        self._prepare()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FOREIGN:
            self.log_message(f"{type(self).__name__} has no option {name}: it is ignored.", NORMAL)
        super().__setattr__(name, value)

    def check_instance(self) -> None:
        """Take overdetermined problems as well (called by the base class)."""
        if not isinstance(self.problem, cOverdetermined_Problem):
            Implicit_ODE.check_instance(self)

    def _read(self, problem: Any, start: Point | None = None) -> Reading:
        """Return the problem as a mechanism, or say why the scheme cannot have it."""
        try:
            reading = Reading(problem, F=self._F, start=start)
        except UnsupportedProblemError as error:
            raise UnsupportedProblemError(
                f"{type(self).__name__} needs the structure of a mechanism. {error}. As it is, the "
                "problem may suit IDA or Radau5DAE (index 1), or ODASSL (overdetermined)."
            ) from error
        Options(scheme=self.scheme).settings(reading.mechanism)
        return reading

    # --- life cycle ---------------------------------------------------------------------------

    def initialize(self) -> None:
        """Reset the statistics (called by `simulate`)."""
        self.statistics.reset()
        self._counters, self._before = Counters(), self._reported
        self._asked = [(self._reading.mechanism, self._reading.mechanism.calls)]
        for key in (*COUNTED, *EVENTS):
            self.statistics[key] = 0
        if self.backward and self.problem_info["time_events"]:
            fault = "backward = True: Assimulo's base class has no time events backward"
            raise InvalidOptionError(type(self).__name__, [fault])

    def re_init(
        self, t0: float, y0: ArrayLike, yd0: ArrayLike, sw0: list[bool] | None = None
    ) -> None:
        """Start anew from other values; integers are taken as floats."""
        y, yd = (np.array(x, dtype=float).ravel() for x in (y0, yd0))
        Implicit_ODE.re_init(self, t0, y, yd, sw0)
        self._run = self._left = None
        self._forget_events()

    def simulate(self, tfinal: float, ncp: int = 0, ncp_list: Any = None) -> Any:
        """See `Running.simulate`."""
        with results_without_yd(self.problem):
            return Running.simulate(self, tfinal, ncp, ncp_list)

    # --- integration --------------------------------------------------------------------------

    def integrate(self, t: float, y: Array, yd: Array, tf: float, opts: dict[str, Any]) -> Results:
        """Integrate to `tf` or to the first event (called by the base class)."""
        flag, points = self._advance_to(Point(t, y, yd), tf, opts)
        return flag, [x.t for x in points], [x.y for x in points], [x.yd for x in points]

    def _leave(self, point: Point) -> None:
        self._left = point.t, self._reading.layout.split(point.y)[0]

    def _restart(self, start: Point, tf: float) -> tuple[Point, Course]:
        """Read options and problem, and begin a march at y."""
        self._read_again(start)
        march, layout = self._march(), self._reading.layout
        start = start._replace(y=self._continued(march, start.t, start.y))
        knot = start_knot(march.full, layout, start.t, start.y)
        if self.error is None:
            march.start(knot, tf)
            course = Course(march, layout, march.full.whole)
        else:
            inherited = self._inherited(march.full, knot)
            course = Course(Replay(knot, tf, self._to_error(march.full), inherited), layout)
        # a handler that changes velocities need not know that they are in yd as well
        return start._replace(yd=course.at(start.t).yd), course

    def _inherited(self, o: Mechanism, start: Knot) -> Inherited:
        """Return what a motion takes over from the one before it: its error, beyond an event."""
        old = self._run.march if isinstance(self._run, Course) else None
        if not isinstance(old, Replay) or self._left is None or self._left[0] != start.t:
            return Inherited(None, 0, bool(self.problem_info["state_events"]))
        off, happened = old.off_at(start.t), np.flatnonzero(self._event_info)
        if happened.size:
            before, t, q, v = old.at(start.t), *start[:3]
            after = start._replace(vdot=accelerations(o, t, q, v, start.lam, start.psi)[0])
            off = over_jump(self._event_value(int(happened[0]), before), before, after, off)
        return old.inherited(off)

    def _event_value(self, i: int, near: Knot) -> Callable[[float, Array, Array], float]:
        """Return an event function of t, q and v, with the switches that it happened with."""
        layout = self._reading.layout

        def value(t: float, q: Array, v: Array) -> float:
            y, yd = layout.assemble(Motion(q, v, near.vdot, near.lam, near.psi))
            switches, self._F.switches = self._F.switches, self._switches_before
            try:
                return float(self.event_func(t, y, yd)[i])
            finally:
                self._F.switches = switches

        return value

    def _to_error(self, o: Mechanism) -> Callable[[Knot, float, Inherited], ExtrapolatedSolution]:
        """Return what integrates to the wanted error, with the options that were changed."""
        if self.h is not None:
            fault = f"error and h = {self.h!r} are given; give one of them"
            raise InvalidOptionError(type(self).__name__, [fault])
        declared = (*options_of(SCHEMES[self.scheme]), *RESULT)
        chosen = {
            option.name: self.options[name_of(option)]
            for option in declared
            if not np.array_equal(self.options[name_of(option)], option.default_for(self))
        }

        def motion(start: Knot, t_end: float, inherited: Inherited) -> ExtrapolatedSolution:
            solution = integrate_to_error(
                o, t_end, self.scheme, chosen, None, start, inherited=inherited
            )
            assert self._counters is not None
            for name in COUNTED:
                total = getattr(self._counters, name) + getattr(solution.statistics, name)
                setattr(self._counters, name, total)
            return solution

        return motion

    def _read_again(self, start: Point) -> None:
        """Take over the switches, and what an event may have changed in the problem."""
        problem, reading = self.problem, self._reading
        self._F.asks_jacobian = self.usejac
        own = getattr(problem, "mechanism", None)
        replaced = isinstance(own, Mechanism) and own is not reading.mechanism.narrow
        if replaced:
            self._reading = self._read(problem)
            if self._reading.layout.size != self._leny:
                raise CallbackError(
                    f"a mechanism of other sizes was put into the problem at t = {self.t:.9g}: its "
                    f"y has {self._reading.layout.size} components, that of the solver "
                    f"{self._leny}. Constraints that come and go must stay in y: switch them by "
                    "`sw`; or use integrate, whose events may hand over another mechanism"
                )
        if self._has_started:  # what a plain problem has answered before may no longer be right
            self._reading.forget()
        self._has_started = True
        if self.problem_info["switches"]:
            self._switch(start)

    def _switch(self, start: Point) -> None:
        """Take over the switches; constraints may have come or gone with them."""
        before, self._F.switches = self._reading.switches, list(self.sw)
        self._reading.switches = list(self.sw)
        if self._plain and before != list(self.sw) and not self._reading.still_holds(start):
            try:
                self._reading = self._read(self.problem, start)
            except UnsupportedProblemError as error:
                raise UnsupportedProblemError(
                    f"the switches {list(self.sw)} of t = {start.t:.9g} change kinds of rows. A "
                    f"constraint that is off must be its multiplier, as in `g if sw[0] else lam`. "
                    f"{error}"
                ) from error
            if self._left is not None:
                self._left = self._left[0], None  # new constraints must not move a position

    def _march(self) -> March:
        """Return a march with the present options, or raise all their faults at once."""
        faults, mechanism = self._faults(FOREIGN), self._reading.mechanism
        chosen = Options(self.scheme, **self._values((*SCHEMES[self.scheme].options, *NEWTON)))
        if not faults and not chosen.faults:
            tolerance = leading_tolerance(self.rtol, self.atol) if self.h is None else None
            asked = self._mechanism()
            if all(asked is not known for known, _ in self._asked):
                self._asked.append((asked, dict.fromkeys(asked.calls, 0)))
            sizes = step_sizes(self, self._reading.layout, asked)
            return March(asked, chosen, sizes, self._counters, tolerance)
        if not chosen.faults:
            try:
                chosen.settings(mechanism)
            except InvalidOptionError as error:
                faults += error.faults  # conditions of the scheme
        faults += [fault for fault in chosen.faults if fault not in faults]
        raise InvalidOptionError(type(self).__name__, faults)

    def _mechanism(self) -> Mechanism:
        mechanism = self._reading.mechanism
        if mechanism.whole is not None:
            mechanism.whole.uses_jacobian = True
        if not self.usejac:
            return without_derivatives(mechanism, self._plain)
        return mechanism

    def _continued(self, march: March, t: float, y: Array) -> Array:
        """Return a y that is to be continued from, made consistent where this is our business.

        A position that the solver itself has left, and any velocity after an event, may be off
        the constraints; a fresh start and a position that the user has changed may not.
        """
        if self._left is None or self._left[0] != t:
            return y
        layout, changed = self._reading.layout, y.copy()
        q, v, _, _ = layout.split(y)
        last = self._left[1]
        keep = last is None or not np.array_equal(q, last)
        q, v = made_consistent(march, t, q, v, keep_position=keep)
        changed[layout.q], changed[layout.v] = q[: layout.n_q], v
        return changed

    def _count(self) -> None:
        for key in COUNTED:
            self.statistics[key] = getattr(self._counters, key)
        if self._plain:  # every call of res, also those of the construction and between runs
            calls, for_matrices = self._F.calls - self._before[0], self._F.matrix_calls
            # a scheme that asks a residual's callbacks counts its matrices itself
            own = min(calls, self._counters.nfcnjacs)
            self.statistics["nfcnjacs"] = for_matrices - self._before[1] or own
            self.statistics["nfcns"] = calls - self.statistics["nfcnjacs"]
            self._reported = self._F.calls, self._F.matrix_calls

    def _check_steps(self, steps: int, t: float) -> None:
        if self.h is None and steps >= self.maxsteps:
            raise StepLimitError(f"maxsteps = {steps} steps led only to t = {t:.9g}")

    def make_consistent(
        self,
        method: str = "IDA_YA_YDP_INIT",
        fixed_q: ArrayLike = (),
        fixed_v: ArrayLike = (),
    ) -> list[Any]:
        """Move y and yd to the nearest values that satisfy all equations at all levels.

        Positions and velocities move in the mass metric, and only as far as the constraints ask
        for it; accelerations and multipliers follow from them.

        Parameters
        ----------
        method : str, optional
            For scripts written for IDA; only its "IDA_YA_YDP_INIT" makes sense for mechanisms.
        fixed_q, fixed_v : sequence of int, or (n,) bool, optional
            Positions and velocities that must keep their values.

        Returns
        -------
        [0, y, yd]
            As IDA returns them; they are also the solver's new `y` and `yd`.

        Raises
        ------
        InconsistentStartError
            Nothing consistent is near.
        """
        if method != "IDA_YA_YDP_INIT":
            fault = f"method is {method!r}; expected 'IDA_YA_YDP_INIT'"
            raise InvalidOptionError("make_consistent", [fault])
        self._read_again(Point(self.t, self.y, self.yd))
        o, layout = self._reading.mechanism, self._reading.layout
        start = start_knot(o, layout, self.t, self.y)
        motion = consistent_initial_values(
            o, *start[:3], lam0=start.lam, psi0=start.psi, fixed_q=fixed_q, fixed_v=fixed_v
        )
        self.y, self.yd = layout.assemble(Motion(*motion))
        return [0, self.y.copy(), self.yd.copy()]

    @property
    def calls(self) -> dict[str, int]:
        """How often each callback of the mechanism was called in the last run, by name.

        Of a plain problem: `res` (or `rhs`), which is ``nfcns + nfcnjacs`` of the statistics.
        """
        if self._plain:
            name = "rhs" if self._F.explicit else "res"
            return {name: self.statistics["nfcns"] + self.statistics["nfcnjacs"]}
        found: dict[str, int] = {}
        for mechanism, before in self._asked:
            for key, count in mechanism.calls.items():
                found[key] = found.get(key, 0) + count - before.get(key, 0)
        return found

    def print_statistics(self, verbose: int = NORMAL) -> None:
        """Print the statistics and the main options."""
        Implicit_ODE.print_statistics(self, verbose)
        steps = "adaptive" if self.h is None else f"fixed, h = {self.h:g}"
        own = self._values(SCHEMES[self.scheme].options)
        scheme = ", ".join(f"{name} = {value}" for name, value in own.items())
        sizes = f"{self._counters.h_min:.3g}, {self._counters.h_max:.3g}"
        calls = ", ".join(f"{key} {count}" for key, count in self.calls.items() if count)
        for line in (
            f" {'Smallest and largest step':<48}: {sizes}",
            f" {'Calls':<48}: {calls}",
            "\nSolver options:\n",
            f" Solver                  : {type(self).__name__}",
            f" Scheme                  : {scheme}",
            f" Steps                   : {steps}",
            f" Tolerances (absolute)   : {self._in_short('atol')}",
            f" Tolerances (relative)   : {self.rtol}",
            f" Linear solver           : {self.linear_solver}",
            "",
        ):
            self.log_message(line, verbose)
