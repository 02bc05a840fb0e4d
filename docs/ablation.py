"""What each constant of the step control does, on mechanisms that it was not chosen on.

The constants were chosen on the mechanisms of `TRAINING`. Here each of them is changed by a
quarter, and taken away, and the others, `HELD_OUT`, show what that costs. The same for what
Newton's iteration may leave, which was chosen on the mechanisms of the page on plain residuals.
"""

from contextlib import ExitStack, contextmanager
from functools import cache
from math import inf

import numpy as np

from comparisons.cases import CASES
from genalpha import integrate
from genalpha.numerics import step_control, trend
from genalpha.numerics.accuracy import for_tolerance
from genalpha.schemes import SCHEMES

#: Names of the comparisons' cases.
TRAINING = ("simple_pendulum", "assimulo_pendulum", "four_bar", "andrews_squeezer", "chain_5")
HELD_OUT = (
    "pendulum_jn",
    "driven_pendulum",
    "spherical_pendulum",
    "slider_crank",
    "closed_chain",
    "rolling_disk",
    "heavy_top",
    "car_axis",
)
SCHEME = "GenAlphaSOI2"
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
#: Where a constant is, its name, and what it is when it is taken away: nothing is moved, all the
#: way to the aim at once, the second try as the aim says, no bound.
CONSTANTS = (
    (trend, "AHEAD", 0.0),
    (trend, "STEEPEST", inf),
    (step_control, "GAIN", 1.0),
    (step_control, "AIM", 1.0),
    (step_control, "AGAIN", step_control.AIM),
)
#: What Newton's iteration may leave is changed by these factors,
FACTORS = (0.2, 5.0)
#: and was not chosen on these cases.
UNSEEN = ("pendulum_jn", "driven_pendulum", "spherical_pendulum")
#: A new matrix costs as much as so many of Newton's iterations.
MATRIX = 5


@contextmanager
def replaced(holder, name, value):
    """Put another value in the place of an attribute for a while."""
    kept = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, kept)


@cache
def truth(name):
    """Return ten times, and the true positions there."""
    case = CASES[name]
    times = np.linspace(0.1, 1.0, 10) * case.t_final
    return times, np.array([case.make().reference.motion(t).q for t in times])


@cache
def mechanism(name):
    """Return the mechanism of a case."""
    return CASES[name].make()


class Series:
    """Runs of one mechanism at all tolerances: errors, work, rejected steps.

    With `share`, Newton's iteration may leave another part of tol^(2/3) than it does.
    """

    def __init__(self, name, scheme=SCHEME, share=None):
        times, q = truth(name)
        self.errors, self.work, self.rejected = [], [], 0.0
        for tol in TOLERANCES:
            accuracy = None if share is None else for_tolerance(tol, share)
            s = integrate(
                mechanism(name), CASES[name].t_final, scheme, rtol=tol, atol=tol, t_eval=times,
                newton_accuracy=accuracy,
            )  # fmt: skip
            count = s.statistics
            self.errors.append(np.abs(s.q - q).max())
            self.work.append(count.nniters + MATRIX * count.njacs)
            self.rejected = max(self.rejected, count.nerrfails / count.nsteps)

    @property
    def slope(self):
        """By which power of the tolerance errors fall."""
        return np.polyfit(np.log(TOLERANCES), np.log(self.errors), 1)[0]

    @property
    def middle(self):
        """The mean of the errors, geometrically."""
        return np.exp(np.mean(np.log(self.errors)))

    def work_at(self, error):
        """Return the work for an error, from a line through the logarithms."""
        line = np.polyfit(np.log(self.errors), np.log(self.work), 1)
        return np.exp(np.polyval(line, np.log(error)))


def changes():
    """Return what is changed in each row: a text, and the replacements."""
    yield "as they are", ()
    yield "no trend at all", ((trend, "STEEPEST", 0.0),)
    for holder, name, nothing in CONSTANTS:
        value = getattr(holder, name)
        for other in (0.75 * value, 1.25 * value):
            yield f"`{name}` {other:.3g}", ((holder, name, other),)
        yield f"`{name}` taken away ({nothing:g})", ((holder, name, nothing),)


def ablation(names=HELD_OUT):
    """Rows of work at equal error relative to the constants as they are, slope, and rejections."""
    rows, base = [], {}
    for text, replacements in changes():
        cells, rejected = [], 0.0
        with ExitStack() as stack:
            for each in replacements:
                stack.enter_context(replaced(*each))
            for name in names:
                series = Series(name)
                first = base.setdefault(name, series)
                ratio = series.work_at(first.middle) / first.work_at(first.middle)
                cells.append((ratio, series.slope))
                rejected = max(rejected, series.rejected)
        mean = np.exp(np.mean([np.log(ratio) for ratio, _ in cells]))
        shown = [f"{ratio:.2f} · {slope:.2f}" for ratio, slope in cells]
        rows.append([text, *shown, f"{mean:.2f}", f"{rejected:.0%}"])
    return ["constants", *(f"`{x}`" for x in names), "work, mean", "rejected, at most"], rows


def newton_shares(names=UNSEEN, factors=FACTORS):
    """Rows of work at equal error, and slopes, where Newton's iteration may leave more or less."""
    rows = []
    for scheme, kind in SCHEMES.items():
        base = {name: Series(name, scheme) for name in names}
        for factor in (1.0, *factors):
            share, cells = factor * kind.newton_share, []
            for name, first in base.items():
                series = first if factor == 1.0 else Series(name, scheme, share)
                middle = first.middle
                cells.append((series.work_at(middle) / first.work_at(middle), series.slope))
            mean = np.exp(np.mean([np.log(ratio) for ratio, _ in cells]))
            shown = [f"{ratio:.2f} · {slope:.2f}" for ratio, slope in cells]
            rows.append([f"`{scheme}`", f"{share:g}", *shown, f"{mean:.2f}"])
    return ["scheme", "share", *(f"`{x}`" for x in names), "work, mean"], rows
