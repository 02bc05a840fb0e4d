"""Mukharlyamov's theorems as printed beside ours: figure and table of his page."""

import matplotlib.pyplot as plt
import numpy as np

from comparisons.papers import mukharlyamov


def bounds():
    """A run that reaches its bound, and one that does not."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    for axis, run, title in (
        (axes[0], mukharlyamov.sharp(), "speed t²/2: equal remainders"),
        (axes[1], mukharlyamov.loose(), "speed sin(40 t)/1600: remainders of both signs"),
    ):
        size = np.abs(run.deviation[:, 0])
        axis.plot(run.t, size, lw=0.9, color="C0", label="|f'|")
        axis.axhline(run.printed, color="k", ls="--", lw=1.2, label="eps, as printed and here")
        axis.set(title=title, xlabel="t in s")
    axes[0].set_ylabel("deviation from the constraint")
    axes[0].legend(fontsize=8, loc="lower right")
    return figure


FIGURES = {"bounds": bounds}
TABLES = {"printed_bounds": mukharlyamov.table}
