"""The whole motion: windows, one after another, from impact to impact, and their errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from genalpha.driver.events import Events
from genalpha.driver.extrapolation.carry import (
    Impact,
    Inherited,
    at_end,
    over_impact,
    through_window,
)
from genalpha.driver.extrapolation.inertia import singular_at
from genalpha.driver.extrapolation.lookout import Lookout
from genalpha.driver.extrapolation.loose import Loose, loose_run
from genalpha.driver.extrapolation.measure import Pair, Sizes
from genalpha.driver.extrapolation.suited import cheapest, first_density, of_first_run, suited
from genalpha.driver.extrapolation.windows import Budget, Pass, Window, divided, scaled, share
from genalpha.driver.options import Options
from genalpha.driver.stepper import Stepper
from genalpha.errors import (
    ConvergenceError,
    GenAlphaError,
    InvalidOptionError,
    SingularSystemError,
    UnsupportedProblemError,
)
from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.redundancy import Reduction

Array = np.ndarray

#: Of what follows an impact, less than this part of the time is rounding.
ROUNDING = 1e-13


class Leg(NamedTuple):
    """The motion from one impact to the next; `impact` is what ends it, if that is not the end."""

    mechanism: Mechanism
    windows: list[Window]
    impact: Impact | None


class Legs:
    """Goes through the whole motion, as often as it must.

    Parameters
    ----------
    start : Knot
    t_final : float
    scheme : str or None
        None: the cheapest for each mechanism.
    options : mapping
    counters : Counters
        Of the loose runs.
    inherited : Inherited, optional

    Attributes
    ----------
    sizes : Sizes
        The largest values so far.
    budget : Budget
    counted : list of Counters
        Of all runs but the loose ones.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        start: Knot,
        t_final: float,
        scheme: str | None,
        options: Mapping[str, Any],
        counters: Counters,
        inherited: Inherited | None = None,
    ) -> None:
        self._inherited = inherited or Inherited(None, 0, False)
        self._mechanism, self._start, self._t_final = mechanism, start, t_final
        self._scheme, self._options, self._counters = scheme, options, counters
        self.sizes = Sizes(mechanism.n_moving)
        self.maxsteps = of_first_run(mechanism, options).maxsteps
        self.budget = Budget(self.maxsteps)
        self.counted: list[Counters] = []
        self._loose: Loose | None = None
        self._count = 0

    def through(self, events: Events, tighter: float, density: float | None) -> list[Leg]:
        """Go through the motion once.

        Parameters
        ----------
        events : Events
            Takes down what happens.
        tighter : float
            Windows must be better than wanted by this.
        density : float or None
            Steps of the coarsest runs per step of the loose one; None: a first guess.
        """
        o, start, self._count = self._mechanism, self._start, self._inherited.pieces
        lookout = Lookout(events, start.t)
        legs: list[Leg] = []
        while True:
            lookout.begin(start)
            leg, stepper = self._leg(o, start, lookout, tighter, density)
            if leg[-1].stop is None or lookout.is_over:
                return [*legs, Leg(o, leg, None)]
            leg[-1] = _snapped(leg[-1], self._t_final)
            impact = _impact(events, lookout.wanted, stepper.full, leg[-1])
            legs.append(Leg(o, leg, impact))
            o, start = impact.following, impact.after
            if start.t == self._t_final:  # of the motion after it there is only its start
                return [*legs, Leg(o, [_standing(leg[-1], start)], None)]

    def _leg(
        self, o: Mechanism, start: Knot, lookout: Lookout, tighter: float, density: float | None
    ) -> tuple[list[Window], Stepper]:
        """Go on to the next impact, or to the end."""
        first = of_first_run(o, self._options)
        loose = self._ahead(o, start, lookout, first)
        windows = divided(loose.times)
        count = self._counted(windows)
        scheme = self._scheme or cheapest(o, loose.way)
        chosen, symmetric = suited(scheme, o, self._options, tighter * share(count))
        if chosen.faults:
            raise InvalidOptionError(f"integrate, with {scheme}", chosen.faults)
        wanted = scaled(chosen.error, tighter)
        density = density or first_density(scaled(wanted, share(count)), symmetric, first)
        stepper = Stepper(o, chosen)
        self.counted.append(stepper.counters)
        through = Pass(stepper, symmetric, chosen.newton_accuracy, self.budget)
        found: list[Window] = []
        while True:
            absolute = self.sizes.absolute(wanted)
            try:
                found += through.through(start, windows, absolute, count, density, lookout.look)
            except (ConvergenceError, SingularSystemError) as error:
                t = singular_at(o, loose.way) if scheme == "HHTI2" else None
                if t is None:
                    raise
                raise _without_mass(o, t, error) from error
            if loose.times[-1] == self._t_final or found[-1].stop is not None:
                return found, stepper
            start = through.end(found[-1], start)
            loose = self._ahead(o, start, lookout, first)
            windows = divided(loose.times)
            count = self._counted(windows)

    def _counted(self, windows: Sequence[Array]) -> int:
        """Return how many windows there are with the next ones, and one more if others follow."""
        is_last = windows[-1][-1] == self._t_final
        self._count += len(windows)
        return self._count + (not is_last or self._inherited.follows)

    def _ahead(self, o: Mechanism, start: Knot, lookout: Lookout, first: Options) -> Loose:
        """Return a loose run; without events there is one for all passes."""
        if self._loose is None or lookout.events.functions:
            ahead = lookout.ahead()
            self._loose = loose_run(o, start, self._t_final, first, self._counters, *ahead)
            self.sizes.include(self._loose.sizes)
        return self._loose


def _without_mass(o: Mechanism, t: float, error: GenAlphaError) -> UnsupportedProblemError:
    """Say why HHTI2 has failed."""
    return UnsupportedProblemError(
        f"{o.name}: the mass matrix becomes singular near t = {t:.6g}, and HHTI2 needs its inverse "
        f"({error}). GenAlphaI3 and GenAlphaSOI2 do not, if constraints determine what has no mass"
    )


def _snapped(window: Window, t_final: float) -> Window:
    """Return a window whose last time is the end of the motion if it is that but for rounding."""
    t = float(window.times[-1])
    if abs(t_final - t) > ROUNDING * max(abs(t_final), abs(t)):
        return window
    return window._replace(times=np.append(window.times[:-1], t_final))


def _standing(window: Window, start: Knot) -> Window:
    """Return a window without length; its errors are those of the end of the one before."""
    q, v = (x[-1:] for x in window.bounds)
    return window._replace(
        times=window.times[-1:],
        motion=(start.q[None], start.v[None]),
        signed=(window.signed[0][-1:], window.signed[1][-1:]),
        bounds=(q, v),
        parts=window.parts[-1:],
    )


def _impact(events: Events, wanted: list[int], o: Mechanism, window: Window) -> Impact:
    """Return the motion on both sides of the impact that ends a window."""
    t, (q, v) = float(window.times[-1]), (x[-1] for x in window.motion)
    before = _completed(o, t, q, v)
    following, q, v = events.after(o, wanted, t, q, v)
    return Impact(wanted, o, before, following, _completed(following, t, q, v))


def _completed(o: Mechanism, t: float, q: Any, v: Any) -> Knot:
    """Return a motion on the constraints with accelerations and multipliers, redundant or not."""
    reduction = Reduction(o, t, q, v)
    guess = reduction.restrict(*o.multiplier_guess())
    vdot, lam, psi = accelerations(reduction.mechanism, t, q, v, *guess)
    return Knot(t, q, v, vdot, *reduction.expand(t, q, v, lam, psi))


def carried(
    legs: list[Leg],
    events: Events,
    sizes: Sizes,
    budget: Budget,
    off: Pair | None = None,
) -> tuple[list[Leg], bool]:
    """Return legs whose errors have all earlier ones in them, and `off`, that of the start.

    And whether impacts do the same when they are asked again.
    """
    n = legs[0].mechanism.n_q
    off = (np.zeros(n), np.zeros(n)) if off is None else off
    found, repeatable = [], True
    for leg in legs:
        windows = []
        for window in leg.windows:
            windows.append(through_window(window, off, sizes, budget))
            off = at_end(windows[-1], sizes)
        if leg.impact is not None:
            off, same = over_impact(events, leg.impact, off, sizes)
            repeatable &= same
        found.append(leg._replace(windows=windows))
    return found, repeatable
