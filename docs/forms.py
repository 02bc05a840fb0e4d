"""Other forms of the papers' schemes, measured: figures and tables of the theory pages."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from comparisons.papers import variants
from comparisons.papers.page import rows_table
from genalpha import Coefficients, integrate, mechanisms

mass_rows, start_rows, lunk_simeon_rows = (
    cache(f) for f in (variants.mass_choices, variants.starts, variants.lunk_simeon)
)


def mass_choices():
    """M_alpha of the step before and evaluated anew."""
    return rows_table(("mechanism", "$M_\\alpha$"), mass_rows()).rstrip()


def implicit_start():
    """Three kinds of starts."""
    return rows_table(("mechanism", "coefficients", "start"), start_rows()).rstrip()


def lunk_simeon():
    """(3.4) beside the form of Lunk and Simeon."""
    return rows_table(("mechanism", "b", "form"), lunk_simeon_rows()).rstrip()


def bars(axis, rows, labels, names, title):
    """Draw the errors of some rows side by side, for each variable."""
    width = 0.8 / len(rows)
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        values = [row.errors.get(name, np.nan) for name in names]
        axis.bar(np.arange(len(names)) + i * width, values, width, label=label, color=f"C{i}")
    axis.set_yscale("log")
    axis.set_xticks(np.arange(len(names)) + 0.4 - width / 2, names)
    axis.set_title(title, fontsize=9)
    axis.legend(fontsize=7)


def soi2_choices():
    """What M_alpha evaluated anew and the implicit start change."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4))
    rows = [row for row in mass_rows() if row.labels[0] == "jay_negrut_test"]
    names = ("q", "v", "a", "lam", "psi")
    bars(axes[0], rows, [row.labels[1] for row in rows], names,
         "M_alpha, jay_negrut_test, alternating steps")  # fmt: skip
    for axis, kind in zip(axes[1:], ("rho_inf = 0.2", "HHT, alpha = -0.1"), strict=True):
        rows = [row for row in start_rows() if row.labels[:2] == ("pendulum_jn", kind)]
        title = f"start, pendulum_jn, {kind}"
        bars(axis, rows, [row.labels[2] for row in rows], names[:4], title)
    axes[0].set_ylabel("largest error of all steps")
    return figure


def lunk_simeon_errors():
    """Errors of (3.4) and of the other form."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4))
    for axis, name in zip(axes, ("simple_pendulum", "pendulum_jn"), strict=True):
        rows = [row for row in lunk_simeon_rows() if row.labels[0] == name][1:]
        labels = [f"b = {row.labels[1]}, {row.labels[2]}" for row in rows]
        labels[0] = "b = 0, both"
        bars(axis, rows, labels, ("q", "v", "mean of Lambda"), name)
    axes[0].set_ylabel("error at the end")
    return figure


def multistep():
    """How well a run satisfies the multistep form, beside the same with `a` for vdot."""
    o, h, c = mechanisms.slider_crank(), 5e-3, Coefficients.chung_hulbert(0.7)
    s = integrate(o, 1.0, "GenAlphaI3", h, coefficients=c, start="plain", newton_accuracy=1e-13)
    form = c.multistep

    def weighed(values, weights):
        count = len(values) - len(weights) + 1
        return sum(w * values[k : k + count] for k, w in enumerate(weights))

    left = {
        "(14), over h²": (
            weighed(s.q, form.a) + h * weighed(s.v[:-1], form.u) - h**2 * weighed(s.vdot, form.b)
        )
        / h**2,
        "(15), over h": (weighed(s.v, form.a) - h * weighed(s.vdot, form.c)) / h,
        "(18), over h": (weighed(np.diff(s.q, axis=0) / h, form.a) - h * weighed(s.vdot, c.b_prime))
        / h,
        "(15) with a for q'', over h": (weighed(s.v, form.a) - h * weighed(s.a, form.c)) / h,
    }
    figure, axis = plt.subplots(figsize=(7, 3.4))
    axis.semilogy(s.t, np.abs(s.vdot).max(axis=1), "k", lw=1.0, label="largest acceleration")
    for label, values in left.items():
        axis.semilogy(s.t[-len(values) :], np.abs(values).max(axis=1), lw=0.8, label=label)
    axis.set(xlabel="t in s", ylabel="left over")
    figure.legend(loc="outside right center", fontsize=8)
    return figure


FIGURES = {
    "soi2_choices": soi2_choices,
    "lunk_simeon_errors": lunk_simeon_errors,
    "multistep": multistep,
}
TABLES = {
    "mass_choices": mass_choices,
    "implicit_start": implicit_start,
    "lunk_simeon": lunk_simeon,
}
