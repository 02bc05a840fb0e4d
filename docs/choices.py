"""What other choices would cost: tables of the pages on adaptive steps and on Newton's iteration.

Each row runs the package with one of its parts replaced.
"""

from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np

from genalpha import integrate, mechanisms
from genalpha.driver import Options, Solution, Stepper
from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.march import March
from genalpha.driver.record import Record
from genalpha.numerics import step_control
from genalpha.numerics import trend as trends
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.newton import Newton
from genalpha.numerics.step_control import Controller
from genalpha.schemes import SCHEMES

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)
WIDE = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


class PI(Controller):
    """A controller that answers to the last two errors."""

    def _predicted(self, error, h):
        last_error, _ = self._last
        return self._towards_aim(error, 0.3) * (last_error / error) ** (0.4 / (self.order + 1))


@contextmanager
def replaced(holder, name, value):
    """Put another value in the place of an attribute for a while."""
    kept = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, kept)


def controlled(o, end, tol, controller):
    """Integrate with another controller of the step sizes than `integrate` has."""
    stepper = Stepper(o, Options(), tolerance=tol)
    march = March(stepper, AdaptiveSteps(tol, tol, controller=controller))
    record = Record(march, complete=True)
    march.begin(Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess()), end)
    record.run(end)
    return Solution(o, record.times, record.knots, record.a, stepper.counters, None)


def controllers():
    """Rows of errors and costs of the squeezer for several controllers."""
    o, end = mechanisms.andrews_squeezer(), 0.03
    times = np.linspace(0.1, 1.0, 10) * end
    truth = np.array([o.reference.motion(t).q for t in times])
    rows = []
    for name, make in (
        ("PI, dead band 0.9 to 1.2", partial(PI, keep=(0.9, 1.2))),
        ("PI, dead band 0.99 to 1.01", PI),
        ("predictive, dead band 0.9 to 1.2", partial(Controller, keep=(0.9, 1.2))),
        ("predictive, dead band 0.99 to 1.01 (default)", Controller),
    ):
        runs = [controlled(o, end, tol, make()) for tol in TOLERANCES]
        errors = [f"{np.abs(s(times).q - truth).max():.1e}" for s in runs]
        count = runs[-1].statistics
        rows.append([name, *errors, count.nsteps, count.nerrfails, count.njacs])
    last = f"at {TOLERANCES[-1]:.0e}"
    header = [f"error of q at {tol:.0e}" for tol in TOLERANCES]
    return ["controller", *header, f"steps {last}", "rejected", "matrices"], rows


def trend():
    """Rows of slopes on the squeezer, with the constants of the trend changed one by one."""
    rows = [slopes("as they are"), slopes("no trend", (trends, "AHEAD", 0.0))]
    constants = [(trends, x) for x in ("AHEAD", "FALL", "LATEST", "LIMIT")]
    for holder, name in (*constants, (step_control, "AGAIN")):
        for factor in (0.75, 1.25):
            changed = factor * getattr(holder, name)
            rows.append(slopes(f"`{name}` {changed:.3g}", (holder, name, changed)))
    return ["constants", *SCHEMES, "rejected, at most"], rows


def slopes(text, change=None):
    """A row of `trend`."""
    o, end = mechanisms.andrews_squeezer(), 0.03
    times = np.linspace(0.1, 1.0, 10) * end
    truth = np.array([o.reference.motion(t).q for t in times])
    cells, rejected = [], 0.0
    with replaced(*change) if change else nullcontext():
        for scheme in SCHEMES:
            runs = [integrate(o, end, scheme, rtol=tol, atol=tol) for tol in WIDE]
            errors = [np.abs(s(times).q - truth).max() for s in runs]
            cells.append(f"{np.polyfit(np.log(WIDE), np.log(errors), 1)[0]:.2f}")
            counts = [s.statistics for s in runs]
            rejected = max(rejected, *(x.nerrfails / x.nsteps for x in counts))
    return [text, *cells, f"{rejected:.0%}"]


def matrices():
    """Rows of iterations and matrices per step, for several ways to keep a matrix."""
    rows = []
    plain = partial(replaced, Newton, "accelerated", lambda self, d, n, weight: d)
    kept = partial(replaced, Newton, "accelerated", Newton.accelerated)
    for name, options, change in (
        ('`"auto"`', {}, kept),
        ('`"auto"` without Broyden\'s updates', {}, plain),
        ('`"every step"`', {"jacobian": "every step"}, kept),
        ('`"every iteration"`', {"jacobian": "every iteration"}, kept),
    ):
        cells = []
        with change():
            for o, end, steps in (
                (mechanisms.simple_pendulum(), 10.0, {"h": 1e-2}),
                (mechanisms.andrews_squeezer(), 0.03, {"rtol": 1e-5, "atol": 1e-5}),
            ):
                count = integrate(o, end, "GenAlphaI3", **steps, **options).statistics
                cells += [f"{x / count.nsteps:.2f}" for x in (count.nniters, count.njacs)]
        rows.append([name, *cells])
    header = ["pendulum, h = 0.01: iterations per step", "matrices per step"]
    return [
        "`jacobian`",
        *header,
        "squeezer, rtol 1e-5: iterations per step",
        "matrices per step",
    ], rows
