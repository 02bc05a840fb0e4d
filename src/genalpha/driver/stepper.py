"""One run under way: scheme, Newton and mechanism put together, step by step.

The stepper has no formula of its own. It owns what changes from step to step, starts
and restarts, hides redundant constraints, and turns what goes wrong in a step into an error that
says when and where.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from genalpha.driver.advance import Advance
from genalpha.driver.blame import worst_equations
from genalpha.driver.options import Options
from genalpha.errors import (
    CallbackError,
    ConvergenceError,
    InconsistentStartError,
    RedundantConstraintsError,
    SingularSystemError,
)
from genalpha.kernels import norm, same
from genalpha.model import Mechanism, Motion
from genalpha.numerics.counters import Counters
from genalpha.numerics.finite import check_finite, suspects
from genalpha.numerics.initial_values import (
    accelerations,
    check_start,
    project_position,
    project_velocity,
    worst_violation,
)
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.linear import NotFiniteError
from genalpha.numerics.local_error import ErrorConstants, History
from genalpha.numerics.newton import SETUP_COST, Newton, NotFiniteCorrectionError
from genalpha.numerics.redundancy import Reduction
from genalpha.schemes import choose
from genalpha.schemes.scheme import Scheme, State

Array = np.ndarray

#: A constraint that was left out as redundant may be missed by this distance, relative to the size
#: of the coordinates, before it is taken up again.
LOST = 1e-7
#: Failures that come of numbers which are not finite.
NOT_FINITE = NotFiniteError, NotFiniteCorrectionError
#: After so many leaps without a step, it is steps that are taken.
IN_VAIN = 3


def complete(
    scheme: type[Scheme], reduction: Reduction, t: float, q: Array, v: Array, kept: Array
) -> Knot:
    """Work out acceleration and all multipliers of a step from what is kept of it."""
    o = reduction.mechanism
    vdot, lam, psi = scheme.report(o, t, q, v, kept)
    if not norm(vdot) < np.inf and not np.isfinite(vdot).all():  # squares may be infinite
        again = scheme.report(o, t, q, v, kept)[0]  # numbers may be too large
        check_finite(o, t, q, v, f"{o.name}: accelerations", bool(np.isfinite(again).all()))
    return Knot(t, q, v, vdot, *reduction.expand(t, q, v, lam, psi))


class Stepper(Advance):
    """Advances a mechanism by steps of given sizes; the one place of what a run is at.

    That is the state at both ends of the last step with the constraints that were independent
    there, and what has been worked out of the motion. The scheme's own memory is the past from
    which it predicts; Newton's is its matrix.

    Parameters
    ----------
    mechanism : Mechanism
    options : Options
    counters : Counters, optional
        To count on from an earlier integration.
    tolerance : float, optional
        Of adaptive steps; Newton's accuracy follows from it.

    Attributes
    ----------
    t_left, t : float
        Both ends of the last step; the same at a start.
    state
        The scheme's state at the present time; steps replace it, never change it.
    full : Mechanism
    reduction : Reduction
        The independent ones of its constraints.
    counters : Counters
        What the integration has cost so far.
    known : Knot or None
        The motion at the present time, if it has been worked out (`knot` does).
    """

    def __init__(
        self,
        mechanism: Mechanism,
        options: Options,
        counters: Counters | None = None,
        tolerance: float | None = None,
    ) -> None:
        super().__init__(mechanism.t0)
        self.counters = counters or Counters()
        self._checked: tuple[Any, Any] = (None, None)
        self.exchange(mechanism, options, tolerance)

    def exchange(
        self, mechanism: Mechanism, options: Options, tolerance: float | None = None
    ) -> None:
        """Take another mechanism of the same coordinates; a start must follow."""
        self.full, self.options = mechanism, options
        self.settings = options.settings(mechanism, tolerance)
        self.scheme = choose(options.scheme, mechanism)
        self.known: Knot | None = None
        self._native: Any = None
        self._in_vain = 0
        self.newton = Newton(
            options.jacobian,
            options.max_iterations,
            self.counters,
            SETUP_COST + mechanism.tangent_cost,
            learns=tolerance is not None,
        )

    def begin(self, t: float, q: Array, v: Array, lam: Array, psi: Array, h: float) -> None:
        """Start, or start anew, from a consistent position and velocity.

        `lam` and `psi` are guesses; `h` is the size of the first step, to which the starting
        value of `a` belongs.

        Raises
        ------
        InconsistentStartError, RedundantConstraintsError
            With the names of the constraints.
        """
        self._begin(t, q, v, lam, psi, h, self.check(t, q, v))
        self._stand()

    def check(self, t: float, q: Array, v: Array) -> Reduction:
        """Check a start, once however often it is begun from; return its independent constraints.

        Raises
        ------
        InconsistentStartError, RedundantConstraintsError
            With the names of the constraints.
        """
        start, reduction = self._checked
        if start is None or not (
            reduction.full is self.full
            and t == start[0]
            and same(q, start[1])
            and same(v, start[2])
        ):
            check_start(self.full, t, q, v)
            reduction = Reduction(self.full, t, q, v)
            self._checked = (t, q, v), reduction
        return reduction

    def _begin(
        self, t: float, q: Array, v: Array, lam: Array, psi: Array, h: float, reduction: Reduction
    ) -> None:
        """Start with the constraints that a reduction leaves."""
        o = reduction.mechanism
        self._prepare(reduction)
        vdot, lam, psi = accelerations(o, t, q, v, *reduction.restrict(lam, psi))
        self.state = self._step.begin(t, Motion(q, v, vdot, lam, psi), h)
        self.t = t
        self._step.remember(t, self.state)
        self.known = Knot(t, q, v, vdot, *reduction.expand(t, q, v, lam, psi))
        if self._step.shifts:
            self.state = self._step.shifted(self.state, self.attempt(h), h)
            if not norm(self.state.v) < np.inf and not np.isfinite(self.state.v).all():
                check_finite(self.mechanism, t, q, v, f"{self.full.name}: the start", certain=True)

    def resume(self, state: State, reduction: Reduction) -> None:
        """Go on from a state of the same scheme, as if the steps to it had been taken here."""
        self._prepare(reduction)
        self.state, self.t, self.known = state, state.t, None
        self._step.remember(self.t, state)
        self._stand()

    def _stand(self) -> None:
        """Let the last step begin where it ends."""
        self.t_left, self._left_known = self.t, self.known
        self._left_state, self._left_reduction = self.state, self.reduction

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with independent constraints only."""
        return self.reduction.mechanism

    def _prepare(self, reduction: Reduction) -> None:
        """Set up scheme and Newton's iteration for the constraints that a reduction leaves."""
        self.reduction = reduction
        self.newton.last_solvers = None  # of another system, perhaps of another size
        self.newton.forget()
        self._step = self.scheme(reduction.mechanism, self.settings, self.newton)
        self._native, self._in_vain = None, 0

    @property
    def is_native(self) -> bool:
        """Whether `run_native` may take steps."""
        if self._native is None and not self._in_vain:
            self._native = None if self.reduction.dependent.size else self._step.native()
        return self._native is not None

    def run_native(self, h: float, rows: Array, origin: float, done: int, end: float) -> int:
        """Take equal steps in machine code, each into a row of a record; return how many.

        A step that fails there is not taken: `attempt` is to say why. Where all fail, it is no
        longer tried.

        Parameters
        ----------
        h : float
        rows : (k, width) array
            As many steps are taken; see `genalpha.driver.record.Block`.
        origin, done, end : float, int, float
            Step i ends at origin + (done + i) h, or at `end` if that is the same but for rounding.
        """
        past = self._step.past.equal_rows(h) if self.is_native and self.state.h == h else None
        if past is None:
            return 0
        native = self._native
        taken = int(native.run(self.state, past, rows, origin, done, h, end))
        self._in_vain = 0 if taken else self._in_vain + 1
        if self._in_vain == IN_VAIN:
            self._native = None
        if taken:
            self.state, self.t, self.known = native.state(), native.t, None
            self._step.past.replace(self.t, h, native.past_rows())
            self.newton.forget()
            self._stand()
        return taken

    def attempt(self, h: float) -> State:
        """Return the state that a step of size `h` leads to; the stepper's own stays as it is.

        Raises
        ------
        ConvergenceError, SingularSystemError, CallbackError
            Of genalpha, with time and step size. What a callback raises passes unchanged.
        """
        try:
            state = self._step.take(self.state, h)
            # not what Newton's iteration has found, but what was done with it afterwards
            if not norm(state.v) < np.inf and not np.isfinite(state.v).all():
                raise NotFiniteCorrectionError("the velocity that it leads to is not finite")
            return state
        except (ConvergenceError, SingularSystemError) as error:
            self._check_callbacks(h)
            if isinstance(error, SingularSystemError) and self._chooses_other_rows(h):
                return self.attempt(h)
            if isinstance(error, NOT_FINITE):
                why = suspects(self.full)
            else:
                why = worst_equations(self.full, self.knot(), h)
            # not its own class, which may be one that only the solver knows
            singular = isinstance(error, SingularSystemError)
            kind = SingularSystemError if singular else ConvergenceError
            raise kind(f"{self._where(h)} failed: {error}; {why}") from error
        except CallbackError as error:
            raise CallbackError(f"{self._where(h)} failed: {error}") from error

    def _chooses_other_rows(self, h: float) -> bool:
        """Look whether other constraints than before have become redundant, and start anew if so.

        Raises
        ------
        RedundantConstraintsError
            Constraints have become redundant, and the mechanism does not allow that.
        """
        knot = self.knot()
        t, q, v = self.t + h, knot.q + h * knot.v, knot.v
        ahead = Reduction(self.full, t, q, v)
        if np.array_equal(ahead.dependent, self.reduction.dependent):
            return False
        self._begin(*knot[:3], knot.lam, knot.psi, h, ahead)
        return True

    def _where(self, h: float) -> str:
        return f"{self.full.name}: the step from t = {self.t:.9g} of size h = {h:.3g}"

    @property
    def error_constants(self) -> ErrorConstants:
        """The scheme's constants of the local error."""
        return self.scheme.errors(self.settings)

    def history(self) -> History:
        """Return what tells derivatives of the motion from the present time on."""
        knot = self.knot()
        return self._step.history(knot.t, knot.v, knot.vdot)

    def multiplier_changes(self, state: State, h: float) -> tuple[Array, Array, Array, Array]:
        """Return lam and psi of a new state, each followed by those of the present one."""
        _, lam, psi = self.report(state)
        _, lam_old, psi_old = self.report(self.state)
        return lam, lam_old, psi, psi_old

    def report(self, state: State) -> tuple[Array, Array, Array]:
        """Return acceleration and multipliers of a state, but for redundant constraints."""
        return self.scheme.report(self.mechanism, state.t, state.q, state.v, state.kept)

    def accept(self, state: State, t: float = math.nan) -> None:
        """Make `state` the present one; `t` is its exact time, free of rounding in t + h."""
        self._stand()
        if t == t:
            state.t = t
        else:
            t = state.t
        self.state, self.t, self.known = state, t, None
        self._step.remember(t, state)
        self.counters.nsteps += 1
        self.counters.note_size(state.h)
        if self.reduction.dependent.size:
            self._look_at_dropped()

    def _look_at_dropped(self) -> None:
        """Check the constraints that were left out; those that do not hold by themselves come back.

        Rows that depend on each other at one place, as those of a stretched parallelogram, need not
        do so at another.

        Raises
        ------
        RedundantConstraintsError
            The constraints cannot all hold.
        """
        o, s = self.full, self.state
        levels = ("position", "velocity") if self.scheme.keeps_velocity else ("position",)
        level, i, value, distance = worst_violation(o, s.t, s.q, s.v, levels)
        if distance <= LOST:
            return
        knot = self.knot()
        try:
            q = project_position(o, s.t, s.q)
            v = project_velocity(o, s.t, q, s.v)
        except InconsistentStartError as error:
            raise RedundantConstraintsError(
                f"{o.name}: constraint {o.constraint_names[i]} depended on the others before; at "
                f"t = {s.t:.9g} its residual is {value:.3e} ({level} level), and all constraints "
                f"cannot hold together there: {error}"
            ) from error
        self._begin(s.t, q, v, knot.lam, knot.psi, s.h, Reduction(o, s.t, q, v))

    def knot(self) -> Knot:
        """Return the motion at the present time, with true acceleration and all multipliers."""
        if self.known is None:
            s = self.state
            self.known = complete(self.scheme, self.reduction, s.t, s.q, s.v, s.kept)
        return self.known

    def _check_callbacks(self, h: float) -> None:
        """Blame a callback that returns NaN or infinity near the present state, if there is one."""
        s = self.state
        check_finite(self.mechanism, s.t + h, s.q + h * s.v, s.v, self._where(h))
