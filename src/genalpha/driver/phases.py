"""A run of `integrate`: phases between impacts, each a march of its own, kept in one record."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from genalpha.driver.events import Coordinates, Events
from genalpha.driver.integration import Integration
from genalpha.driver.march import March
from genalpha.driver.options import Options
from genalpha.driver.origin import Last
from genalpha.driver.pace import Pace
from genalpha.driver.progress import Bar, Line, shown
from genalpha.driver.record import Record
from genalpha.driver.sizes import StepSizes
from genalpha.driver.watch import Happening, Watch
from genalpha.kernels import same
from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot

Array = np.ndarray


class PhaseRecord(Record):
    """A record that knows which events end a phase."""

    def __init__(self, march: March, complete: bool, events: Events, wanted: Array | None) -> None:
        super().__init__(march, complete, wanted)
        self.events, self.wanted = events, [0]
        self.pace = Pace(march.t)
        self.happening: Happening | None = None

    def happened(self, happening: Happening) -> bool:
        """See `Keeper`."""
        self.happening = happening
        self.wanted = self.events.note(happening)
        if self.wanted:
            self.pace.note(happening)
        return any(
            self.events.is_terminal(i) or self.events.impact(i) is not None for i in self.wanted
        )


class Phases:
    """Integrates from one impact to the next.

    Parameters
    ----------
    mechanism : Mechanism
    phase : callable(Mechanism) -> (Options, StepSizes, tolerance)
        What a phase with a mechanism is run with.
    counters : Counters
    events : Events
    complete : bool
        Whether accelerations and multipliers of all steps are worked out at once.
    display : optional
        Shows how far the run is.
    wanted : (k,) array, optional
        The times at which the motion is wanted, if other steps may be let go.

    Attributes
    ----------
    record : Record
    """

    def __init__(
        self,
        mechanism: Mechanism,
        phase: Callable[[Mechanism], tuple[Options, StepSizes, float | None]],
        counters: Counters,
        events: Events,
        complete: bool,
        display: Line | Bar | None = None,
        wanted: Array | None = None,
    ) -> None:
        self.mechanism, self._phase, self.events = mechanism, phase, events
        self._display = display
        options, sizes, tolerance = phase(mechanism)
        self.march = March(mechanism, options, sizes, counters, tolerance)
        self.record = PhaseRecord(self.march, complete, events, wanted)
        self._watch = Watch(events.values, Coordinates(self.march)) if events.functions else None

    def run(self, t_final: float, end: tuple[Knot, Last | None] | None = None) -> None:
        """Integrate to `t_final`, or to a terminal event.

        Parameters
        ----------
        t_final : float
        end : (Knot, Last or None), optional
            Of an earlier run, to go on from; default: the mechanism's start.
        """
        o = self.mechanism
        start = Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())
        start, last = (start, None) if end is None else end
        keeper = shown(self.record, self.march, self._display)
        integration = Integration(self.march, keeper, self._watch, self.march.counters)
        while True:
            self.march.start(start, t_final, last)
            last = None
            if self._watch is not None:
                self._watch.begin(start[:3], held=self.events.held)
            self.record.keep()
            if not integration.run(t_final):
                return
            at_event = self._at_event()
            self.record.keep_event(at_event)
            wanted = self.record.wanted
            if any(self.events.is_terminal(i) for i in wanted):
                return
            start = self._after(at_event, wanted)
            if start.t == t_final:
                self.record.keep_event(self._with_accelerations(start))
                return

    @property
    def last(self) -> Last | None:
        """Where the steps have ended; None if that was at an event, within a step."""
        march, block = self.march, self.record.blocks[-1]
        state, (t, q, v, _) = march.state, block.row(block.used - 1)
        if t != march.t or not (same(q, state.q) and same(v, state.v)):
            return None
        return Last(state, march.reduction, march.sizes.next_size())

    def _at_event(self) -> Knot:
        """Return the motion before the impact."""
        happening = self.record.happening
        assert happening is not None
        t, q, v = happening.point
        return self.march.at(t)._replace(t=t, q=q, v=v)

    def _after(self, knot: Knot, wanted: list[int]) -> Knot:
        """Return the start after the impacts, of a march with the mechanism that goes on."""
        old = self.march.full
        o, q, v = self.events.after(old, wanted, *knot[:3])
        lam, psi = (knot.lam, knot.psi) if o is old else o.multiplier_guess()
        if o is not old:
            options, self.march.sizes, tolerance = self._phase(o)
            self.march.exchange(o, options, tolerance)
        return Knot(knot.t, q, v, knot.vdot, lam, psi)

    def _with_accelerations(self, start: Knot) -> Knot:
        """Return a start from which no step is taken, with what the first one would work out."""
        t, q, v, _, lam, psi = start
        reduction = self.march.check(t, q, v)
        guess = reduction.restrict(lam, psi)
        vdot, lam, psi = accelerations(reduction.mechanism, t, q, v, *guess)
        return Knot(t, q, v, vdot, *reduction.expand(t, q, v, lam, psi))
