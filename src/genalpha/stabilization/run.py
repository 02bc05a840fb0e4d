"""Stabilized explicit integration, as `integrate` calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genalpha.driver.events import Events
from genalpha.driver.integration import Integration, Keeper
from genalpha.driver.origin import Origin
from genalpha.driver.pace import Pace
from genalpha.driver.progress import Bar, Line, shown
from genalpha.driver.solution import Solution, reached, so_far
from genalpha.driver.watch import Happening, Watch
from genalpha.errors import CallbackError, InvalidOptionError
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot
from genalpha.stabilization.deviation import Deviation, Guarantee
from genalpha.stabilization.gains import Gains
from genalpha.stabilization.march import ExplicitMarch
from genalpha.stabilization.options import StabilizedOptions
from genalpha.stabilization.system import Recorder, StabilizedSystem

Array = np.ndarray


class StabilizedSolution(Solution):
    """A `Solution` with the gains that were used and the deviation from the constraints.

    Attributes
    ----------
    gains : Gains
    deviation : Deviation
        Measured and guaranteed deviations, see `genalpha.stabilization.deviation.Deviation`.
    promise : Guarantee or None
        What gains="auto" promised before the run; ``promise.edge`` tells how far off the
        constraints another start may be.
    """

    gains: Gains
    deviation: Deviation
    promise: Guarantee | None


def _sizes(scheme: str, t0: float, t_final: float, h: Any) -> Array:
    """Return the step size, or all of them, checked."""
    faults = []
    if not (np.isfinite(t_final) and t_final > t0):
        faults.append(
            f"t_final = {t_final!r}; expected a time after t0 = {t0:g}: gains pull forward only"
        )
    sizes = np.asarray(np.nan if h is None else h, dtype=float)
    if sizes.ndim > 1 or not sizes.size or not np.all(np.isfinite(sizes) & (sizes > 0.0)):
        faults.append(f"h = {h!r}; expected a positive step size, or a sequence of them")
    elif sizes.ndim and abs(sizes.sum() - (t_final - t0)) > 1e-9 * abs(t_final - t0):
        faults.append(f"the step sizes h add up to {sizes.sum():.12g}, not to t_final - t0")
    if faults:
        raise InvalidOptionError(scheme, faults)
    return sizes


class _Run(Keeper):
    """Steps of a stabilized system, kept one by one."""

    def __init__(
        self,
        system: StabilizedSystem,
        sizes: Array,
        t_final: float,
        events: Events,
        display: Line | Bar | None,
    ) -> None:
        self._display = display
        self.system, self.events, self._sizes, self._end = system, events, sizes, t_final
        order = system.options.order
        self.recorder = Recorder(system.perturbation, order, system.promise)
        self.knots: list[Knot] = []
        self._pace, self._wanted = Pace(system.full.t0), [0]
        self._event: Any = None

    def run(self) -> None:
        """Integrate from one impact to the next, to the end or to a terminal event."""
        t, x = self.system.full.t0, self.system.x0
        self._march = march = self._begin(t, x)
        watch = Watch(self._values, march) if self.events.functions else None
        while True:
            self.keep()
            if watch is not None:
                watch.begin(self._march.right, self._march, self.events.held)
            keeper = shown(self, self._march, self._display)
            if not Integration(self._march, keeper, watch).run(self._end):
                return
            t, x, _ = self._event
            self._add(t, x)
            if t == self._end or any(self.events.is_terminal(i) for i in self._wanted):
                return
            self._march = self._begin(t, self._after(t, x))

    def _begin(self, t: float, x: Array) -> ExplicitMarch:
        sizes: Any = float(self._sizes) if not self._sizes.ndim else self._rest(t)
        system = self.system
        return ExplicitMarch(system.options.step(), system.rhs, self._arrived, (t, x), sizes)

    def _rest(self, t: float) -> Any:
        """Return sizes and ends of the given steps from a time on, which may lie within one."""
        ends = self.system.full.t0 + np.cumsum(self._sizes)
        ends[-1] = self._end
        left = ends > t + 1e-9 * self._sizes
        sizes, ends = self._sizes[left], ends[left]
        if t > self.system.full.t0:
            sizes[0] = ends[0] - t
        return zip(sizes.tolist(), ends.tolist(), strict=True)

    def _arrived(self, t: float, x: Array, h: float) -> Array:
        """Evaluate the right-hand side at the end of a step, and note the deviation there."""
        self._now = self.system.evaluate(t, x)
        self.recorder.add(t, h, x, self._now.deviation)
        self.system.counters.nsteps += h != 0.0
        return self._now.xdot

    def keep(self) -> bool:
        """See `Keeper`."""
        self._knot(self._march.right.t, self._march.right.x, self._now)
        return False

    def happened(self, happening: Happening) -> bool:
        """See `Keeper`."""
        t, x, _ = happening.point
        n = x.size // 2
        point = (t, x[:n], x[n:])
        self._wanted, self._event = (
            self.events.note(happening._replace(point=point)),
            happening.point,
        )
        if self._wanted:
            self._pace.note(happening)
        return any(
            self.events.is_terminal(i) or self.events.impact(i) is not None for i in self._wanted
        )

    def _values(self, t: float, x: Array, xdot: Array) -> list[float]:
        n = x.size // 2
        return self.events.values(t, x[:n], x[n:])

    def _after(self, t: float, x: Array) -> Array:
        n, full = x.size // 2, self.system.full
        o, q, v = self.events.after(full, self._wanted, t, x[:n], x[n:])
        if o is not full:
            raise CallbackError(
                "an impact handed over another mechanism; the stabilized methods, whose gains "
                "belong to one mechanism, cannot go on with it: take GenAlphaSOI2"
            )
        return np.concatenate([q, v])

    def _add(self, t: float, x: Array) -> None:
        self._knot(t, x, self.system.evaluate(t, x))

    def _knot(self, t: float, x: Array, now: Any) -> None:
        n = x.size // 2
        q, v = x[:n], x[n:]
        lam, psi = self.system.reduction.expand(t, q, v, now.lam, now.psi)
        self.knots.append(Knot(t, q, v, now.vdot, lam, psi))

    def solution(self, t_eval: Array | None) -> StabilizedSolution | None:
        """Return what was kept."""
        if not self.knots:
            return None
        system, times = self.system, np.array([knot.t for knot in self.knots])
        vdot = [knot.vdot for knot in self.knots]
        t_eval = None if t_eval is None else reached(t_eval, times)
        found = StabilizedSolution(
            system.full, times, self.knots, vdot, system.counters, t_eval,
            Origin([(0, system.full)], self.events),
        )  # fmt: skip
        found.gains, found.promise = system.gains, system.promise
        found.deviation = self.recorder.result()
        return found


def run_stabilized(
    mechanism: Mechanism,
    t_final: float,
    scheme: str,
    h: float | Sequence[float] | None,
    t_eval: Array | None,
    options: Mapping[str, Any],
    events: Events | None = None,
    display: Line | Bar | None = None,
) -> StabilizedSolution:
    """Integrate by an explicit scheme that is pulled back to the constraints.

    Parameters
    ----------
    mechanism : Mechanism
        Its start need not satisfy the constraints.
    t_final : float
        After the start.
    scheme : {"StabilizedEuler", "StabilizedRK2"}
    h : float or sequence of float
        Step size, or all step sizes.
    t_eval : (k,) array, optional
        Times at which the motion is wanted; default: all steps.
    options : mapping
        See `StabilizedOptions`: gains, eps, sigma, alpha.
    events : Events, optional
    display : optional
        Shows how far the run is.
    """
    checked = StabilizedOptions(scheme, **options)
    sizes = _sizes(scheme, mechanism.t0, t_final, h)
    largest = float(sizes.max())
    system = StabilizedSystem(mechanism, checked, largest, t_final)
    system.check_step(largest, scheme)
    run = _Run(system, sizes, t_final, Events([]) if events is None else events, display)
    try:
        run.run()
    except BaseException as error:
        error.solution = so_far(lambda: run.solution(None))  # type: ignore[attr-defined]
        raise
    found = run.solution(t_eval)
    assert found is not None
    return found
