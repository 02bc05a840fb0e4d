"""Many runs at once: how often the second arm of a double pendulum turns over.

The mechanism is given by its Lagrangian, so that each run is machine code; the runs share the
cores. Needs SymPy and matplotlib.
"""

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from genalpha import Mechanism, sweep


def double_pendulum():
    """Two point masses on massless rods of 1 m, in angles from the vertical."""
    a, b = dynamicsymbols("a b")
    g = sp.Symbol("g")
    u, w = a.diff(), b.diff()
    T = u**2 + w**2 / 2 + u * w * sp.cos(a - b)
    V = -g * (2 * sp.cos(a) + sp.cos(b))
    return Mechanism.from_lagrangian(T - V, [a, b], q0=[0, 0], parameters={"g": 9.81})


def main(points=60, t_final=3.0):
    """Return the angles of the starts, and the turns: rows are second angles, columns first."""
    angles = np.linspace(-np.pi, np.pi, points)
    a, b = np.meshgrid(angles, angles)
    starts = np.stack([a.ravel(), b.ravel()], axis=1)
    runs = sweep(
        double_pendulum(), {"q0": starts}, t_final, h=5e-3, t_eval=[t_final], progress=True
    )
    assert not runs.failures, runs.failures
    return angles, (runs.q[:, -1, 1] / (2 * np.pi)).reshape(points, points)


def plot(angles, turns):
    """Return a picture."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.2, 4.2), layout="constrained")
    largest = np.abs(turns).max()
    shown = axes.pcolormesh(angles, angles, turns, cmap="RdBu", vmin=-largest, vmax=largest)
    axes.set(xlabel="first angle at the start (rad)", ylabel="second angle at the start (rad)")
    axes.set_aspect("equal")
    figure.colorbar(shown, label="turns of the second arm after 3 s")
    return figure


if __name__ == "__main__":
    plot(*main()).savefig("sweep.png", dpi=150)
