"""Event functions along a motion: which of them changes its sign first, and when.

A function has a sign, +1 or -1, or none:

1. At a start or a new start it has none if it is zero there to within its own rounding.
2. It gets one when it is first seen away from zero. That is no event.
3. An event is that a function with a sign reaches zero or is beyond it. Then it has no sign.

So no function has two events at one instant, and one that an impact has left at zero cannot have
one before it has left zero.

If the impact has stopped it there, or has turned it back, and it yet leaves zero on the other side,
then a body that has come to rest falls through its floor: that is an error.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from genalpha.driver.crossings import INNER, NEAR, Cubic
from genalpha.driver.location import EPS, change, changes, first_change
from genalpha.errors import CallbackError, RestingContactError

Array = np.ndarray
Sample = tuple[float, list[float]]  # a time, and the values of all functions

#: The first piece that is looked at, and the smallest, as parts of the step.
FIRST_PIECE, SMALLEST_PIECE = 1.0 / 1024.0, 1.0 / 4096.0
#: After an event the first piece is this part of the step, or so many roundings of the time.
AFTER_EVENT, ROUNDINGS = 1e-10, 64.0
#: Pieces grow by this factor, and by this one while they follow an event.
GROWTH, FAST_GROWTH = 2.0, 64.0
#: After a piece was halved, so many do not grow.
PATIENCE = 3
#: A function is zero to rounding below this many times what a change of all arguments by four
#: units in their last place does to it.
ROUNDING = 4.0
#: An impact stops a function whose rate it reduces to this part. The rates are looked at over this
#: part of a step.
STOPPED, SHORT = 1e-3, 1e-3
#: How far from each other, in steps, values near an event are taken to see how they scatter, and up
#: to which part of the values of the step it is scatter, and not a jump of the function.
APART, SCATTER = 1e-9, 1e-6
#: Values on both sides of an event are rounding if they are this small beside others of the step.
TINY = 1e-9
#: What to do where a body comes to rest.
ADVICE = (
    "Go on with what follows when it rests: an impact (handle_event in Assimulo) that, below "
    "some speed, hands over a mechanism in which the contact is a constraint, or that stops "
    "(terminal = True; TerminateSimulation in Assimulo)"
)


class Happening(NamedTuple):
    """One or more functions have changed their sign.

    Attributes
    ----------
    t : float
        The first time known to be after the change; the one before it differs by rounding.
    point : tuple
        The motion there, as the path has it.
    info : list of int
        For every function +1 (it rose to zero), -1 (it fell), or 0.
    clearance : list of float
        How far each function has been from zero since its last event, in units of its rounding.
    """

    t: float
    point: Any
    info: list[int]
    clearance: list[float]


class Watch:
    """Looks for events step after step.

    Parameters
    ----------
    values : callable(t, x, x') -> (k,) array
        The event functions at a point of the path.
    path : object
        With ``t_left`` and ``t``, the ends of the last step, ``at(t)`` and ``consistent_at(t)``:
        points (t, x, x') within it, the latter on the constraints. Events are found on the former
        and located on the latter.
    name : str, optional
        What the functions are called in messages, with their number.

    Attributes
    ----------
    count : int
        Evaluations so far.
    """

    def __init__(self, values: Callable[..., Any], path: Any, name: str = "events") -> None:
        self._function, self.path, self.count = values, path, 0
        self._name = name
        # how many functions there are; 0: not known yet
        self._number = 0
        self._signs: list[int] = []
        self._noise: list[float] = []
        self._fired: list[int] = []
        # the point of the last event and the length of its step
        self._event: tuple[Any, float] | None = None
        # functions that an impact has stopped or turned: the side on which they came to zero, as
        # its sign, and their rates before and after
        self._stopped: dict[int, tuple[int, float, float]] = {}
        # farthest from zero since the last event
        self._peaks: list[float] = []
        # how far it has looked, values and slopes there
        self._t, self._g, self._slopes = nan, [0.0], [nan]
        # length of the next piece (0: not known yet), and what it was before an event
        self._length = self._usual = 0.0
        self._patience, self._is_new = 0, False

    def begin(self, point: Any, path: Any | None = None, held: Sequence[int] | None = None) -> None:
        """Start, or start anew, at a point; functions that had an event there have no sign yet.

        Parameters
        ----------
        point : (t, x, x')
        path : optional
            If it is another one from here on.
        held : sequence of int, optional
            The functions that must not go on through zero, if they have just been stopped there;
            default: all.
        """
        self.path = self.path if path is None else path
        first, again = not self._signs, point[0] == self._t
        self._g = self._values(point)
        if not (again and self._fired):  # what was rounding at an event still is
            self._noise = self._rounding(point, point, point)
            self._fired = [0] * len(self._g)
        self._noise = [
            max(x, ROUNDING * y) for x, y in zip(self._noise, self._moved(point), strict=True)
        ]
        self._signs = [
            0 if happened or abs(g) <= rounding else (1 if g > 0.0 else -1)
            for g, rounding, happened in zip(self._g, self._noise, self._fired, strict=True)
        ]
        self._t, self._slopes = float(point[0]), [nan] * len(self._g)
        self._is_new = 0 in self._signs
        self._stopped = {}
        if again and any(self._fired):
            chosen = range(len(self._g)) if held is None else held
            self._stopped = self._stopped_by(point, [i for i in chosen if self._fired[i]])
        if first:
            self._peaks = [abs(g) for g in self._g]

    def _moved(self, point: Any) -> list[float]:
        """Return by how much values at a start differ from those where the path begins.

        A scheme may start with another velocity, which is on the constraints what it was, but for
        errors. They must not give a function that is zero there the sign of before, which would
        be an event once more.
        """
        path = self.path
        if path is None or not path.t_left == path.t == point[0]:
            return [0.0] * len(self._g)
        return [abs(a - b) for a, b in zip(self._exact(path.t), self._g, strict=True)]

    def copy(self) -> Watch:
        """Return one that knows the same, to look ahead along another path."""
        other = copy.copy(self)
        other._signs, other._peaks = list(self._signs), list(self._peaks)
        return other

    def next(self) -> Happening | None:
        """Return the next event in the last step, or None; call again until there is none."""
        path = self.path
        step = abs(path.t - path.t_left)
        while self._t != path.t:
            self._prepare(step)
            left = abs(path.t - self._t)
            # whatever it is, the time must see it
            self._length = max(self._length, 4.0 * EPS * abs(self._t))
            size = min(self._length, left)
            end = path.t if size == left else self._t + float(np.copysign(size, path.t - self._t))
            samples = self._samples(end, size > SMALLEST_PIECE * step)
            if samples is None:
                self._usual = self._length = 0.5 * size
                self._patience = PATIENCE
                continue
            happening = self._first(samples)
            if happening is not None:
                return happening
            if size == self._length:
                self._grow()
        return None

    def _prepare(self, step: float) -> None:
        """Choose the length of the first piece, or of the first one after an event."""
        if not self._length:
            self._length = self._usual = FIRST_PIECE * step
        if self._is_new:
            self._length = min(self._usual, max(AFTER_EVENT * step, ROUNDINGS * EPS * abs(self._t)))
            self._is_new = False

    def _grow(self) -> None:
        if self._length < self._usual:
            self._length = min(FAST_GROWTH * self._length, self._usual)
        elif self._patience:
            self._patience -= 1
        else:
            self._length = self._usual = GROWTH * self._length

    def _samples(self, end: float, may_refuse: bool) -> list[Sample] | None:
        """Return times and values along a piece that resolve all functions, or None."""
        start, length, at = self._t, end - self._t, self._at
        rows = [(start, self._g), *((t, at(t)) for t in (start + x * length for x in INNER))]
        rows.append((end, at(end)))
        extra, slopes = [], []
        for i, sign in enumerate(self._signs):
            cubic = Cubic(*(values[i] for _, values in rows))
            unclear = may_refuse and not cubic.is_resolved(self._slopes[i] * length)
            # what constraints hold at zero is noise, and no function to be resolved
            if unclear and (sign or self._has_left(i, end)):
                return None
            slopes.append(cubic.slope1 / length)
            if not sign or any(change(sign, values[i]) for _, values in rows):
                continue
            x = cubic.turning_point(sign)
            if x > 0.0 and sign * cubic.at(x) < NEAR * cubic.surprise:
                values = at(start + x * length)
                off = abs(values[i] - cubic.at(x))
                if may_refuse and not change(sign, values[i]) and abs(values[i]) <= 2.0 * off:
                    return None
                extra.append((start + x * length, values))
        self._slopes = slopes
        if extra:
            rows = sorted(rows + extra, key=lambda row: abs(row[0] - start))
        return rows

    def _first(self, rows: list[Sample]) -> Happening | None:
        """Return the first event among samples, or go on to the last of them."""
        before = rows[0]
        for row in rows[1:]:
            if any(changes(self._signs, row[1])):
                happening = self._located(before, row, rows)
                if happening is not None:
                    return happening
            for i, g in enumerate(row[1]):
                self._peaks[i] = max(self._peaks[i], abs(g))
                if not self._signs[i] and abs(g) > self._noise[i] and self._has_left(i, row[0]):
                    # the sign on the constraints, where events are located: near an event the
                    # other one may still be that of before, which would be an event once more
                    self._leave_zero(i, self._exact(row[0])[i])
            before = row
            self._t, self._g = row
            self._fired = []
        return None

    def _has_left(self, i: int, t: float) -> bool:
        """Tell whether a function is away from zero on the constraints too: they may hold it."""
        return abs(self._exact(t)[i]) > self._noise[i]

    def _leave_zero(self, i: int, g: float) -> None:
        """Give a function its sign; it must not pass zero where an impact has stopped it."""
        self._signs[i] = 1 if g > 0.0 else -1
        side, came, goes = self._stopped.pop(i, (0, nan, nan))
        if self._signs[i] == -side:
            assert self._event is not None
            raise RestingContactError(
                f"{self._name}[{i}] comes to rest at t = {self._event[0][0]:.9g}: the impact there "
                f"changes its rate from {came:.3g} to {goes:.3g}, and yet it then goes on through "
                f"zero. {ADVICE}"
            )

    def _stopped_by(self, point: Any, fired: list[int]) -> dict[int, tuple[int, float, float]]:
        """Return which functions an impact, behind which is `point`, has stopped or turned.

        Not those that it has moved away from zero, and those that go on with a part of their rate,
        as through a curtain.
        """
        assert self._event is not None
        before, step = self._event
        if all(np.array_equal(x, y) for x, y in zip(before[1:], point[1:], strict=True)):
            return {}
        came, goes = self._rates(before, step), self._rates(point, step)
        return {
            i: (-self._fired[i], came[i], goes[i])
            for i in fired
            if abs(self._g[i]) <= self._noise[i]
            and self._fired[i] * came[i] > 0.0
            and self._fired[i] * goes[i] <= STOPPED * abs(came[i])
        }

    def _rates(self, point: Any, step: float) -> list[float]:
        """Return how fast the functions change at a point, along the run."""
        t, x, rate = point
        short = SHORT * step
        ends = [self._values((t + s, x + s * rate, rate)) for s in (-short, short)]
        return [(b - a) / (2.0 * abs(short)) for a, b in zip(*ends, strict=True)]

    def _located(self, low: Sample, high: Sample, rows: list[Sample]) -> Happening | None:
        """Return the event between two samples; none if on the constraints there is none."""
        exact = self._exact
        g_low, g_high = exact(low[0]), exact(high[0])
        if not any(changes(self._signs, g_high)):
            return None
        if any(changes(self._signs, g_low)):  # then it happened between there and the last sample
            before = after = low[0]
            values = g_low
        else:
            before, after, values = first_change(exact, self._signs, low[0], high[0], g_low, g_high)
        point = self.path.consistent_at(after)
        sizes = [max(abs(g[i]) for _, g in rows) for i in range(len(values))]
        self._event = point, self.path.t - self.path.t_left
        self._happened(exact(before), values, sizes, point)
        clearance = [p / n if n else inf for p, n in zip(self._peaks, self._noise, strict=True)]
        self._peaks = [0.0 if x else p for x, p in zip(self._fired, self._peaks, strict=True)]
        return Happening(after, point, list(self._fired), clearance)

    def _happened(
        self, before: list[float], after: list[float], sizes: list[float], point: Any
    ) -> None:
        """Go on from an event: who has had it, and what is rounding."""
        path = self.path
        noise = self._rounding(point, path.at(path.t_left), path.at(path.t))
        for i, scatter in enumerate(self._scatter(float(point[0]))):
            if scatter <= SCATTER * sizes[i]:
                noise[i] = max(noise[i], ROUNDING * scatter)
        for i, values in enumerate(zip(before, after, strict=True)):
            largest = max(map(abs, values))
            if change(self._signs[i], after[i]) and largest <= TINY * sizes[i]:
                noise[i] = max(noise[i], largest)
        # those that are zero to rounding have an event at the same instant
        self._fired = [
            change(sign, value) or (-sign if abs(value) <= rounding else 0)
            for sign, value, rounding in zip(self._signs, after, noise, strict=True)
        ]
        self._noise = noise
        self._signs = [0 if x else s for x, s in zip(self._fired, self._signs, strict=True)]
        self._t, self._g, self._is_new = float(point[0]), after, True
        self._slopes = [nan] * len(after)

    def _scatter(self, t: float) -> list[float]:
        """Return how much values on the constraints scatter near a time of the step.

        Constraints without gradients are differenced, and a motion that is put on them so is less
        smooth than its rounding.
        """
        path = self.path
        apart = APART * (path.t - path.t_left)
        first = t - 2.0 * apart
        if abs(first - path.t) > abs(path.t - path.t_left):
            first = path.t_left
        elif abs(path.t - first) < 4.0 * abs(apart):
            first = path.t - 4.0 * apart
        values = np.array([self._exact(first + k * apart) for k in range(5)])
        return list(np.abs(np.diff(values, 2, axis=0)).max(axis=0))

    def _at(self, t: float) -> list[float]:
        return self._values(self.path.at(t))

    def _exact(self, t: float) -> list[float]:
        return self._values(self.path.consistent_at(t))

    def _values(self, point: Any) -> list[float]:
        self.count += 1
        found = self._function(*point)
        values: list[float] = (
            found if isinstance(found, list) else np.asarray(found, dtype=float).ravel().tolist()
        )
        self._number = self._number or len(values)
        if len(values) != self._number:
            raise CallbackError(
                f"{self._name}: {len(values)} functions at t = {point[0]:.9g}, where there were "
                f"{self._number} before: their number must not change"
            )
        for i, value in enumerate(values):
            if not isfinite(value):
                raise CallbackError(
                    f"{self._name}[{i}] is {value} at t = {point[0]:.9g}; expected a finite number"
                )
        return values

    def _rounding(self, point: Any, left: Any, right: Any) -> list[float]:
        """Return up to which value each function is zero to rounding, at a point of a step.

        It is what a change of all arguments in their last places does; if a change in the places
        before does not do more, it is a jump of the function and not its rounding.
        """
        exact = self._values(point)
        sizes = [max(abs(point[0]), abs(right[0] - left[0]))] + [
            np.maximum(np.abs(x), np.maximum(np.abs(x0), np.abs(x1)))
            for x, x0, x1 in zip(point[1:], left[1:], right[1:], strict=True)
        ]

        def moved_by(units: float, seed: int) -> list[float]:
            arguments = [
                x + units * EPS * size * _signs(seed + i, np.size(x)).reshape(np.shape(x))
                for i, (x, size) in enumerate(zip(point, sizes, strict=True))
            ]
            changed = self._values(arguments)
            return [abs(a - b) for a, b in zip(changed, exact, strict=True)]

        small, large = (
            [max(x, y) for x, y in zip(moved_by(units, 1), moved_by(units, 11), strict=True)]
            for units in (4.0, 4e3)
        )
        return [ROUNDING * x if y > 10.0 * x else 0.0 for x, y in zip(small, large, strict=True)]


@cache
def _signs(seed: int, size: int) -> Array:
    """Return a pattern of -1 and 1, random but always the same."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], size)
