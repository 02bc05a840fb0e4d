"""Two questions that the papers leave open, answered by experiment.

1. Jay and Negrut 2008, after (13): may psi-tilde in (13d) be replaced by psi, and (13b), (13h) be
   dropped, at second order?
2. Jay and Negrut 2007: the extended HHT method has no multiplier of its own at t_n. Which estimate
   is best?
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from comparisons.papers.printed import Row, Step13, first_point, row_of
from comparisons.papers.study import Errors
from genalpha.driver import Options, Stepper
from genalpha.mechanisms.exponential import hht_test, jay_negrut_test
from genalpha.mechanisms.pendulums import simple_pendulum
from genalpha.mechanisms.stiff_pendulum import pendulum_jn
from genalpha.model import Mechanism, Motion, Reference
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.initial_values import accelerations

Array = np.ndarray


# ------------------------------------------------- 1. one multiplier psi instead of two


def _soi2_errors(o: Mechanism, rho_inf: float, t_final: float, steps: int, two_psi: bool) -> Errors:
    c = Coefficients.chung_hulbert(rho_inf)
    h = t_final / steps
    s = first_point(o, h, c.alpha)
    for _ in range(steps):
        s = Step13(o, c, s, h, two_psi).taken(s.a, s.Ma)
    assert o.reference is not None
    true = o.reference.motion(t_final)
    names = ("q", "v", "lam", "psi")
    return {x: float(np.linalg.norm(getattr(s, x) - getattr(true, x))) for x in names}


def skate_in_a_bowl() -> Mechanism:
    """Return a skate that slides in a paraboloid: a mechanism with both kinds of constraints."""
    steep, g = 0.3, 9.81

    def gradient(t: float, q: Array) -> Array:
        return np.array([[-2.0 * steep * q[0], -2.0 * steep * q[1], 1.0, 0.0]])

    def blade(t: float, q: Array, v: Array) -> Array:
        return np.array([[np.sin(q[3]), -np.cos(q[3]), 0.0, 0.0]])

    made = Mechanism(
        mass=np.diag([1.0, 1.0, 1.0, 0.2]),
        force=lambda t, q, v: np.array([0.0, 0.0, -g, 0.0]),
        holonomic=lambda t, q: np.array([q[2] - steep * (q[0] ** 2 + q[1] ** 2)]),
        holonomic_jacobian=gradient,
        nonholonomic=lambda t, q, v: blade(t, q, v) @ v,
        nonholonomic_jacobian=blade,
        q0=[1.0, 0.0, steep, 0.5 * np.pi],
        v0=[0.0, 1.0, 0.0, 1.5],
        name="skate in a bowl",
    )
    return made.replace(reference=Reference("DOP853, index-1 form", _by_dop853(made), 9.0))


def _by_dop853(o: Mechanism) -> Callable[[float], Motion]:
    n = o.n_q

    def rhs(t: float, y: Array) -> Array:
        vdot = accelerations(o, t, y[:n].copy(), y[n:].copy(), *o.multiplier_guess())[0]
        return np.concatenate([y[n:], vdot])

    def motion(t: float) -> Motion:
        start = np.concatenate([o.q0, o.v0])
        y = solve_ivp(rhs, (o.t0, t), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        q, v = y[:n].copy(), y[n:].copy()
        return Motion(q, v, *accelerations(o, t, q, v, *o.multiplier_guess()))

    return motion


def one_psi() -> list[Row]:
    """Compare (13) with the reduced scheme on two problems, for several rho_inf."""
    rows = []
    numbers = (40, 80, 160)
    for o in (jay_negrut_test(), skate_in_a_bowl()):
        for rho_inf in (0.0, 0.2, 0.8):
            for two_psi, name in ((True, "(13)"), (False, "one psi")):
                found = [_soi2_errors(o, rho_inf, 1.0, number, two_psi) for number in numbers]
                rows.append(row_of((o.name, f"{rho_inf:g}", name), 1.0 / np.array(numbers), found))
    return rows


# ---------------------------------------------------- 2. multipliers of the extended HHT


ESTIMATES = ("Lambda_1", "mean", "mean, middle", "means extrapolated", "acceleration level")


def _hht_errors(o: Mechanism, steps: int, b: float, variant: str) -> Errors:
    """Return the largest error of each estimate over [0, 1], the first five steps left out."""
    h = 1.0 / steps
    stepper = Stepper(o, Options(scheme="HHTI2", alpha=-0.1, b=b, variant=variant))
    stepper.begin(o.t0, o.q0, o.v0, *o.multiplier_guess(), h)
    assert o.reference is not None
    errors, last_mean = dict.fromkeys(ESTIMATES, 0.0), None
    for i in range(steps):
        stepper.accept(stepper.attempt(h))
        L0, L1 = stepper.state.kept.reshape(2, o.n_lam)
        # in the variant "midpoint" there is one multiplier, that of the middle
        mean = L1 if variant == "midpoint" else 0.5 * (L0 + L1)
        t = stepper.t
        end, middle = (o.reference.motion(x).lam for x in (t, t - 0.5 * h))
        if i >= 5 and last_mean is not None:
            found = {
                "Lambda_1": L1 - end,
                "mean": mean - end,
                "mean, middle": mean - middle,
                "means extrapolated": 1.5 * mean - 0.5 * last_mean - end,
                "acceleration level": stepper.knot().lam - end,
            }
            for name, error in found.items():
                errors[name] = max(errors[name], float(np.abs(error).max()))
        last_mean = mean
    return errors


def hht_multipliers() -> list[Row]:
    """Compare the estimates on three problems and in three variants of the method."""
    rows = []
    numbers = (100, 200, 400)
    for o in (hht_test(), simple_pendulum(), pendulum_jn()):
        for variant, b in (("end", 0.0), ("end", 0.3), ("midpoint", 0.0)):
            found = [_hht_errors(o, number, b, variant) for number in numbers]
            rows.append(row_of((o.name, f"{variant}, b = {b:g}"), 1.0 / np.array(numbers), found))
    return rows
