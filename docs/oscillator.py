"""What the coefficients do to an oscillator and to constraints: figures of the theory pages."""

import matplotlib.pyplot as plt
import numpy as np

from genalpha import Coefficients
from genalpha.numerics.amplification import amplification, overshoot
from genalpha.numerics.roots import acting

SETS = (
    ("Chung, Hulbert, rho_inf = 1", Coefficients.chung_hulbert(1.0), "k", "-"),
    ("Chung, Hulbert, rho_inf = 0.8", Coefficients.chung_hulbert(0.8), "C0", "-"),
    ("Chung, Hulbert, rho_inf = 0.5", Coefficients.chung_hulbert(0.5), "C2", "-"),
    ("Chung, Hulbert, rho_inf = 0", Coefficients.chung_hulbert(0.0), "C3", "-"),
    ("HHT, alpha = -0.1", Coefficients.hht(-0.1), "C0", "--"),
    ("HHT, alpha = -0.2", Coefficients.hht(-0.2), "C2", "--"),
    ("Newmark, beta = 0.3025, gamma = 0.6", Coefficients.newmark(0.3025, 0.6), "C1", ":"),
)


def oscillator():
    """Spectral radius, damping ratio, period error and overshoot over omega h."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4))
    wide, low = np.geomspace(1e-2, 1e3, 300), np.linspace(1e-3, 2.5, 200)
    high = wide[wide >= 1.0]
    for label, c, color, line in SETS:
        style = {"color": color, "ls": line, "lw": 1.2, "label": label}
        axes[0, 0].semilogx(wide, amplification(c, wide).radius, **style)
        found = amplification(c, low)
        axes[0, 1].plot(low, found.damping_ratio, **style)
        axes[1, 0].plot(low, found.period_error, **style)
        largest = [overshoot(c, x, 40)[1].max() for x in high]
        axes[1, 1].loglog(high, largest, **style)
    axes[0, 0].set(ylabel="spectral radius", xlabel="omega h")
    axes[0, 1].set(ylabel="damping ratio", xlabel="omega h", ylim=(-0.01, 0.25))
    axes[1, 0].set(ylabel="(period - true period) / true period", xlabel="omega h")
    axes[1, 1].set(ylabel="largest |v| / (omega |q0|), from v0 = 0", xlabel="omega h")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def roots():
    """Roots that act on constrained systems, over rho_inf and over alpha."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
    rho, alpha = np.linspace(0.0, 1.0, 201), np.linspace(-1.0 / 3.0, 0.0, 201)
    for axis, x, make, label in (
        (axes[0], rho, Coefficients.chung_hulbert, "rho_inf (Chung and Hulbert)"),
        (axes[1], alpha, Coefficients.hht, "alpha (HHT)"),
    ):
        found = [acting(make(value), position=True, velocity=True) for value in x]
        for i, (text, color, line) in enumerate(
            (
                ("r_alpha_m: a, free directions", "C2", "-"),
                ("r_gamma: a, constraints kept at velocity level", "C0", "-"),
                ("Lemma 1: a and v, kept at position level only", "C3", "-"),
                ("r_alpha_f: multipliers", "k", "--"),
            )
        ):
            axis.plot(x, [row[i].modulus for row in found], color=color, ls=line, label=text)
        axis.set(xlabel=label)
    axes[0].set(ylabel="factor per step", ylim=(-0.03, 1.05))
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, fontsize=8)
    return figure


FIGURES = {"oscillator": oscillator, "roots": roots}
TABLES = {}
