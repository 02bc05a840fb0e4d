"""Local errors of single steps beside the derivatives of the motion, and what b does to errors."""

import numpy as np
from scipy.integrate import solve_ivp

from genalpha import integrate, mechanisms
from genalpha.numerics.initial_values import accelerations

#: Mechanism, step size.
CASES = (
    ("pendulum_jn", 5e-4),
    ("andrews_squeezer", 1e-5),
    ("four_bar", 1e-3),
    ("heavy_top", 2e-4),
)
#: A step is looked at after so many others.
STEPS = 40
COLUMNS = (
    ("`GenAlphaSOI2`", "GenAlphaSOI2", {}),
    ("`HHTI2`", "HHTI2", {}),
    ("`HHTI2`, b = 1/3", "HHTI2", {"b": 1.0 / 3.0}),
)


def local_errors():
    """Errors of q and v in one step over h^3 v'' and h^3 v'''."""
    header = ["mechanism", *(f"{label}: {x}" for label, *_ in COLUMNS for x in ("q", "v"))]
    rows = []
    for name, h in CASES:
        o = getattr(mechanisms, name)()
        found = [_of_a_step(o, h, *scheme) for _, *scheme in COLUMNS]
        rows.append([f"`{name}`", *(f"{x:.2f}" for pair in found for x in pair)])
    return header, rows


def _of_a_step(o, h, scheme, options):
    """Return the local errors of q and v, over h^3 times derivatives of v."""
    s = integrate(o, o.t0 + STEPS * h, scheme, h, newton_accuracy=1e-13, **options)
    t, q, v = s.t[-2], s.q[-2], s.v[-2]
    true = _moved(o, t, q, v, h)
    # derivatives of the acceleration by central differences over half a step
    w = [_acceleration(o, t + d, *_moved(o, t, q, v, d)) for d in (-0.5 * h, 0.0, 0.5 * h)]
    jerk, snap = (w[2] - w[0]) / h, (w[2] - 2.0 * w[1] + w[0]) / (0.25 * h * h)
    missed = np.linalg.norm(s.q[-1] - true[0]), np.linalg.norm(s.v[-1] - true[1])
    return missed[0] / h**3 / np.linalg.norm(jerk), missed[1] / h**3 / np.linalg.norm(snap)


def _moved(o, t, q, v, h):
    """Return the exact motion a time h later."""
    if not h:
        return q, v
    n = o.n_q

    def rate(s, x):
        return np.concatenate([x[n:], _acceleration(o, s, x[:n], x[n:])])

    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    y = solve_ivp(rate, (t, t + h), np.concatenate([q, v]), **options).y[:, -1]
    return y[:n], y[n:]


def _acceleration(o, t, q, v):
    return accelerations(o, t, q, v, *o.multiplier_guess())[0]


#: Mechanism, and the end of runs of so many equal steps.
RUNS, COUNT = (
    (
        ("pendulum_jn", 1.0),
        ("spherical_pendulum", 2.0),
        ("four_bar", 1.0),
        ("closed_chain", 1.0),
        ("car_axis", 1.0),
        ("andrews_squeezer", 0.02),
        ("heavy_top", 0.2),
    ),
    1000,
)
#: Of HHTI2; the third makes the constants of forces and reactions in q alike, alpha being -0.1.
WEIGHTS = (0.0, 0.1, 1.0 / 6.0 - 0.5 * 0.1**2, 1.0 / 3.0)


def weights_of_reactions():
    """Largest errors of q of HHTI2 over b."""
    header, rows = ["mechanism", *(f"b = {b:.3f}" for b in WEIGHTS)], []
    for name, end in RUNS:
        o = getattr(mechanisms, name)()
        truth = integrate(o, end, "GenAlphaSOI2", rtol=1e-9, atol=1e-11)
        errors = []
        for b in WEIGHTS:
            s = integrate(o, end, "HHTI2", end / COUNT, b=b)
            errors.append(np.abs(truth(s.t).q - s.q).max())
        rows.append([f"`{name}`", *(f"{x:.1e}" for x in errors)])
    return header, rows


FIGURES = {}
TABLES = {"local_errors": local_errors, "weights_of_reactions": weights_of_reactions}
