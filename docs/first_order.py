"""What the coefficients do to first-order modes: a figure of the theory page on states."""

import matplotlib.pyplot as plt
import numpy as np

from genalpha import Coefficients
from genalpha.numerics.first_order import first_order_radius, radius_at_infinity

SETS = (
    ("rho_inf = 1", Coefficients.chung_hulbert(1.0), "k", "-"),
    ("rho_inf = 0.8", Coefficients.chung_hulbert(0.8), "C0", "-"),
    ("rho_inf = 0.5", Coefficients.chung_hulbert(0.5), "C2", "-"),
    ("rho_inf = 0", Coefficients.chung_hulbert(0.0), "C3", "-"),
    ("HHT, alpha = -0.1", Coefficients.hht(-0.1), "C0", "--"),
    ("HHT, alpha = -0.3", Coefficients.hht(-0.3), "C2", "--"),
)


def first_order():
    """Spectral radius for decaying and for oscillating modes, and at infinity over rho_inf."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True)
    x = np.geomspace(1e-2, 1e3, 300)
    for label, c, color, line in SETS:
        style = {"color": color, "ls": line, "lw": 1.2, "label": label}
        axes[0].semilogx(x, first_order_radius(c, -x), **style)
        axes[1].semilogx(x, first_order_radius(c, 1j * x), **style)
    axes[0].semilogx(x, np.exp(-x), color="0.6", lw=3, zorder=0, label="exact (left)")
    rho = np.linspace(0.0, 1.0, 201)
    axes[2].plot(rho, [radius_at_infinity(Coefficients.chung_hulbert(r)) for r in rho], "C0")
    axes[2].plot(rho, rho, color="0.6", lw=3, zorder=0)
    axes[0].set(xlabel="-lambda h, real: decay", ylabel="spectral radius", ylim=(-0.03, 1.05))
    axes[1].set(xlabel="|lambda h|, imaginary: oscillation")
    axes[2].set(xlabel="rho_inf; grey: the same for second-order modes", title="at infinity")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8
    )
    return figure


FIGURES = {"first_order": first_order}
TABLES = {}
