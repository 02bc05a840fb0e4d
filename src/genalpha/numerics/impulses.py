"""Impacts: velocities that jump along the reactions, and the impulses that make them do so."""

from __future__ import annotations

import numpy as np

from genalpha.errors import InconsistentStartError, SingularSystemError
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import MAX_ITERATIONS
from genalpha.numerics.linear import factorize, least_squares, saddle, stack

Array = np.ndarray

#: Corrections of the velocity are rounding below this, relative to it; and below this if they do
#: not get smaller: rates of constraints may be differences, whose noise nobody knows.
ROUNDING, NOISE = 4e-16, 1e-9


def velocity_after(o: Mechanism, t: float, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return the velocity to which reactions bring `v` at once, and their impulses.

    With J the rows of G and K, and R the derivatives of the reaction by lam and psi (-J^T unless
    it is the user's own), it solves ::

        M (v1 - v) = R (lam, psi),   g_t + G v1 = 0,   k(t, q, v1) = 0,

    where lam and psi are the time integrals of the multipliers over the impact.

    Returns
    -------
    v1, lam, psi : (n,), (m,), (l,) array
    """
    n, m = o.n_q, o.n_lam
    sums = np.zeros(m + o.n_psi)
    if not sums.size:
        return v.copy(), sums, sums.copy()
    M, v1, last = o.mass(t, q), v.copy(), np.inf
    for _ in range(MAX_ITERATIONS):
        G, K = o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v1)
        J = stack(G, K)
        rates = np.concatenate([o.holonomic_rate(t, q, v1), o.nonholonomic(t, q, v1)])
        R = -J.T if o.is_ideal else o.reaction_jacobian(t, q, v1, *o.multiplier_guess())
        try:
            matrix = saddle(M, -R, J)
            solve = least_squares(matrix) if o.redundant == "least" else factorize(matrix)
        except SingularSystemError as error:
            raise InconsistentStartError(
                f"{o.name}: no impulses of the constraints bring the velocity onto them at "
                f"t = {t:.9g}: {error}"
            ) from error
        x = solve(np.concatenate([np.zeros(n), -rates]))
        v1, sums = v1 + x[:n], sums + x[n:]
        correction = float(np.abs(x[:n]).max())
        size = max(float(np.abs(v).max()), float(np.abs(v1).max()))
        if correction <= ROUNDING * size or 0.5 * last <= correction <= NOISE * size:
            return v1, sums[:m], sums[m:]
        last = correction
    i = int(np.argmax(np.abs(rates)))
    raise InconsistentStartError(
        f"{o.name}: no velocity after the impact at t = {t:.9g} satisfies constraint "
        f"{o.constraint_names[i]}: its rate is left at {rates[i]:.3e}. Look for constraints "
        "that contradict each other"
    )
