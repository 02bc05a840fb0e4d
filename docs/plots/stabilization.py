"""Draw the plot of the page theory/mukharlyamov-2000.md: python docs/plots/stabilization.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from genalpha import consistent_initial_values, integrate, mechanisms
from genalpha.stabilization.gains import Gains

TARGET = Path(__file__).parents[1] / "pages" / "theory" / "stabilization.svg"
H, T_FINAL = 5e-4, 15.0


def moved(o, f, f_dot):
    """Return a mechanism that starts with given deviations."""
    start = consistent_initial_values(
        o.replace(
            holonomic=lambda t, q: o.holonomic(t, q) - f,
            holonomic_rate=lambda t, q, v: o.holonomic_rate(t, q, v) - f_dot,
        )
    )
    return o.replace(q0=start.q, v0=start.v)


def draw(ax, o, scheme):
    """Draw the largest deviation so far of four runs, and the bound."""
    kept = integrate(o, T_FINAL, scheme, H, gains="auto")
    off = moved(o, *(1.0 - 1e-9) * kept.promise.edge(np.array([0.0, 1.0])))
    runs = {
        "no gains, consistent start": (o, Gains.none(), "tab:orange"),
        "no gains, start off by eps": (off, Gains.none(), "tab:red"),
        "gains='auto', consistent start": (o, kept.gains, "tab:cyan"),
        "gains='auto', start off by eps": (off, kept.gains, "tab:blue"),
    }
    for label, (mechanism, gains, color) in runs.items():
        deviation = integrate(mechanism, T_FINAL, scheme, H, gains=gains).deviation
        size = np.maximum.accumulate(np.abs(deviation.values[:, 0]))
        shown = np.unique(np.geomspace(1, size.size - 1, 500).astype(int))
        ax.loglog(deviation.t[shown], size[shown], color=color, label=label)
    bound = kept.deviation.promised[0]
    ax.axhline(bound, color="k", ls="--", lw=1.2, label="eps, promised before the runs")
    ax.set(title=f"{scheme}, h = {H:g} s", xlabel="t in s")
    ax.grid(alpha=0.3, lw=0.4)


def main():
    plt.rcParams["svg.hashsalt"] = "genalpha"
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, constrained_layout=True)
    for ax, scheme in zip(axes, ("StabilizedEuler", "StabilizedRK2"), strict=True):
        draw(ax, mechanisms.driven_pendulum(), scheme)
    axes[0].set_ylabel("largest |f| so far, in m²")
    axes[1].legend(loc="upper left", fontsize=8)
    figure.suptitle("Driven pendulum: deviation from the position constraint, 30 000 steps")
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    main()
