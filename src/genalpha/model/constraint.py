"""Constraints whose gradients nobody gives: what is known of g saves calls of it.

- g is of second degree (`second_degree`): its derivatives cost no calls. Every value of g that
  anybody asks for is compared with it; the first one that differs ends it.
- g takes complex numbers (`analytic`): a call or a few per gradient.
- Otherwise derivatives are differences of g, of columns that may change only (`structure`).

All of it is found near the start, and g may be another one later. So at every new time one value
of g beside the motion is compared with what is believed (`glance`); the first one that differs ends
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from genalpha.model.analytic import Analytic, analytic_at
from genalpha.model.callbacks import Array, VectorFunction, now
from genalpha.model.completion import Magnitude, position_acceleration, position_rate_along
from genalpha.model.differences import Groups
from genalpha.model.glance import Glance
from genalpha.model.second_degree import Quadratic, quadratic_at
from genalpha.model.structure import Differenced, Whole

T = TypeVar("T")

#: How far beside the motion a constraint of second degree is looked at, relative to q: what it is
#: there is known exactly, so that the farther, the more is seen.
NEAR = 1e-4


class Holonomic:
    """g, and G, g_t + G v and g_tt + 2 g_tq v + g_qq(v, v), none of which is given.

    Parameters
    ----------
    g : callable(t, q) -> (m,)
    groups : Groups, optional
        Of the columns of G, where it is sparse.
    user : callable, optional
        The function behind g, if it may be tried with complex numbers.
    moving : int, optional
        The number of coordinates that g may depend on.
    """

    def __init__(
        self,
        g: VectorFunction,
        groups: Groups | None,
        user: Callable[..., Any] | None = None,
        moving: int | None = None,
    ) -> None:
        self.g, self._user, self.moving = g, user, moving
        self._quadratic: Quadratic | None = None
        self._analytic: Analytic | None = None
        self._structured: Differenced | None = None
        self._tried = groups is not None
        self._complex_calls = 0
        self._glance: Glance | None = None
        # the last time at which a value beside the motion was looked at
        self._looked: float | None = None
        # the last point, G and g there
        self._last: tuple[float, Array, Any, Array] | None = None
        self._whole = Whole(g, groups)
        terms = Magnitude(self.jacobian)
        self._rate, self._acceleration = (
            make(self, terms, moving) for make in (position_rate_along, position_acceleration)
        )

    @property
    def calls(self) -> int:
        """How often the user's function was called."""
        return int(getattr(self.g, "calls", 0)) + self._complex_calls

    def __call__(self, t: float, q: Array) -> Array:
        """Return g, to be kept."""
        return self._seen(q, self.g(t, q)) if (g := self._known(t, q)) is None else g.copy()

    def now(self, t: float, q: Array) -> Array:
        """Return g, to be used before the next call."""
        return self._seen(q, now(self.g)(t, q)) if (g := self._known(t, q)) is None else g

    def _known(self, t: float, q: Array) -> Array | None:
        """Return the value that came with the last gradient, if it was here."""
        return self._last[3] if self._last is not None and self._is_last(t, q) else None

    def _is_last(self, t: float, q: Array) -> bool:
        return self._last is not None and self._last[0] == t and np.array_equal(self._last[1], q)

    def _seen(self, q: Array, value: Array) -> Array:
        doubtful = self._quadratic is not None and not self._quadratic.fits(q, value)
        if doubtful and np.isfinite(value).all():  # others tell nothing of what g is elsewhere
            self._quadratic = None
        return value

    def _look(self, t: float, q: Array) -> None:
        """Find out what g is, once; look beside the motion at every new time."""
        if not self._tried:
            self._try(t, q)
        elif self._quadratic is not None and t != self._looked:
            self._looked = t
            x = q + NEAR * self._beside(q).direction(q)
            value = _without_complaints(lambda: self.g(t, x))
            if value is None or not self._quadratic.fits(x, value):
                self._quadratic = None

    def _beside(self, q: Array) -> Glance:
        if self._glance is None:
            self._glance = Glance(q.size, self.moving)
        return self._glance

    def _try(self, t: float, q: Array) -> None:
        """Find out what g is, once."""
        self._tried, self._looked = True, t
        self._quadratic = _without_complaints(lambda: quadratic_at(self.g, t, q, self.moving))
        if self._quadratic is None and self._user is not None:
            self._analytic = analytic_at(self.g, self._counted, t, q)
        if self._quadratic is None and self._analytic is None:
            self._structured = _without_complaints(lambda: Differenced(self.g, t, q))

    def _counted(self, t: Any, q: Array) -> Any:
        """Call the user's function with complex numbers."""
        assert self._user is not None
        self._complex_calls += 1
        return self._user(t, q)

    def jacobian(self, t: float, q: Array) -> Any:
        """Return G; what was just worked out is not worked out again."""
        self._look(t, q)
        if self._quadratic is not None:
            return self._quadratic.jacobian(q)
        if not self._is_last(t, q):
            self._last = None
            self._last = t, q.copy(), *self._gradient(t, q)
        assert self._last is not None
        return self._last[2]

    def _gradient(self, t: float, q: Array) -> tuple[Any, Array]:
        """Return G and g."""
        G = self._by_complex(lambda x: x.jacobian(t, q))
        way = self._analytic or self._structured
        if way is None:
            G = self._whole(t, q)
            assert self._whole.value is not None
            return G, self._whole.value
        if G is None:
            G = way.jacobian(t, q)
        g = self.g(t, q) if way.value is None else way.value
        if t == self._looked or not way.assumes:
            return G, g
        self._looked = t
        by_time = self._by_complex(lambda x: x.by_time(t, q))
        still = way is self._analytic or way is self._structured
        if still and self._beside(q).confirms(self.g, t, q, g, G, by_time):
            return G, g
        right = self._whole(t, q)
        if way is self._structured:
            agrees = way.agrees(self.g, t, q, right)
        else:
            agrees = self._by_complex(lambda x: x.agrees(self.g, t, q, right))
        if agrees:  # it was but rounding
            return G, g
        self._analytic = self._structured = None
        return right, g

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """Return g_t + G v."""
        self._look(t, q)
        if self._quadratic is not None:
            return self._quadratic.jacobian(q) @ v
        if self._analytic is not None and t != self._looked:
            self.jacobian(t, q)
        steady = self._analytic is not None and self._analytic.steady
        if steady and self._last is not None and self._is_last(t, q):
            return np.asarray(self._last[2] @ v)
        found = self._by_complex(lambda x: x.rate(t, q, v))
        return self._rate(t, q, v) if found is None else found

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Return g_tt + 2 g_tq v + g_qq(v, v)."""
        self._look(t, q)
        if self._quadratic is not None:
            return self._quadratic.H @ v @ v
        if self._analytic is not None and t != self._looked:
            self.jacobian(t, q)
        found = self._by_complex(lambda x: x.acceleration(t, q, v))
        return self._acceleration(t, q, v) if found is None else found

    def _by_complex(self, ask: Callable[[Analytic], Any]) -> Any:
        """Return an answer by complex steps; None, and never again, if it fails."""
        if self._analytic is None:
            return None
        try:
            found = ask(self._analytic)
        except (TypeError, ValueError, ArithmeticError):
            found = None
        if found is None or not np.isfinite(found).all():
            self._analytic = None
            return None
        return found


def _without_complaints(probe: Callable[[], T | None]) -> T | None:
    """Return what a probe finds; nothing, if g fails beside the start."""
    with np.errstate(all="ignore"):
        try:
            return probe()
        except (ArithmeticError, ValueError):
            return None
