"""Events in an extrapolated motion: looked for in every window as soon as it is known."""

from __future__ import annotations

import numpy as np

from genalpha.driver.events import Events
from genalpha.driver.extrapolation.points import onto_constraints
from genalpha.driver.extrapolation.trial import Trial
from genalpha.driver.pace import Pace
from genalpha.driver.watch import Happening, Watch
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray
Point = tuple[float, Array, Array]


class Path:
    """A window as event functions see it: points (t, q, v) between two points of its grid."""

    def __init__(self, mechanism: Mechanism, trial: Trial) -> None:
        self._o, self._trial = mechanism, trial
        self.to(0)

    def to(self, i: int) -> None:
        """Go on to the step between the points `i` and `i` + 1."""
        self.t_left, self.t = (float(t) for t in self._trial.times[i : i + 2])

    def at(self, t: float) -> Point:
        """Return the motion, interpolated."""
        return t, *self._trial.dense.at(t)

    def consistent_at(self, t: float) -> Point:
        """Return the same on the constraints."""
        _, q, v = self.at(t)
        if self._o.n_lam + self._o.n_psi:
            q, v = onto_constraints(self._o, t, q, v)
        return t, q, v


class Lookout:
    """Looks for events along the motion, and takes them down.

    Parameters
    ----------
    events : Events
    t : float
        Where the motion starts.

    Attributes
    ----------
    wanted : list of int
        The functions whose event was the last that stopped the motion.
    """

    def __init__(self, events: Events, t: float) -> None:
        self.events, self.wanted = events, [0]
        self._pace = Pace(t)
        self._watch = Watch(events.values, None) if events.functions else None

    def begin(self, start: Knot) -> None:
        """Start, or start anew after an impact."""
        if self._watch is not None:
            self._watch.begin(start[:3], held=self.events.held)

    def ahead(self) -> tuple[Events, Watch | None]:
        """Return copies, for a motion that looks ahead from here."""
        return self.events.copy(), None if self._watch is None else self._watch.copy()

    def look(self, trial: Trial) -> Happening | None:
        """Return the first event of a window that stops the motion, if there is one."""
        watch = self._watch
        if watch is None:
            return None
        watch.path = path = Path(trial.mechanism, trial)
        for i in range(trial.base):
            path.to(i)
            happening = watch.next()
            while happening is not None:
                if self._stops(happening):
                    return happening
                happening = watch.next()
        return None

    def _stops(self, happening: Happening) -> bool:
        """Take an event down, and tell whether it stops the motion."""
        events = self.events
        self.wanted = events.note(happening)
        if self.wanted:
            self._pace.note(happening)
        return any(events.is_terminal(i) or events.impact(i) is not None for i in self.wanted)

    @property
    def is_over(self) -> bool:
        """Whether the last event ends the whole motion."""
        return any(self.events.is_terminal(i) for i in self.wanted)
