"""StabilizedEuler and StabilizedRK2: explicit steps that are pulled back to the constraints.

R. G. Mukharlyamov: Solving numerically equations of extremals of variational problem with
constraints (2000). Equation numbers are his.

Notation: x = (q, v); alpha = (f, f_dot, f') is the paper's g(x, t), here the mechanism's
g, g_t + G v, k; F holds the rows G and K; gamma is minus the mechanism's force f.

Signs: the paper's equations of motion are M v' = F^T lambda - gamma (3.3), the mechanism's are
M v' = f - F^T mu with mu = (lam, psi); hence lambda = -mu, and (3.11), S lambda = A alpha - s, is

    S mu = s - A alpha,   S = F M^-1 F^T,   s = F M^-1 f + c,

where c is what f'' and the rate of f' hold beside F v', and A the lower rows of A~ (3.9). It is
solved as a saddle point with two right-hand sides, which needs no M^-1 and so allows massless
coordinates, and which is the splitting of Theorem 2:

    [ M  F^T ] [ v'_tau  d ]   [  f      0    ]
    [ F   0  ] [ mu      e ] = [ -c  A alpha  ],     x' = (v, v'_tau) + (0, d)      (3.1)

v_tau = (v, v'_tau) moves along the constraints, J alpha = (0, d) towards them. Then alpha' =
A~ alpha along x', at every x. For reactions that the user has defined, -F^T is their derivative by
the multipliers, at those of v'_tau; alpha' = A~ alpha remains true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from genalpha.errors import SingularSystemError
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import factorize, saddle, stack
from genalpha.numerics.mass import mass_solver
from genalpha.stabilization.gains import Perturbation

Array = np.ndarray
RightHandSide = Callable[[float, Array], Array]

#: The schemes by name, with their orders.
ORDERS = {"StabilizedEuler": 1, "StabilizedRK2": 2}


class Evaluation(NamedTuple):
    """The stabilized system at one state.

    Attributes
    ----------
    xdot : (2 n,) array
        The right-hand side of (3.1).
    vdot, lam, psi : (n,), (m,), (l,) array
        Acceleration and multipliers of the motion along the constraints, v_tau: what the
        mechanism does, without the pull towards the constraints.
    control : (m + l,) array
        What the pull adds to (lam, psi): minus the paper's lambda is (lam, psi) + control.
    deviation : (2 m + l,) array
        (f, f_dot, f').
    """

    xdot: Array
    vdot: Array
    lam: Array
    psi: Array
    control: Array
    deviation: Array


def deviation(o: Mechanism, t: float, q: Array, v: Array) -> Array:
    """Return (f, f_dot, f') (3.2), shape (2 m + l,)."""
    return np.concatenate([o.holonomic(t, q), o.holonomic_rate(t, q, v), o.nonholonomic(t, q, v)])


def evaluate(
    o: Mechanism, perturbation: Perturbation, t: float, x: Array, guess: tuple[Array, Array]
) -> Evaluation:
    """Evaluate (3.1) at x = (q, v).

    `guess` are multipliers to start from; they matter only where a custom reaction is not linear.

    Raises
    ------
    SingularSystemError
        Constraints depend on each other, or a massless direction is free.
    """
    n, m = o.n_q, o.n_lam
    q, v = x[:n], x[n:]
    if not m + o.n_psi:
        vdot = mass_solver(o, t, q)(o.force(t, q, v))
        none = np.zeros(0)
        return Evaluation(np.concatenate([v, vdot]), vdot, none, none, none, none)
    alpha = deviation(o, t, q, v)
    F = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    pull = perturbation(t, q, v)[m:] @ alpha
    try:
        along, towards = _split(o, t, q, v, F, pull, guess)
    except SingularSystemError as error:
        raise SingularSystemError(
            f"{o.name}: the stabilized equations have no unique solution at t = {t:.9g}: {error}. "
            "Do constraints depend on each other there, or is a massless coordinate free?"
        ) from error
    vdot = along[:n] + towards[:n]
    return Evaluation(
        np.concatenate([v, vdot]), along[:n], along[n : n + m], along[n + m :], towards[n:], alpha
    )


def _split(
    o: Mechanism, t: float, q: Array, v: Array, F: Array, pull: Array, guess: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return (v'_tau, mu) and (d, e)."""
    M, nothing = o.mass(t, q), np.zeros(o.n_q)
    if "reaction" in o.given:
        motion = accelerations(o, t, q, v, *guess)
        R = o.reaction_jacobian(t, q, v, *motion[1:])
        solve = factorize(saddle(M, -R, F))
        return np.concatenate(motion), solve(np.concatenate([nothing, pull]))
    c = [o.holonomic_acceleration(t, q, v), o.nonholonomic_acceleration(t, q, v)]
    solve = factorize(saddle(M, F.T, F))
    # one by one: with several right-hand sides LAPACK starts threads, at a multiple of the cost
    along = solve(np.concatenate([o.force(t, q, v), *(-part for part in c)]))
    return along, solve(np.concatenate([nothing, pull]))


def euler(rhs: RightHandSide, t: float, x: Array, xdot: Array, h: float) -> Array:
    """Return x after a step (5.1); `xdot` is rhs(t, x)."""
    return x + h * xdot


def runge_kutta(
    rhs: RightHandSide, t: float, x: Array, xdot: Array, h: float, sigma: float = 1.0
) -> Array:
    """Return x after a step (5.4) to (5.7), with alpha = 1 / (2 sigma); `xdot` is rhs(t, x).

    Parameters
    ----------
    sigma : float
        Weight of the second slope: 1 (default) takes it at the middle of the step, 1/2 at its end
        (Heun).
    """
    alpha = 0.5 / sigma
    x_bar = x + alpha * h * xdot  # (5.7)
    slope = rhs(t + alpha * h, x_bar)  # (5.6)
    return x + h * ((1.0 - sigma) * xdot + sigma * slope)  # (5.4), (5.5)


def remainders(
    o: Mechanism,
    perturbation: Perturbation,
    step: Callable[[RightHandSide, float, Array, Array, float], Array],
    states: list[tuple[float, Array]],
    h: float,
) -> Array:
    """Return the deviations after one step from each of some states on the constraints, (k, size).

    On the constraints, these are the remainders of Theorems 6 and 7.
    """
    guess = o.multiplier_guess()

    def rhs(t: float, x: Array) -> Array:
        return evaluate(o, perturbation, t, x, guess).xdot

    ends = [(t + h, step(rhs, t, x, rhs(t, x), h)) for t, x in states]
    return np.array([deviation(o, t, x[: o.n_q], x[o.n_q :]) for t, x in ends])
