"""The one loop: steps, events within them, and somebody who keeps what comes out.

`integrate`, the solver classes for Assimulo, the stabilized methods and the IDA of scikit-sundae
all run through it.
"""

from __future__ import annotations

from typing import Any

from genalpha.driver.advance import Advance
from genalpha.driver.watch import Happening, Watch
from genalpha.errors import ConvergenceError, StepLimitError

#: After so many steps it is looked whether they have collapsed at one place:
STEPS = 1000
#: they have if they are this small beside the largest, and this part of them was tried in vain,
COLLAPSED, IN_VAIN = 1e-2, 0.2


class Keeper:
    """Takes what an integration brings; either method tells whether that is to stop."""

    def keep(self) -> bool:
        """Take the end of a step."""
        raise NotImplementedError

    @property
    def leaps(self) -> bool:
        """Whether `leap` may be of use."""
        return False

    def leap(self, t_end: float) -> bool:
        """Have many steps taken at once, and take them; tell whether there were any."""
        return False

    def happened(self, happening: Happening) -> bool:
        """Take an event; if it stops the integration, the end of the step is not kept."""
        raise NotImplementedError


class Integration:
    """An advance towards a time, watched for events.

    Parameters
    ----------
    advance : Advance
    keeper : Keeper
    watch : Watch, optional
    counters : Counters, optional
        Of the steps tried in vain, to notice that steps collapse.
    """

    def __init__(
        self, advance: Advance, keeper: Keeper, watch: Watch | None = None, counters: Any = None
    ) -> None:
        self.advance, self.keeper, self.watch, self._counters = advance, keeper, watch, counters

    def run(self, t_end: float) -> bool:
        """Advance to `t_end`; return whether an event or the keeper has stopped it before.

        Raises
        ------
        StepLimitError, ConvergenceError
            Steps have become too many or too small, or one has failed; if a callback jumps there,
            it is named.
        """
        advance, keeper, watch = self.advance, self.keeper, self.watch
        steps = 0
        t_checked, vain = advance.t, self._in_vain()
        leaps = watch is None and keeper.leaps
        while advance.t != t_end:
            if leaps and keeper.leap(t_end):
                continue
            try:
                advance.step(t_end)
            except StepLimitError as error:
                jump = advance.jump()
                if not jump:
                    raise
                raise StepLimitError(f"{str(error).split(': ')[0]}: {jump}") from error
            except ConvergenceError as error:
                jump = advance.jump()
                if not jump:
                    raise
                raise ConvergenceError(f"{error}. Or {jump}") from error
            if advance.t == advance.t_left:
                raise StepLimitError(f"the step from t = {advance.t!r} is too small to advance t")
            if watch is not None and self._has_stopped():
                return True
            if keeper.keep():
                return True
            steps += 1
            if steps == STEPS:
                self._check(advance.t - t_checked, vain)
                steps, t_checked, vain = 0, advance.t, self._in_vain()
        return False

    def _has_stopped(self) -> bool:
        """Hand over the events of the last step, until one stops the integration."""
        assert self.watch is not None
        happening = self.watch.next()
        while happening is not None:
            if self.keeper.happened(happening):
                return True
            happening = self.watch.next()
        return False

    def _in_vain(self) -> int:
        return 0 if self._counters is None else len(self._counters.rejections)

    def _check(self, progress: float, vain: int) -> None:
        """Raise an error if steps have collapsed because a callback jumps."""
        if self._counters is None or self._in_vain() - vain < IN_VAIN * STEPS:
            return
        if abs(progress) < COLLAPSED * STEPS * self._counters.h_max:
            jump = self.advance.jump()
            if jump:
                raise StepLimitError(
                    f"the last {STEPS} steps led from t = {self.advance.t - progress:.9g} only to "
                    f"t = {self.advance.t:.9g}: {jump}"
                )
