"""Local errors of position and velocity, from the velocities of the last steps.

With the instants t + alpha h of `a` and the order-2 condition, one step of a generalized-alpha
scheme makes the errors

    e_q = C_q h^3 v'',      C_q = -1/12 - alpha^2/4,
    e_v = C_v h^3 v''',     C_v =  1/12 - alpha^2/2 - alpha/2 (1 - alpha_m - alpha_f),

see the theory pages. The derivatives of the velocity come from divided differences: they need no
evaluation, hold for all schemes (the algorithmic accelerations of HHTI2 do not know the
reactions), and their rounding errors, a few eps |v|, are not amplified for small h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.numerics.coefficients import Coefficients

Array = np.ndarray


class ErrorConstants(NamedTuple):
    """C_q and C_v, as absolute values."""

    position: float
    velocity: float


def generalized_alpha(c: Coefficients) -> ErrorConstants:
    """Return the constants of a generalized-alpha scheme."""
    alpha = c.alpha
    position = 1.0 / 6.0 - alpha / 2.0 - c.beta
    velocity = 1.0 / 12.0 - alpha**2 / 2.0 - alpha / 2.0 * (1.0 - c.alpha_m - c.alpha_f)
    return ErrorConstants(abs(position), abs(velocity))


class VelocityHistory:
    """Velocities of the last steps, and the derivatives that follow from them.

    Parameters
    ----------
    t : float
    v, vdot : (n,) array
        The start, where the acceleration stands for the missing past.
    """

    def __init__(self, t: float, v: Array, vdot: Array) -> None:
        self._t = [t]
        self._v = [v]
        self._vdot = vdot

    def derivatives(self, t: float, v: Array) -> tuple[Array, Array | None]:
        """Return v'' and v''' as of a step that ends at time `t` with velocity `v`.

        Right after the start, v''' is None: there is no past to tell it.
        """
        times, values = [t, *reversed(self._t)], [v, *reversed(self._v)]
        first = [
            (values[i] - values[i + 1]) / (times[i] - times[i + 1]) for i in range(len(times) - 1)
        ]
        if len(self._t) < 3:  # the start counts twice, with its slope
            times.append(times[-1])
            first.append(self._vdot)
        second = [
            (first[i] - first[i + 1]) / (times[i] - times[i + 2]) for i in range(len(first) - 1)
        ]
        if len(second) < 2:
            return 2.0 * second[0], None
        return 2.0 * second[0], 6.0 * (second[0] - second[1]) / (times[0] - times[3])

    def append(self, t: float, v: Array) -> None:
        """Add an accepted step; three are kept."""
        self._t = [*self._t[-2:], t]
        self._v = [*self._v[-2:], v]
