"""Local errors of position and velocity, from the velocities of the last steps.

With the instants t + alpha h of `a` and the order-2 condition, one step of a generalized-alpha
scheme makes the errors

    e_q = C_q h^3 v'',      C_q = 1/12 + alpha^2/4,
    e_v = C_v h^3 v''',     C_v = 1/12 - alpha^2/2 - alpha/2 (1 - alpha_m - alpha_f),

see the theory pages. The derivatives come from divided differences of velocities
(`VelocityHistory`): they need no evaluation, hold for all schemes whose velocities are free of
drift (the algorithmic accelerations of HHTI2 do not know the reactions), and their rounding
errors, a few eps |v|, are not amplified for small h. GenAlphaI3 has a drift that jumps when the
step size changes; there, means of the algorithmic accelerations over two steps take the place of
differences of velocities (`MeanHistory`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.kernels import combined, largest
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.weights import Tolerances

Array = np.ndarray

#: Times of mean accelerations are at least this share of a step apart.
APART = 0.1
#: A force has jumped where (a1 - a0) / h differs from the slope of means before by so many times
#: that slope, and by so many times what it differed by in the step before.
JUMPED, SUDDENLY = 3.0, 10.0


@dataclass
class ErrorConstants:
    """C_q and C_v, as absolute values."""

    position: float
    velocity: float


def generalized_alpha(c: Coefficients) -> ErrorConstants:
    """Return the constants of a generalized-alpha scheme."""
    alpha = c.alpha
    position = 1.0 / 6.0 - alpha / 2.0 - c.beta
    velocity = 1.0 / 12.0 - alpha**2 / 2.0 - alpha / 2.0 * (1.0 - c.alpha_m - c.alpha_f)
    return ErrorConstants(abs(position), abs(velocity))


def error_norm(
    constants: ErrorConstants,
    tolerances: Tolerances,
    h: float,
    jerk: Array,
    snap: Array | None,
    old: Any,
    new: Any,
) -> float:
    """Return the local error of a step in units of the tolerances.

    Parameters
    ----------
    constants : ErrorConstants
    tolerances : Tolerances
    h : float
    jerk, snap : (n,) array
        Second and third derivative of v; without the third, only the position counts.
    old, new
        Both ends of the step, with q and v.
    """
    cube = abs(h) ** 3
    error = cube * constants.position * tolerances.norm_q(jerk, old.q, new.q)
    if snap is None:
        return error
    of_velocity = cube * constants.velocity * tolerances.norm_v(snap, old.v, new.v)
    # written so that NaN wins
    return of_velocity if not of_velocity <= error else error


def multiplier_error(
    tolerances: Tolerances, h: float, lam: Array, lam_old: Array, psi: Array, psi_old: Array
) -> float:
    """Return h^2 times the change of the multipliers, in units of the tolerances.

    As RADAU5 does with variables of index 3, so that they never drive the step size to zero.
    """
    change_lam = tolerances.norm_lam(lam - lam_old, lam_old, lam)
    change_psi = tolerances.norm_psi(psi - psi_old, psi_old, psi)
    return h**2 * max(change_lam, change_psi)


def slope(later: Array, earlier: Array, time: float) -> Array:
    """Return the difference of two vectors over the time between them."""
    return combined(1.0 / time, later, -1.0 / time, earlier)


class History:
    """Tells derivatives of the velocity from the steps so far.

    Attributes
    ----------
    older : float
        By how many steps, about, the third derivative is more than one step behind the middle of
        the present one.
    """

    def __init__(self) -> None:
        self.older = 0.0

    def derivatives(self, state: Any) -> tuple[Array, Array | None]:
        """Return the second and third derivative of v as of a step that ends in `state`.

        Right after the start, the third is None: there is no past to tell it.
        """
        raise NotImplementedError

    def append(self, state: Any) -> None:
        """Add an accepted step."""
        raise NotImplementedError


class VelocityHistory(History):
    """Derivatives from the velocities of the last steps.

    Parameters
    ----------
    t : float
    v, vdot : (n,) array
        The start, where the acceleration stands for the missing past.
    """

    def __init__(self, t: float, v: Array, vdot: Array) -> None:
        super().__init__()
        self._t = [t]
        self._v = [v]
        self._vdot = vdot

    def derivatives(self, state: Any) -> tuple[Array, Array | None]:
        """See `History`."""
        times, values = [state.t, *self._t], [state.v, *self._v]
        first = [
            slope(values[i], values[i + 1], times[i] - times[i + 1]) for i in range(len(times) - 1)
        ]
        if len(self._t) < 3:  # the start counts twice, with its slope
            times.append(times[-1])
            first.append(self._vdot)
        # divided differences, times 2 and 6
        jerk = slope(first[0], first[1], 0.5 * (times[0] - times[2]))
        if len(first) < 3:
            return jerk, None
        before = slope(first[1], first[2], 0.5 * (times[1] - times[3]))
        return jerk, slope(jerk, before, (times[0] - times[3]) / 3.0)

    def append(self, state: Any) -> None:
        """See `History`; three steps are kept."""
        self._t = [state.t, *self._t[:2]]
        self._v = [state.v, *self._v[:2]]


class TrueHistory(History):
    """Derivatives from the true accelerations at the last three instants.

    They follow from position and velocity, which change by no more than the motion and the local
    error, of order h^3. A difference of velocities over one step has all of that step's error in
    it. Where the error is large beside v''', step sizes that follow such differences never
    settle: each change of h changes the error by as much as they are looking for.

    Parameters
    ----------
    t : float
    vdot : (n,) array
        The start.
    """

    def __init__(self, t: float, vdot: Array) -> None:
        super().__init__()
        self.older = -0.5
        self._t, self._vdot = [t], [vdot]

    def derivatives(self, state: Any) -> tuple[Array, Array | None]:
        """See `History`."""
        t, vdot, times, values = state.t, state.vdot, self._t, self._vdot
        jerk = slope(vdot, values[0], t - times[0])
        if len(times) < 2:
            return jerk, None
        before = slope(values[0], values[1], times[0] - times[1])
        return jerk, slope(jerk, before, 0.5 * (t - times[1]))

    def append(self, state: Any) -> None:
        """See `History`; two instants are kept."""
        self._t, self._vdot = [state.t, *self._t[:1]], [state.vdot, *self._vdot[:1]]


class AccelerationHistory(History):
    """Derivatives from algorithmic accelerations, which lie h apart within a step.

    Parameters
    ----------
    t : float
    v, vdot : (n,) array
        The start; only there so that both histories start alike.
    """

    def __init__(self, t: float, v: Array, vdot: Array) -> None:
        super().__init__()
        self._last: tuple[float, Array] | None = None

    def derivatives(self, state: Any) -> tuple[Array, Array | None]:
        """See `History`."""
        middle, jerk = self._of(state)
        if self._last is None:
            return jerk, None
        last_middle, last_jerk = self._last
        return jerk, slope(jerk, last_jerk, middle - last_middle)

    def append(self, state: Any) -> None:
        """See `History`."""
        self._last = self._of(state)

    @staticmethod
    def _of(state: Any) -> tuple[float, Array]:
        """Return the middle of a step and the second derivative of v there.

        The shift alpha h of the accelerations is left out: it is nearly the same for all steps.
        """
        return state.t - 0.5 * state.h, slope(state.a, state.a_old, state.h)


class MeanHistory(History):
    """Derivatives from mean accelerations, each of two steps, the last three of them.

    Accelerations of GenAlphaI3 swing from step to step wherever something has changed suddenly.
    Positions do not: constraints hold them. So what moves them over two steps does not know of the
    swing, in equal steps beta a2 + (1/2 - 2 beta + gamma) a1 + (1/2 + beta - gamma) a0: their
    second difference over h^2. Its differences are smooth where those of `a` are not, and step
    sizes that follow them make no new swing.

    With strong damping, times of means may overtake each other where steps change wildly. There,
    at the start, and where a force jumps, of which a mean has but a share, (a1 - a0) / h has to do.

    Parameters
    ----------
    c : Coefficients
    t : float
    v, vdot : (n,) array
        The start; only there so that all histories start alike.
    """

    def __init__(self, c: Coefficients, t: float, v: Array, vdot: Array) -> None:
        super().__init__()
        self._beta, self._gamma, self._alpha = c.beta, c.gamma, c.alpha
        # times and values of the last two means; size and share in the next mean of the last step
        self._past: list[tuple[float, Array]] = []
        self._last: tuple[float, Array] | None = None
        self._young = AccelerationHistory(t, v, vdot)
        # by how much (a1 - a0) / h is off the slope of means, in this step and the last one
        self._apart = self._apart_before = 0.0

    def derivatives(self, state: Any) -> tuple[Array, Array | None]:
        """See `History`."""
        if len(self._past) < 2:
            return self._young.derivatives(state)
        (t0, a0), (t1, a1) = self._past
        t2, a2 = self._of(state)
        least = APART * state.h
        if (t1 - t0) / least < 1.0 or (t2 - t1) / least < 1.0:
            return self._young.derivatives(state)
        before, jerk = slope(a1, a0, t1 - t0), slope(a2, a1, t2 - t1)
        young = self._young.derivatives(state)
        self._apart = largest(combined(1.0, young[0], -1.0, before))
        if self._apart > max(JUMPED * largest(before), SUDDENLY * self._apart_before):
            return young
        return jerk, slope(jerk, before, 0.5 * (t2 - t0))

    def append(self, state: Any) -> None:
        """See `History`."""
        self._young.append(state)
        self._apart_before = self._apart
        if self._last is not None:
            self._past = [*self._past[-1:], self._of(state)]
            self.older = 0.5 * len(self._past) - 0.5
        beta, h = self._beta, state.h
        back, ahead = (self._gamma - beta) * h, (0.5 + beta - self._gamma) * h
        self._last = h, combined(back, state.a, ahead, state.a_old)  # v1 - (q1 - q0) / h

    def _of(self, state: Any) -> tuple[float, Array]:
        """Return the mean acceleration of the last step and this one, and its time."""
        assert self._last is not None
        beta, h, (h_last, later) = self._beta, state.h, self._last
        c = 2.0 / (h_last + h)
        # later, and (q1 - q0) / h - v0
        mean = combined(c, later, c * beta * h, state.a, c * (0.5 - beta) * h, state.a_old)
        # the mean of the instants, too
        return state.t - h + (2.0 * beta + self._alpha) * (h - h_last), mean
