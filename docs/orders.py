"""Orders as they are measured, and coefficients: tables of the pages on the papers."""

import numpy as np

from comparisons.orders import COMPONENTS, Study, after, alternating, equal
from comparisons.table import number
from genalpha import Coefficients, integrate, mechanisms


def orders(o, length, coarsest, sizes, fraction=0.25, **options):
    """Cells of the slopes of log error over log h; a dash where there is no such component."""
    counts = [coarsest, round(1.5 * coarsest), 2 * coarsest, 3 * coarsest]
    found = Study(o, length, counts, options, sizes, after(fraction)).orders()
    return [number(found.get(x), ".2f").text for x in COMPONENTS]


def order_i3():
    """Rows of orders of GenAlphaI3 under changing steps."""
    o = mechanisms.hht_test()
    options = {"scheme": "GenAlphaI3", "rho_inf": 0.2}
    both = orders(o, 1.0, 150, alternating, **options)
    only = orders(o, 1.0, 150, alternating, adjustment="a", **options)
    none = orders(o, 1.0, 150, alternating, adjust_steps=False, **options)
    rows = [
        ["a by (14a) and v0 by the drift (default)", *both[:4]],
        ['only a by (14a) (`adjustment="a"`)', *only[:4]],
        ["neither (`adjust_steps=False`)", *none[:4]],
    ]
    return ["adjusted", "q", "v", "a", "lam"], rows


def order_soi2():
    """Rows of orders of GenAlphaSOI2 under changing steps."""
    rows = []
    for name, length, coarsest, free in (
        ("jay_negrut_test", 1.0, 100, 0),
        ("hht_test", 1.0, 150, 1),
        ("pendulum_jn", 0.5, 200, 1),
        ("rolling_disk", 0.8, 100, 3),
    ):
        o = getattr(mechanisms, name)()
        for adjust in (True, False):
            slopes = orders(
                o, length, coarsest, alternating,
                scheme="GenAlphaSOI2", rho_inf=0.2, adjust_steps=adjust,
            )  # fmt: skip
            rows.append([f"`{name}`", free, "yes" if adjust else "no", *slopes])
    return ["mechanism", "free velocities", "(14)", "q", "v", "a", "lam", "psi"], rows


def order_start():
    """Rows of orders of the first steps, by the kind of start."""
    o = mechanisms.pendulum_jn()
    rows = []
    for scheme in ("GenAlphaI3", "GenAlphaSOI2"):
        for start in ("plain", "shifted"):
            slopes = orders(o, 0.05, 40, equal, 0.0, scheme=scheme, rho_inf=0.8, start=start)
            rows.append([f"`{scheme}`", start, *slopes[:4]])
    return ["scheme", "start", "q", "v", "a", "lam"], rows


def coefficients():
    """Rows of coefficients and contraction factors."""
    rows = []
    for rho_inf in (0.0, 0.1, 0.2, 1.0 / 3.0, 0.5, 0.7, 0.8, 0.9, 1.0):
        c = Coefficients.chung_hulbert(rho_inf)
        values = (c.alpha_m, c.alpha_f, c.gamma, c.r_gamma, c.r_alpha_m, c.r_alpha_f)
        rows.append([f"{rho_inf:.3g}", *(f"{x:.3f}" for x in values)])
    names = [r"\alpha_m", r"\alpha_f", r"\gamma", r"r_\gamma", r"r_{\alpha_m}"]
    return [f"${x}$" for x in (r"\rho_\infty", *names, r"r_{\alpha_f}")], rows


def decay():
    """How fast the error of a plain start leaves `a`: ratio of two following errors."""
    o = mechanisms.rolling_disk()
    h, rows = 1e-4, []
    for rho_inf in (0.0, 0.2, 1.0 / 3.0, 0.8):
        c = Coefficients.chung_hulbert(rho_inf)
        s = integrate(o, 4 * h, "GenAlphaSOI2", h, rho_inf=rho_inf, start="plain")
        truth = [o.reference.motion(t + c.alpha * h).vdot for t in s.t[1:]]
        errors = np.linalg.norm(s.a[1:] - truth, axis=1)
        cells = (errors[1] / errors[0], c.r_gamma, c.r_alpha_m, c.r_alpha_f)
        rows.append([f"{rho_inf:.3g}", *(f"{x:.3f}" for x in cells)])
    names = [r"\rho_\infty", r"r_\gamma", r"r_{\alpha_m}", r"r_{\alpha_f}"]
    header = [f"${x}$" for x in names]
    return [header[0], "measured ratio of errors of a", *header[1:]], rows
