"""Multipliers at the start and where the step size changes: figures of the theory pages."""

import matplotlib.pyplot as plt
import numpy as np

from genalpha import integrate, mechanisms

RHO, H = 0.9, 5e-3


def errors_of_lam(o, sizes, **options):
    """Times and errors of the multipliers of all steps."""
    s = integrate(o, sum(sizes), h=sizes, newton_accuracy=1e-13, **options)
    true = np.array([o.reference.motion(t).lam for t in s.t])
    return s.t, np.linalg.norm(s.lam - true, axis=1)


def starts():
    """The first 60 steps with both kinds of starts."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    o = mechanisms.pendulum_jn()
    for axis, scheme in zip(axes, ("GenAlphaI3", "GenAlphaSOI2"), strict=True):
        for start, color in (("plain", "C3"), ("shifted", "C0")):
            _, errors = errors_of_lam(o, [H] * 60, scheme=scheme, rho_inf=RHO, start=start)
            axis.semilogy(range(1, 61), errors[1:], color=color, label=f'start="{start}"')
        axis.set(title=scheme, xlabel="step")
    axes[0].set_ylabel("error of lam in N")
    axes[0].legend(fontsize=8)
    return figure


def one_change():
    """The step size is halved once, with several adjustments."""
    o = mechanisms.pendulum_jn()
    sizes = [H] * 40 + [H / 2.0] * 40
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    runs = {
        "GenAlphaI3": (
            ("nothing", {"adjust_steps": False}, "C3"),
            ("a by (14a)", {"adjustment": "a"}, "C1"),
            ("a and the drift of v (default)", {}, "C0"),
        ),
        "GenAlphaSOI2": (
            ("nothing", {"adjust_steps": False}, "C3"),
            ("(14a), (14b) (default)", {}, "C0"),
        ),
    }
    for axis, (scheme, kinds) in zip(axes, runs.items(), strict=True):
        for label, options, color in kinds:
            t, errors = errors_of_lam(o, sizes, scheme=scheme, rho_inf=0.5, **options)
            axis.semilogy(t[20:], errors[20:], ".-", ms=3, lw=0.8, color=color, label=label)
        axis.axvline(40 * H, color="k", lw=0.6, ls=":")
        axis.set(title=scheme, xlabel="t in s; h is halved at the dotted line")
        axis.legend(fontsize=8)
    axes[0].set_ylabel("error of lam in N")
    return figure


FIGURES = {"starts": starts, "one_change": one_change}
TABLES = {}
