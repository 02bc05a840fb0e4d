"""Orders of what may be chosen beside the defaults: tables and figures of the theory pages."""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from comparisons.orders import COMPONENTS, Study, after, alternating, equal, slope
from comparisons.table import number
from genalpha import Coefficients, integrate, mechanisms
from genalpha.numerics.amplification import amplification

ADJUSTMENTS = (
    ('`adjustment="gamma"`', {"adjustment": "gamma"}),
    ('`adjustment="a"`', {"adjustment": "a"}),
    ('`adjustment="drift"` (default)', {}),
    ("`adjust_steps=False`", {"adjust_steps": False}),
)


def cells(study):
    """Cells of the orders of a study; a dash where there is no such component."""
    found = study.orders()
    return [number(found.get(x), ".2f").text for x in COMPONENTS]


def gamma_studies():
    for name, length, coarsest in (("hht_test", 1.0, 150), ("pendulum_jn", 0.5, 200)):
        o = getattr(mechanisms, name)()
        counts = [coarsest, round(1.5 * coarsest), 2 * coarsest, 3 * coarsest]
        for label, options in ADJUSTMENTS:
            given = {"scheme": "GenAlphaI3", "rho_inf": 0.2, **options}
            yield name, label, Study(o, length, counts, given, alternating, after(0.25))


def order_gamma():
    """Rows of orders of GenAlphaI3 under alternating steps, for all adjustments."""
    rows = [[f"`{name}`", label, *cells(study)[:4]] for name, label, study in gamma_studies()]
    return ["mechanism", "steps h/3, 2h/3", "q", "v", "a", "lam"], rows


def gamma_update():
    """Errors over h for all adjustments."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharex=True)
    for name, label, study in gamma_studies():
        if name != "pendulum_jn":
            continue
        errors = study.errors()
        for axis, component in zip(axes, ("q", "lam"), strict=True):
            text = label.replace("`", "")
            axis.loglog(study.h, errors[component], "o-", ms=3, fillstyle="none", label=text)
            axis.set(title=f"pendulum_jn: error of {component}", xlabel="h; steps h/3, 2h/3, ...")
    axes[0].legend(fontsize=8)
    return figure


# --- starts with HHT coefficients ---------------------------------------------------------------


def first(steps):
    """Look at the first thirty steps."""
    return range(1, min(steps, 30) + 1)


def order_hht_start():
    """Rows of orders of the first steps with alpha_m = 0."""
    rows = []
    for name, length, coarsest in (
        ("jay_negrut_test", 0.3, 60), ("jay_test", 0.3, 100), ("hht_test", 0.3, 60),
        ("pendulum_jn", 0.05, 40),
    ):  # fmt: skip
        o = getattr(mechanisms, name)()
        for start in ("plain", "shifted"):
            options = {"scheme": "GenAlphaSOI2", "alpha": -0.1, "start": start,
                       "newton_accuracy": 1e-13}  # fmt: skip
            counts = [coarsest, 2 * coarsest, 4 * coarsest]
            study = Study(o, length, counts, options, equal, first, ("a", "lam", "psi"))
            rows.append([f"`{name}`", start, *cells(study)[2:]])
    return ["mechanism, HHT with $\\alpha = -0.1$", "start", "a", "lam", "psi"], rows


# --- variants of HHTI2 --------------------------------------------------------------------------

VARIANTS = (("end", 0.0), ("end", 0.3), ("predicted", 0.0), ("midpoint", 0.0),
            ("predicted midpoint", 0.0))  # fmt: skip


def variant_studies():
    o = mechanisms.hht_test()
    for variant, b in VARIANTS:
        options = {"scheme": "HHTI2", "alpha": -0.15, "variant": variant, "b": b}
        counts = [80, 120, 160, 240]
        yield variant, b, Study(o, 1.0, counts, options, alternating, after(0.25))


def hht_variants():
    """Rows of errors and orders of the variants."""
    rows = []
    for variant, b, study in variant_studies():
        errors = study.errors()
        both = [f"{x[-1]:.1e} ({slope(study.h, x):.2f})" for x in errors.values()]
        rows.append([f'`"{variant}"`', f"{b:g}", *both])
    return ["variant", "b", "q", "v", "a", "lam"], rows


def hht_variants_figure():
    """Errors of the variants over h."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharex=True)
    for variant, b, study in variant_studies():
        errors = study.errors()
        for axis, component in zip(axes, ("q", "lam"), strict=True):
            text = f"{variant}, b = {b:g}"
            axis.loglog(study.h, errors[component], "o-", ms=3, fillstyle="none", label=text)
            axis.set(title=f"hht_test: error of {component}", xlabel="h; steps h/3, 2h/3, ...")
    axes[0].legend(fontsize=8)
    return figure


# --- rho_inf = 1 and Newmark --------------------------------------------------------------------


def random_sizes(length, count):
    """Step sizes between 1 and 3 times the smallest, the same ones in every run."""
    sizes = np.random.default_rng(1).uniform(0.5, 1.5, count)
    return (length * sizes / sizes.sum()).tolist()


def undamped_steps():
    """Rows of errors of the multipliers with and without damping, equal and random steps."""
    o, rows = mechanisms.four_bar(), []
    counts = (2000, 8000)
    for rho_inf in (0.8, 1.0):
        for label, sizes in (("equal", equal), ("random", random_sizes)):
            cells = []
            for count in counts:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    s = integrate(o, 2.0, "GenAlphaSOI2", sizes(2.0, count), rho_inf=rho_inf)
                late = range(count // 2, count + 1, count // 100 + 1)
                errors = [np.abs(s.lam[i] - o.reference.motion(s.t[i]).lam).max() for i in late]
                cells.append(f"{np.median(errors):.1e}")
            rows.append([f"{rho_inf:g}", label, *cells])
    header = [f"error of lam, {n} steps" for n in counts]
    return ["$\\rho_\\infty$", "steps", *header], rows


NEWMARK = ((0.25, 0.5), (0.28, 0.55), (0.3025, 0.6), (0.36, 0.7))


def newmark_studies():
    o = mechanisms.pendulum_jn()
    for scheme in ("GenAlphaI3", "GenAlphaSOI2"):
        for beta, gamma in NEWMARK[scheme == "GenAlphaI3" :]:
            options = {"scheme": scheme, "coefficients": Coefficients.newmark(beta, gamma)}
            yield scheme, gamma, Study(o, 0.2, (100, 200, 400), options, equal, after(0.5))


def newmark_orders():
    """Rows of orders of Newmark's family."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for scheme, gamma, study in newmark_studies():
            rows.append([f"`{scheme}`", f"{gamma:g}", *cells(study)[:4]])
    return ["scheme", "$\\gamma$", "q", "v", "a", "lam"], rows


def newmark():
    """Errors of Newmark's family over h, and its damping of slow vibrations."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6))
    x = np.geomspace(1e-2, 1.0, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for scheme, gamma, study in newmark_studies():
            if scheme == "GenAlphaSOI2":
                errors = study.errors()["q"]
                left.loglog(study.h, errors, "o-", ms=3, label=f"gamma = {gamma:g}")
    for beta, gamma in NEWMARK[1:]:
        ratio = amplification(Coefficients.newmark(beta, gamma), x).damping_ratio
        right.loglog(x, ratio, label=f"gamma = {gamma:g}", color=f"C{NEWMARK.index((beta, gamma))}")
    ratio = amplification(Coefficients.chung_hulbert(0.5), x).damping_ratio
    right.loglog(x, ratio, "k--", label="Chung, Hulbert, rho_inf = 0.5")
    left.set(title="GenAlphaSOI2 on pendulum_jn: error of q", xlabel="h in s")
    right.set(title="damping ratio of an oscillator", xlabel="omega h")
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    return figure


FIGURES = {"gamma_update": gamma_update, "hht_variants": hht_variants_figure, "newmark": newmark}
TABLES = {
    "order_gamma": order_gamma,
    "order_hht_start": order_hht_start,
    "order_hht_variants": hht_variants,
    "undamped_steps": undamped_steps,
    "newmark_orders": newmark_orders,
}
