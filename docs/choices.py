"""What other choices would cost: the table of the page on Newton's iteration.

Each row runs the package with one of its parts replaced.
"""

from functools import partial

from ablation import replaced

from genalpha import integrate, mechanisms
from genalpha.numerics.newton import Newton


def matrices():
    """Rows of iterations and matrices per step, for several ways to keep a matrix."""
    rows = []
    plain = partial(replaced, Newton, "accelerated", lambda self, d, *others: d)
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
