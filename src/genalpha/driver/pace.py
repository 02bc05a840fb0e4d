"""How fast events follow each other, and an error before they never end."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from genalpha.driver.watch import ADVICE, Happening
from genalpha.errors import AccumulatingEventsError

#: Events accumulate if all that are still to come would happen within this part of the time so far,
SHARE = 1e-9
#: or if this many of them have happened within it.
MANY = 100
#: Or, while their waits get shorter, if in between the function leaves zero by no more than this
#: many times its rounding: a few events more and nobody could tell them apart.
LOW = 1e4


class Pace:
    """Takes down events.

    Parameters
    ----------
    t : float
        Where the run starts.
    name : str, optional
        What the event functions are called in messages, with their number.
    """

    def __init__(self, t: float, name: str = "events") -> None:
        self._start, self._name = t, name
        self._times: dict[int, deque[float]] = {}
        self._all: deque[float] = deque(maxlen=MANY)

    def note(self, happening: Happening) -> None:
        """Note an event.

        Raises
        ------
        AccumulatingEventsError
            Infinitely many events seem to lie ahead within next to no time, as when a ball that
            loses speed at each impact comes to rest; or there have been too many already.
        """
        t = happening.t
        little = SHARE * abs(t - self._start)
        self._all.append(t)
        span = abs(t - self._all[0])
        if len(self._all) == MANY and span < little:
            raise AccumulatingEventsError(
                f"the last {MANY} events, up to t = {t!r}, happened within {span:.1e}: whatever "
                f"they do seems to call for the next one at once. {ADVICE}"
            )
        for i in (i for i, x in enumerate(happening.info) if x):
            times = self._times.setdefault(i, deque([self._start], maxlen=4))
            times.append(t)
            if len(times) == 4:
                self._check(i, list(times), little, happening.clearance[i])

    def _check(self, i: int, times: list[float], little: float, clearance: float) -> None:
        waits = [b - a for a, b in pairwise(times)]
        first, second, third = map(abs, waits)
        if not third < second < first:
            return
        rate = third / second
        left = waits[2] * rate / (1.0 - rate)
        if abs(left) < little or clearance < LOW:
            raise AccumulatingEventsError(
                f"events of {self._name}[{i}] accumulate at t = {times[-1] + left:.12g}: the last "
                f"ones, up to t = {times[-1]!r}, came {second:.1e} and {third:.1e} after each "
                f"other, each wait {rate:.2g} times the one before, as when a bouncing body comes "
                f"to rest. {ADVICE}"
            )
