"""Adaptive steps: sizes from tolerances, rejections, and failures turned into smaller steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genalpha.driver.sizes import StepSizes
from genalpha.driver.stepper import Stepper
from genalpha.errors import ConvergenceError, SingularSystemError, StepLimitError
from genalpha.numerics.first_step import first_size, first_snap, look_ahead, look_further
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.local_error import error_norm, multiplier_error
from genalpha.numerics.step_control import SILENT, Controller, landing
from genalpha.numerics.switching import switch, switch_of_residual
from genalpha.numerics.trend import Trend, motion_part, moved
from genalpha.numerics.weights import Tolerances
from genalpha.schemes import State

Array = np.ndarray

#: Steps are not cut below this, relative to the time, where t + h would be t.
SMALLEST_STEP = 16.0 * float(np.finfo(float).eps)
#: Nor below this anywhere: errors are divided by its cube.
SHORTEST = 1e-100
#: After so many steps in a row that are all below this, relative to the time, it is standing still.
STANDING, ROUNDED = 100, 1000.0 * float(np.finfo(float).eps)
#: The first step is at most this share of the interval, and so are steps whose errors say nothing.
LONGEST_FIRST = 0.1
#: A step so many times as long as the last one is looked at more closely. Of steps that are looked
#: at because others were cut, those that grow by the second may hide pulses, too.
GROWN, GROWING = 2.0, 1.2
#: So are this many steps after one that was cut to less than this share, because of its error.
DOUBTS, SEVERE = 3, 0.5
#: A step below this share of what was wanted has been shortened to land.
SHORTENED = 0.999
TOO_LARGE = (
    "the error is too large at any step size. Tolerances that rounding does not allow have this "
    "effect (first with GenAlphaI3, whose accelerations have errors of eps |q| / h^2): raise rtol "
    "and atol, for example to 1e-10. So has a newton_accuracy that is too large for them: lower it "
    "if you have given it"
)
#: Failures of a step that a smaller one may avoid: ours, and those of callbacks.
OURS = (ConvergenceError, SingularSystemError)
FAILURES = (*OURS, np.linalg.LinAlgError, ZeroDivisionError, FloatingPointError)


class AdaptiveSteps(StepSizes):
    """Chooses step sizes such that local errors stay within tolerances.

    Parameters
    ----------
    rtol : float
        Relative tolerance, default 1e-4.
    atol : float or (n + n + m + l,) array_like
        Absolute tolerance, default 1e-6; a vector is for [q, v, lam, psi], or [q, v, z, lam, psi].
    inith : float
        First step size; 0 (default): chosen.
    maxh : float
        Largest step size; 0 or infinity (default): no limit.
    maxsteps : int
        Steps allowed from one start to the end, default 100000.
    suppress_alg : bool
        Whether multipliers are left out of the error test, default True. If they take part, their
        errors are weighed with h^2, as RADAU5 does with variables of index 3, so that they never
        drive the step size to zero.
    controller : Controller, optional
        With the safety factor and the limits of change.
    recoverable : tuple of exception classes
        Exceptions of callbacks that a smaller step may avoid, beside arithmetical ones.
    """

    def __init__(
        self,
        rtol: float = 1e-4,
        atol: ArrayLike = 1e-6,
        *,
        inith: float = 0.0,
        maxh: float = 0.0,
        maxsteps: int = 100_000,
        suppress_alg: bool = True,
        controller: Controller | None = None,
        recoverable: tuple[type[BaseException], ...] = (),
    ) -> None:
        self.rtol, self.atol = float(rtol), np.asarray(atol, dtype=float)
        self.inith, self.maxsteps = abs(inith), maxsteps
        self.maxh = float(maxh) if maxh else np.inf
        self.suppress_alg = suppress_alg
        self.controller = controller or Controller()
        self._failures = FAILURES + recoverable

    @classmethod
    def chosen(
        cls,
        options: Any,
        atol: Array,
        maxsteps: int | None = None,
        recoverable: tuple[type[BaseException], ...] = (),
    ) -> AdaptiveSteps:
        """Return steps as the options of an integration, or a solver that has them, ask for."""
        return cls(
            options.rtol,
            atol,
            inith=options.inith,
            maxh=options.maxh,
            maxsteps=maxsteps or options.maxsteps,
            suppress_alg=options.suppress_alg,
            controller=Controller(safe=options.safe, fac1=options.fac1, fac2=options.fac2),
            recoverable=recoverable,
        )

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start the stepper with a first step size that suits the tolerances."""
        # before the first size, whose accelerations do not exist where this fails
        stepper.check(*start[:3])
        self._prepare(stepper, start, t_end)
        self._start: Knot | None = start
        self._h = self.inith or self._first_size(stepper, start)
        self._begin(stepper, t_end)

    def _first_size(self, stepper: Stepper, start: Knot) -> float:
        """Return a first step size that suits the tolerances."""
        tolerances, constants = self._tolerances, self._constants
        longest = min(self._first, self.maxh)
        h = first_size(self._ahead, start, tolerances, constants.position, longest)
        if h < longest:
            return h
        longest = math.copysign(longest, self._direction)
        return look_further(
            stepper.full, start, self._ahead, tolerances, constants, longest, self._failures
        )

    def resume(self, stepper: Stepper, start: Knot, t_end: float, size: float) -> None:
        """See `StepSizes`; differences for the error estimate begin anew."""
        self._prepare(stepper, start, t_end)
        self._h = min(size, self.maxh)
        self._follow(stepper)

    def next_size(self) -> float:
        """See `StepSizes`."""
        return self._h

    def _prepare(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Forget what was before, and look at what the tolerances need to know of a start."""
        self.controller.restart()
        self._failure: BaseException | None = None
        self._failed = start.t  # where the step led to that failed
        self._steps = self._standing = 0
        self._start = None
        o, interval = stepper.full, t_end - start.t
        self._tolerances = Tolerances.split(
            self.rtol, self.atol, o.n_q, o.n_lam, o.n_psi, o.n_states
        )
        self._tolerances.check(*start[:3])
        self._direction = float(np.sign(interval)) or 1.0
        self._ahead = look_ahead(o, start, self._tolerances, interval, self._failures)
        self._first = LONGEST_FIRST * abs(interval)
        self._taken, self._doubts, self._switched = np.inf, 0, False
        self._constants = stepper.error_constants

    def _begin(self, stepper: Stepper, t_end: float) -> None:
        """Start, with smaller and smaller first steps if need be."""
        start = self._start
        assert start is not None
        while True:
            h = self._next(start.t, t_end)
            try:
                stepper.begin(*start[:3], start.lam, start.psi, h)
                break
            except self._failures as error:
                self._cut(stepper, self.controller.failed(), h, start.t, error)
        self._follow(stepper)

    def _follow(self, stepper: Stepper) -> None:
        """Begin to follow the derivatives of the motion."""
        self._history = stepper.history()
        self._trend = Trend()

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take one accepted step."""
        self._count(stepper, t_end)
        while True:
            h = self._next(stepper.t, t_end)
            try:
                state = stepper.attempt(h)
            except self._failures as error:
                self._cut(stepper, self.controller.failed(), h, stepper.t, error)
                self._again(stepper, t_end)
                continue
            norm, change, phi, snap = self._error(stepper, state, h)
            share = self._before_a_switch(stepper, state, norm, h) if norm <= 1.0 else 0.0
            if share == 1.0:
                break
            stepper.counters.nerrfails += 1
            factor = self.controller.cut(share) if share else self.controller.rejected(norm)
            if factor < SEVERE:
                self._doubts, self._switched = DOUBTS, self._switched or share > 0.0
            self._cut(stepper, factor, h, stepper.t, None)
            self._again(stepper, t_end)
        self._start = None
        self._notice(state.t, h)
        self._taken, self._doubts = abs(h), max(0, self._doubts - 1)
        self._switched = self._switched and self._doubts > 0
        self._history.append(state)
        self._trend.append(phi, snap)
        self._h = min(self._longest(norm), self._size_after(norm, change, abs(h)))
        landed = abs(t_end - state.t) <= 1e-9 * abs(h)
        stepper.accept(state, t_end if landed else math.nan)

    def _size_after(self, norm: float, change: float, h: float) -> float:
        """Return the step size wanted after an accepted step."""
        if h < SHORTENED * self._h:
            return min(self._h, h * self.controller.shortened(norm))
        return h * self.controller.accepted(norm, change)

    def _longest(self, norm: float) -> float:
        """Return the longest step after one with this error; one that says nothing allows less."""
        return min(self.maxh, self._first) if norm < SILENT else self.maxh

    def _before_a_switch(self, stepper: Stepper, state: State, norm: float, h: float) -> float:
        """Return the share of a step that comes before a force switches inside it; 1 without any.

        Only steps are looked at which the error does not vouch for: because it says nothing,
        because they are suddenly much longer, or because others have just been cut so much that
        differences over longer ones before them hide a jump. The user's `maxh` vouches for steps.

        A force may switch on and off again inside of such a step, unless others were just cut, no
        jump was found there, and it does not grow.
        """
        growth = abs(h) / self._taken
        pulses = norm < SILENT or growth > (GROWING if self._doubts else GROWN) or self._switched
        if not (pulses or self._doubts) or abs(h) >= SHORTENED * self.maxh:
            return 1.0
        o, old, tolerances = stepper.mechanism, stepper.state, self._tolerances
        try:
            if o.whole is None:
                return switch(o, old, state, *o.multiplier_guess(), tolerances)
            ends = stepper.report(old), stepper.report(state)
            return switch_of_residual(o.whole, old, state, ends, tolerances, pulses)
        except self._failures as error:
            self._remember(error, state.t)
            return 0.5

    def _again(self, stepper: Stepper, t_end: float) -> None:
        """Start anew if it was the first step: its `a` belongs to the step size."""
        if self._start is not None:
            self._begin(stepper, t_end)

    def _next(self, t: float, t_end: float) -> float:
        """Return the next step, with its sign."""
        h = self._direction * landing(abs(t_end - t), self._h)
        if t + h == t or abs(h) < SHORTEST:
            raise StepLimitError(
                f"a step of size {h:.1e} is too small to advance t = {t!r}: {self._why_small()}"
            )
        return h

    def _why_small(self) -> str:
        """Say who wants a step so small, and what to do."""
        if self._h >= self.maxh:
            return f"maxh = {self.maxh:g} allows none that is longer. Give a larger maxh, or none"
        if self._start is not None and self._h == self.inith:
            return (
                f"inith = {self.inith:g} asks for it. Give a larger inith, or 0 to have it chosen"
            )
        return TOO_LARGE

    def _error(
        self, stepper: Stepper, state: State, h: float
    ) -> tuple[float, float, float, Array | None]:
        """Return the norm of the local error in units of the tolerances, and what its trend needs.

        That is the trend as of this step, err / h^3 as of the differences alone, and the third
        derivative of v.
        """
        jerk, snap = self._history.derivatives(state)
        if snap is None:
            snap = self._first_snap(stepper, state, h)
        old, tolerances, trend = stepper.state, self._tolerances, self._trend
        error = error_norm(self._constants, tolerances, h, jerk, snap, old, state)
        phi, change = motion_part(error, h), 0.0
        if snap is not None:
            change = trend.change(phi, snap, tolerances.weights_v(old.v, state.v))
            error = moved(error, change, self._history.older)
        if not self.suppress_alg:
            changes = stepper.multiplier_changes(state, h)
            error = max(error, multiplier_error(tolerances, h, *changes))
        return error, change, phi, snap

    def _first_snap(self, stepper: Stepper, state: State, h: float) -> Array | None:
        """Return the third derivative of v in the first step, which has no past."""
        o = stepper.mechanism
        _, lam, psi = stepper.report(state)
        try:
            enough = stepper.settings.relative
            vdot, _, _ = accelerations(o, state.t, state.q, state.v, lam, psi, enough)
        except self._failures:
            return None
        return first_snap(self._ahead, vdot, h)

    def _cut(
        self, stepper: Stepper, factor: float, h: float, t: float, error: BaseException | None
    ) -> None:
        """Cut the step size after a failure, or after a rejection (then `error` is None)."""
        stepper.counters.rejections.append((t, abs(h)))
        self._h = factor * abs(h)
        if error is not None:
            self._remember(error, t + h)
        if self._h < SMALLEST_STEP * max(abs(t), 1e-3):
            why = self._failure or TOO_LARGE
            raise StepLimitError(
                f"no step from t = {t:.9g} succeeds, down to a size of {self._h:.1e}: {why}"
            ) from self._failure

    def _remember(self, error: BaseException, t: float) -> None:
        """Remember why a step to `t` has failed, and what steps creep up to.

        They end in a rejection, or in an iteration that rounding does not let converge: neither is
        to hide that a callback has failed.
        """
        if self._failure is None or not isinstance(error, OURS):
            self._failure, self._failed = error, t

    def _notice(self, t: float, h: float) -> None:
        """Forget a failure behind an accepted step to `t`; raise an error if steps stand still."""
        self._standing = self._standing + 1 if abs(h) < ROUNDED * abs(t) else 0
        # what steps stand still for may be a hair behind them
        if not self._standing and self._direction * (t - self._failed) >= 0.0:
            self._failure = None
        if self._standing > STANDING:
            why = self._failure or self._why_small()
            raise StepLimitError(
                f"the last {STANDING} steps, up to t = {t:.9g}, were no longer than "
                f"{ROUNDED * abs(t):.1e}, which is next to rounding: {why}"
            ) from self._failure

    def _count(self, stepper: Stepper, t_end: float) -> None:
        self._steps += 1
        if self._steps > self.maxsteps:
            advice = "the tolerances; a problem that has become stiff may want less rho_inf."
            if self._h >= self.maxh:
                advice = f"maxh = {self.maxh:g}, which allows none that is longer."
            raise StepLimitError(
                f"{self.maxsteps} steps were not enough: at t = {stepper.t:.9g}, on the way to "
                f"t = {t_end:.9g}, the step size is {self._h:.1e}. Raise maxsteps, or {advice}"
            )
