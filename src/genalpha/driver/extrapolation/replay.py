"""An extrapolated motion, gone through step by step: so events are found in it as in any other."""

from __future__ import annotations

from collections.abc import Callable

from genalpha.driver.advance import Advance
from genalpha.driver.extrapolation.carry import Inherited
from genalpha.driver.extrapolation.measure import Pair
from genalpha.driver.extrapolation.solution import ExtrapolatedSolution
from genalpha.numerics.interpolation import Knot


class Replay(Advance):
    """Steps from point to point of an extrapolated motion.

    Parameters
    ----------
    start : Knot
    t_end : float
        Until when the motion is wanted at first.
    motion : callable(Knot, float, Inherited) -> ExtrapolatedSolution
        Integrates from a start to a time.
    inherited : Inherited
        What it takes over from a motion before it.
    """

    def __init__(
        self,
        start: Knot,
        t_end: float,
        motion: Callable[[Knot, float, Inherited], ExtrapolatedSolution],
        inherited: Inherited,
    ) -> None:
        super().__init__(start.t)
        self._motion, self._inherited = motion, inherited
        self._solution, self._count = motion(start, t_end, inherited), 0

    def step(self, t_end: float) -> None:
        """See `Advance`."""
        steps = self._solution.steps
        if self._count == steps.size - 1:  # somebody wants to go on
            self._inherited = self.inherited(self.off_at(self.t))
            self._solution = self._motion(self.at(self.t), t_end, self._inherited)
            self._count = 0
            steps = self._solution.steps
        following = float(steps[self._count + 1])
        self.t_left = self.t
        if abs(following - self.t) <= abs(t_end - self.t):
            self.t, self._count = following, self._count + 1
        else:
            self.t = t_end

    def off_at(self, t: float) -> Pair:
        """Return the errors of q and v with which a motion would start from here."""
        return self._solution.off_at(t)

    def inherited(self, off: Pair) -> Inherited:
        """Return what another motion from here takes over, if its error is `off` then."""
        return Inherited(off, self._inherited.pieces + 1, self._inherited.follows)

    def at(self, t: float) -> Knot:
        """See `Advance`; the motion is on the constraints everywhere."""
        return self._solution.knot_at(t)
