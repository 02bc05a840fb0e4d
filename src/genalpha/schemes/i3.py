"""GenAlphaI3: the index-3 generalized-alpha scheme of Arnold and Brüls.

M. Arnold, O. Brüls: Convergence of the generalized-alpha scheme for constrained mechanical
systems. Multibody System Dynamics 18 (2007). Equation numbers are theirs.

Notation: q, v, vdot, lam are the paper's q, q', q'', lambda; a its acceleration-like variable,
which belongs to the instant t + alpha h; bp, gp its beta', gamma' (6); G = Phi_q.

One step solves, for vdot1 and lam1,

    M vdot1 = f(q1, v1, t1) - G^T lam1                                  (1)
    0 = g(q1, t1)                                                       (2)
    (1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) vdot1 + alpha_f vdot0 (3)
    q1 = q0 + h v0 + h^2 (1/2 - beta) a0 + h^2 beta a1                  (4)
    v1 = v0 + h (1 - gamma) a0 + h gamma a1                             (5)

that is, dynamic equilibrium holds exactly at t1. Nonholonomic constraints 0 = k(q1, v1, t1), which
the paper does not treat, are added in the same spirit, with multipliers psi.

HHT-I3 of Negrut et al. weighs the equilibrium at t0 and t1 instead; for a constant mass matrix
this is the scheme here with HHT coefficients, for a variable one it is not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genalpha.kernels import (
    add,
    combined,
    norm,
    part,
    plus,
    product,
    snapshot,
    solution,
    stacked,
    transposed_product,
    zeros,
)
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import Scales, scales, size
from genalpha.numerics.gradients import step_terms
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Solve
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.newton import Newton, Sizes
from genalpha.schemes.settings import Settings
from genalpha.schemes.step import Step

Array = np.ndarray
#: When the step size changes, the drift of the velocity is adjusted to this relative accuracy, with
#: at most so many solutions.
DRIFT_ACCURACY, DRIFT_REPEATS = 1e-6, 6
#: The drift of a residual is seen so far ahead, in steps: what Newton's iteration has left in g,
#: over this time, is small against it, and so is what the motion is known to.
AHEAD = 0.1


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    x is (vdot, lam, psi), of which the first `n` are vdot and the next `m` lam.
    """

    t: float
    q: Array
    v: Array
    x: Array
    a: Array
    a_old: Array
    h: float
    n: int
    m: int

    @property
    def vdot(self) -> Array:
        """The acceleration, shape (n,)."""
        return part(self.x, 0, self.n)

    @property
    def lam(self) -> Array:
        """The multipliers of holonomic constraints, shape (m,)."""
        return part(self.x, self.n, self.n + self.m)

    @property
    def psi(self) -> Array:
        """The multipliers of nonholonomic constraints, shape (l,)."""
        return part(self.x, self.n + self.m, self.x.shape[0])

    @property
    def kept(self) -> Array:
        """What `report` needs beside t, q, v."""
        return self.x


@dataclass
class Matrices:
    """The factorized iteration matrix, and what corrections are compared with.

    `G` are the gradients of the holonomic constraints, None without any; `size` is the number of
    unknowns.
    """

    solve: Solve
    scales: Scales
    G: Any
    size: int


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = vdot0 as in (3)."""
    q, v, vdot, lam, psi = motion
    return State(t, q, v, np.concatenate([vdot, lam, psi]), vdot, vdot, h, o.n_q, o.n_lam)


def shifted(
    o: Mechanism, settings: Settings, newton: Newton, state: State, first: State, h: float
) -> State:
    """Start with a0 = vdot(t0 + alpha h) + O(h^2), and with the drift that steps h build up.

    a0 comes from vdot0 and vdot1, extrapolated linearly. The vdot1 of a first step from the plain
    start is too rough for that; the consistent one of its q1, v1 is not.

    The scheme makes a local error C h^3 v'' in q, see `local_error`, which (2) allows in the
    directions of the constraints only if the velocity makes up for it: after some steps
    g_t + G v = -C h^2 G v''. A start without this drift would cost an order in the first lam. (The
    paper starts plainly; this is ours.)
    """
    c = settings.coefficients
    vdot1, _, _ = accelerations(o, first.t, first.q, first.v, first.lam, first.psi)
    a = (1.0 - c.alpha) * state.vdot + c.alpha * vdot1
    v = state.v
    if o.n_lam:
        jerk = (vdot1 - state.vdot) / h
        drift = (1.0 / 6.0 - c.alpha / 2.0 - c.beta) * h**2 * (newton.last_solvers.G @ jerk)
        v = drifted(o, newton, state, drift)
    return replace(state, v=v, a=a, a_old=a, h=h)


def drifted(o: Mechanism, newton: Newton, state: State, drift: Array) -> Array:
    """Return the velocity, changed in the direction of the reactions by a `drift` of g_t + G v.

    The iteration matrix of the last step is near enough to the one that is wanted. Where M and G
    cost little, its solution is corrected until it is right; of a residual, a part of the drift as
    large as the change of G since then is left as it is.
    """
    t, q, n = state.t, state.q, o.n_q
    solve, right = newton.last_solvers.solve, zeros(newton.last_solvers.size)
    add(right, n, 1.0, drift)
    x = solve(right.copy())
    if o.whole is not None or o.n_psi or not o.is_ideal:
        return plus(state.v, 1.0, x)
    M, G = o.mass(t, q), o.holonomic_jacobian(t, q)
    for _ in range(DRIFT_REPEATS):
        inertia, reached = product(M, x[:n]), product(G, x[:n])
        r = combined(-1.0, inertia, -1.0, transposed_product(1.0, G, x[n:]))
        left = combined(1.0, drift, -1.0, reached)
        if norm(left) <= DRIFT_ACCURACY * norm(drift) and norm(r) <= DRIFT_ACCURACY * norm(inertia):
            break
        x = plus(x, 1.0, solve(stacked(1.0, r, 1.0, left)))
    return plus(state.v, 1.0, x)


def adjusted(
    o: Mechanism, settings: Settings, newton: Newton, state: State, h: float
) -> tuple[Array, Array]:
    """Return v0 and a0 for a step size other than the last one.

    a0 moves from t0 + alpha h_old to t0 + alpha h by formula (14a) of Jay and Negrut (2008).

    v0 has the drift c h_old^2 that the scheme has built up with steps h_old, see `shifted`; steps
    h build up c h^2. The difference, which is small in v0, would be of order h in lam1, because
    (4) turns it into an acceleration. It is taken away. (The paper has constant steps; this is
    ours.)
    """
    if h == state.h or not settings.adjust_steps:
        return state.v, state.a
    ratio = h / state.h
    a = state.a + settings.coefficients.alpha * (ratio - 1.0) * (state.a - state.a_old)
    if not o.n_lam or newton.last_solvers is None:
        return state.v, a
    return drifted(o, newton, state, (ratio**2 - 1.0) * present_drift(o, state)), a


def present_drift(o: Mechanism, state: State) -> Array:
    """Return g_t + G v, of a residual by one call a little ahead in the motion."""
    if o.whole is None:
        return o.holonomic_rate(state.t, state.q, state.v)
    jerk = (state.a - state.a_old) / state.h
    return o.whole.rate_ahead(state.t, state.q, state.v, state.vdot, jerk, AHEAD * state.h)


class I3(Step):
    """Algorithm 1; its unknowns are x = (vdot1, lam1, psi1).

    a_hat, q_hat, v_hat are a1, q1, v1 as they would be if vdot1 were 0; with (7),
    q1 = q_hat + vdot1 / bp and v1 = v_hat + gp / bp vdot1.
    """

    def take(self, state: State, h: float) -> State:
        """See `Step`."""
        a0 = self._begin(state, h)
        self.newton.solve(self)
        x, bp, gp, o = self.unknowns, self.bp, self.gp, self.o
        q, v = plus(self.q_hat, 1.0 / bp, x), plus(self.v_hat, gp / bp, x)  # (7)
        a = plus(self.a_hat, (1.0 - self.alpha_f) / (1.0 - self.alpha_m), x)  # (3)
        return State(self.t, q, v, x, a, a0, h, o.n_q, o.n_lam)

    def _begin(self, state: State, h: float) -> Array:
        """Prepare the step up to the loop, guess its unknowns, and return a0."""
        alpha_m, alpha_f, beta, gamma = self.alpha_m, self.alpha_f, self.beta, self.gamma
        self.t = state.t + h
        self.bp = (1.0 - alpha_m) / (h * h * beta * (1.0 - alpha_f))  # (6)
        self.gp = gamma / (h * beta)
        v0, a0 = adjusted(self.o, self.settings, self.newton, state, h)
        a_hat = combined(-alpha_m / (1.0 - alpha_m), a0, alpha_f / (1.0 - alpha_m), state.x)
        self.q_hat = combined(1.0, state.q, h, v0, h * h * (0.5 - beta), a0)
        add(self.q_hat, 0, h * h * beta, a_hat)
        self.v_hat = combined(1.0, v0, h * (1.0 - gamma), a0, h * gamma, a_hat)
        self.a_hat = a_hat
        self.unknowns = self.newton.past.predicted(self.t, self.relation)
        return a0

    def correct(self, solvers: Any) -> Sizes:
        """See `Problem`."""
        matrices: Matrices = solvers
        o, newton, x = self.o, self.newton, self.unknowns
        t, bp, gp, n, m = self.t, self.bp, self.gp, o.n_q, o.n_lam
        q, v = plus(self.q_hat, 1.0 / bp, x), plus(self.v_hat, gp / bp, x)  # (7)
        newton.counters.nfcns += 1
        r = zeros(x.shape[0])
        o.add_balance(r, -1.0, -bp, -bp / gp, t, q, v, x)  # (1), (2), and k
        d = solution(matrices.solve, r)
        d = newton.accelerated(d, n, matrices.scales.mass_over_gradient)
        self.unknowns = x = plus(x, 1.0, d)
        displacement = 1.0 / bp if m else gp / bp
        return (size(self.relative, matrices.scales, d, x, q, displacement, n, m),)

    def setup(self) -> Matrices:
        """Factorize S_t, as scaled in (9) and (10), for corrections of vdot1, lam1, psi1.

        With (10), corrections of q1 and h^2 beta lam1 are solved for; here those of vdot1 and lam1,
        which differ by factors that are the same for all of a block: the matrix is as well scaled.
        """
        o, newton, x = self.o, self.newton, self.unknowns
        t, bp, gp, n, m = self.t, self.bp, self.gp, o.n_q, o.n_lam
        q, v = plus(self.q_hat, 1.0 / bp, x), plus(self.v_hat, gp / bp, x)
        vdot, lam, psi = part(x, 0, n), part(x, n, n + m), part(x, n + m, x.shape[0])
        newton.counters.njacs += 1
        newton.counters.nfcnjacs += o.tangent_cost
        S = step_terms(o, t, q, v, vdot, lam, psi, 1.0, 1.0 / bp, gp / bp)
        solve = newton.factorize("step", [*S.inertia, *S.forces], S.reactions, S.along)
        compared = scales(o, S.inertia, S.forces, S.along, q, 1.0 / bp, solve)
        G = snapshot(S.gradients[0][0][1]) if m else None
        return Matrices(solve, compared, G, x.shape[0])


def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> tuple[Array, Array, Array]:
    """The scheme computes true accelerations and multipliers itself."""
    n, m = o.n_q, o.n_lam
    return kept[:n], kept[n : n + m], kept[n + m :]


def errors(settings: Settings) -> ErrorConstants:
    """Those of every generalized-alpha scheme; the constraints only take away from them."""
    return generalized_alpha(settings.coefficients)


def faults(o: Mechanism, settings: Settings) -> list[str]:
    """Conditions of the paper's convergence theorem (section 3.4)."""
    c = settings.coefficients
    found = []
    if not c.is_second_order:
        found.append(
            f"order-2 condition (20): gamma = {c.gamma:g}, needed 1/2 - alpha = {0.5 - c.alpha:g}"
        )
    if not c.is_zero_stable:
        found.append(f"zero stability: alpha_m = {c.alpha_m:g}, needed at most 1/2")
    if c.beta == 0.0:
        found.append("beta = 0: (6) divides by beta; GenAlphaSOI2 allows it without constraints")
    elif o.n_lam and c.rho_inf > 1.0 + 1e-9:
        found.append(
            f"stability at infinity (22): a root has modulus {c.rho_inf:.3g}, needed less than 1"
        )
    return found
