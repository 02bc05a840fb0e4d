"""What suits a mechanism and a wanted error: scheme, options, and a first number of steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genalpha.driver.extrapolation.inertia import Way, singular_at
from genalpha.driver.options import NEWTON, STEPS, Options
from genalpha.errors import UnsupportedProblemError
from genalpha.model import Mechanism
from genalpha.numerics.accuracy import FULL
from genalpha.schemes import SCHEMES
from genalpha.schemes.hht import initial_solver

#: The first run, which finds the grid and the sizes of the motion: its scheme, the cheapest, and
#: its tolerances unless the user gives them.
FIRST, LOOSE = "GenAlphaI3", {"rtol": 1e-2, "atol": 1e-3}
#: With these, Newton's accuracy: what is left would make the grid rough.
ACCURATE = 1e-4
#: Newton's accuracy, relative to the smallest wanted error; and its loosest.
NEWTON_PART, LOOSEST = 0.01, 1e-6
#: With as many steps as the first run has, columns of these orders have about these errors
#: (symmetric schemes, others); errors of multipliers are larger by about this.
USUAL_ORDER, USUAL_ERROR, MULTIPLIERS = {True: 8, False: 4}, {True: 3e-9, False: 2e-5}, 10.0
#: Steps of the coarsest run per step of the first one: least and most at first.
SPARSEST, DENSEST = {True: 0.4, False: 0.5}, {True: 1.2, False: 4.0}


def suited(
    scheme: str, o: Mechanism, options: Mapping[str, Any], tighter: float = 1.0
) -> tuple[Options, bool]:
    """Return the options of the runs, and whether they make the scheme symmetric.

    Schemes that can be symmetric are, unless their coefficients are given: half as many columns do.
    Newton's iteration is better than it must be for the wanted error by the factor `tighter`.
    """
    given, symmetric = dict(options), SCHEMES[scheme].symmetric(o)
    chosen = Options(scheme, o, **given)
    if given.get("newton_accuracy") is None:
        smallest = tighter * min(chosen.error.values())
        given["newton_accuracy"] = min(LOOSEST, max(FULL, NEWTON_PART * smallest))
    if given.get("coefficients") is None:
        for name, value in symmetric.items():
            if getattr(chosen, name) != value:
                given.setdefault(name, value)
    chosen = Options(scheme, o, **given)
    fits = symmetric and all(getattr(chosen, name) == x for name, x in symmetric.items())
    return chosen, bool(fits) and chosen.coefficients is None


def cheapest(o: Mechanism, way: Way | None = None) -> str:
    """Return the scheme that takes least work to an error: a symmetric one, if there is one.

    HHTI2 needs M^-1, also on the way of a loose run, if that is known.
    """
    if o.n_lam and not o.n_psi:
        try:
            initial_solver(o, o.t0, o.q0)
        except UnsupportedProblemError:
            return FIRST
        if way is None or singular_at(o, way) is None:
            return "HHTI2"
    return FIRST


def of_first_run(o: Mechanism, options: Mapping[str, Any]) -> Options:
    """Return the options of the first run, which shares some."""
    names = {name for option in (*STEPS, *NEWTON) for name in (option.name, option.alias)}
    shared = {name: x for name, x in options.items() if name in names - {"newton_accuracy"}}
    if not LOOSE.keys() & shared.keys():
        shared["newton_accuracy"] = ACCURATE
    return Options(FIRST, o, **{**LOOSE, **shared})


def first_density(wanted: Mapping[str, float], symmetric: bool, first: Options) -> float:
    """Return how many steps the coarsest run has at first, per step of the first one."""
    aim = min(x / (MULTIPLIERS if kind in ("lam", "psi") else 1.0) for kind, x in wanted.items())
    needed = (USUAL_ERROR[symmetric] / aim) ** (1.0 / USUAL_ORDER[symmetric])
    least = 1.0 if first.maxh else SPARSEST[symmetric]  # a largest step holds for every run
    return float(min(max(needed, least), DENSEST[symmetric]))
