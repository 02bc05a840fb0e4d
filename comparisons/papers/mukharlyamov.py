"""Theorems 6 and 7 of R. G. Mukharlyamov 2000: as printed, beside what the package makes of them.

Printed are: ||Phi|| <= q < 1 in the maximum norm, with Phi = E + tau A~ (Theorem 6) or
E + tau A~ + tau^2 A~^2 / 2 (Theorem 7, constant gains), and remainders of at most (1 - q) eps,
which in Theorem 6 are (tau^2 / 2) g^(2). (A~ is meant by the printed A, which is not square.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genalpha import Gains, Mechanism, integrate
from genalpha.mechanisms.pendulums import simple_pendulum
from genalpha.mechanisms.skates import knife_edge

Array = np.ndarray
EULER, RUNGE_KUTTA = "StabilizedEuler", "StabilizedRK2"


class Run(NamedTuple):
    """A run, and both kinds of bounds on its deviation.

    Attributes
    ----------
    t : (k,) array
    deviation : (k, size) array
        (f, f_dot, f') of all steps.
    norm : float
        ||Phi|| as printed, in the maximum norm.
    printed : float
        The smallest eps that the printed conditions allow; inf if ||Phi|| >= 1.
    printed_derivative : float
        The same with (tau^2 / 2) g^(2) of Theorem 6 at the known ends of the steps in the place of
        the exact remainder; NaN for Theorem 7.
    contraction : float
        ||Phi|| in the norm of the package.
    guaranteed : (size,) array
        Its bounds on all components.
    """

    t: Array
    deviation: Array
    norm: float
    printed: float
    printed_derivative: float
    contraction: float
    guaranteed: Array


def step_matrix(A: Array, h: float, scheme: str) -> Array:
    """Return Phi for constant gains."""
    E = np.eye(len(A))
    return E + h * A if scheme == EULER else E + h * A + 0.5 * h**2 * (A @ A)


def run(o: Mechanism, t_final: float, scheme: str, h: float, gains: Gains) -> Run:
    """Integrate, and evaluate the conditions of both kinds."""
    solution: Any = integrate(o, t_final, scheme, h, gains=gains)
    found = solution.deviation
    A = gains.sized(o.n_lam, o.n_psi).constant
    assert A is not None
    Phi = step_matrix(A, h, scheme)
    q = float(np.abs(Phi).sum(axis=1).max())
    remainders = found.values[1:] - found.values[:-1] @ Phi.T
    start = float(np.abs(found.values[0]).max())
    by_derivative = np.nan
    if scheme == EULER:
        by_derivative = _eps(q, start, 0.5 * h**2 * _second_derivatives(o, solution, h))
    return Run(
        found.t, found.values, q, _eps(q, start, remainders), by_derivative, found.contraction,
        found.guaranteed,
    )  # fmt: skip


def _eps(q: float, start: float, remainders: Array) -> float:
    """Return the smallest eps with ||g0|| <= eps and ||r|| <= (1 - q) eps, in the maximum norm."""
    return max(start, float(np.abs(remainders).max()) / (1.0 - q)) if q < 1.0 else np.inf


def _second_derivatives(o: Mechanism, solution: Any, h: float) -> Array:
    """Return g^(2) = v^T g_xx v + 2 g_xt v + g_tt at the start of every step of Euler's method.

    It is the second derivative of g along the step, whose direction is known from its end.
    """
    x = np.hstack([solution.q, solution.v])
    rows = []
    for t, x0, x1 in zip(solution.t, x, x[1:], strict=False):
        direction, s = (x1 - x0) / h, 0.1 * h
        ahead, here, back = (_deviation(o, t + k * s, x0 + k * s * direction) for k in (1, 0, -1))
        rows.append((ahead - 2.0 * here + back) / s**2)
    return np.array(rows)


def _deviation(o: Mechanism, t: float, x: Array) -> Array:
    q, v = np.split(x, 2)
    return np.concatenate([o.holonomic(t, q), o.holonomic_rate(t, q, v), o.nonholonomic(t, q, v)])


def cart(speed: Any) -> Mechanism:
    """Return a mass whose velocity is prescribed, as a nonholonomic constraint v = speed(t)."""
    return Mechanism(
        mass=np.eye(1),
        force=lambda t, q, v: np.zeros(1),
        nonholonomic=lambda t, q, v: np.array([v[0] - speed(t)]),
        nonholonomic_jacobian=lambda t, q, v: np.ones((1, 1)),
        q0=[0.0],
        v0=[speed(0.0)],
        name="cart",
    )


#: Step size, and gain times step size, of the two runs of the cart.
H, KAPPA = 1e-2, 0.05


def sharp() -> Run:
    """The speed grows as t^2: the remainder is the same in every step, and the bound is reached."""
    o = cart(lambda t: 0.5 * t**2)
    return run(o, 2.0, EULER, H, Gains(A22=-KAPPA / H))


def loose() -> Run:
    """The speed swings: remainders change their sign, and the deviation stays far below."""
    omega = 40.0
    o = cart(lambda t: np.sin(omega * t) / omega**2)
    return run(o, 2.0, EULER, H, Gains(A22=-KAPPA / H))


def _rows() -> list[tuple[str, str, str, Run]]:
    h = 1e-3
    pendulum, blade = simple_pendulum(), knife_edge()
    gentle, harsh = Gains.baumgarte(20.0), Gains(A10=-0.5 / h**2, A11=-2.0 / h)
    label = "Baumgarte, 20/s"
    return [
        ("cart, speed t²/2", "Euler", "0.05/h", sharp()),
        ("cart, speed sin 40 t", "Euler", "0.05/h", loose()),
        ("`knife_edge`", "Euler", "20/s", run(blade, 2.0, EULER, h, gentle)),
        ("`knife_edge`", "Runge–Kutta", "20/s", run(blade, 2.0, RUNGE_KUTTA, h, gentle)),
        ("`simple_pendulum`", "Euler", label, run(pendulum, 2.0, EULER, h, gentle)),
        ("`simple_pendulum`", "Runge–Kutta", label, run(pendulum, 2.0, RUNGE_KUTTA, h, gentle)),
        (
            "`simple_pendulum`", "Runge–Kutta", "$A_{10} = -0.5/h^2$, $A_{11} = -2/h$",
            run(pendulum, 2.0, RUNGE_KUTTA, h, harsh),
        ),
    ]  # fmt: skip


def table() -> tuple[list[str], list[list[str]]]:
    """Return header and rows: conditions as printed, ours, and what the run measured."""
    header = ["mechanism", "method", "gains", r"$\lVert \Phi \rVert$ as printed",
              r"$\varepsilon$ as printed", "the same, $g^{(2)}$", "$q$ here", "bound here",
              "measured"]  # fmt: skip
    rows = []
    for name, method, gains, found in _rows():
        worst = np.abs(found.deviation).max(axis=0)
        printed, derivative = (
            "none" if np.isinf(x) else "–" if np.isnan(x) else f"{x:.2e}"
            for x in (found.printed, found.printed_derivative)
        )
        ours, measured = (", ".join(f"{x:.2e}" for x in y) for y in (found.guaranteed, worst))
        rows.append([name, method, gains, f"{found.norm:.4f}", printed, derivative,
                     f"{found.contraction:.4f}", ours, measured])  # fmt: skip
    return header, rows
