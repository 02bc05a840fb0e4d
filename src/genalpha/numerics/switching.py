"""Forces that switch inside a step.

A scheme looks at the forces at the ends of its steps. While nothing changes there, errors are
estimated as rounding, steps grow, and a force that switches on and off again in between would be
jumped over without a trace. So where an estimate says nothing, or a step has grown all at once,
the forces are looked at along the step, too (`switch`): a force that changes from one of these
instants to the next by most of its change over the whole step does not change smoothly.

The calls of a residual count: two of them see a force that jumps and stays
(`switch_of_residual`), and only where it may come back inside the step it takes more.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from genalpha.kernels import add, combined, jumps, stacked, zeros
from genalpha.model import Mechanism
from genalpha.model.residual import OneResidual
from genalpha.numerics.from_residual import accelerations_of
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import between_rows
from genalpha.numerics.weights import Tolerances

Array = np.ndarray
Reported: TypeAlias = tuple[Array, Array, Array]

#: Parts into which a step is divided. A pulse longer than one of them is seen.
PARTS = 8
SHARES = np.linspace(0.0, 1.0, PARTS + 1)
#: Weights of q0, h v0, q1, h v1 in the positions between the parts, and of v0, h a0, v1, h a1 in
#: the velocities there.
_I = np.eye(6)
_Q, _V = between_rows(_I[0], _I[1], _I[2], _I[3], _I[4], _I[5], 1.0, SHARES[:, None])
OF_Q, OF_V = _Q[:, [0, 1, 3, 4]], _V[:, [1, 2, 4, 5]]
OF_Q_EACH, OF_V_EACH = OF_Q.tolist(), OF_V.tolist()
#: A force jumps if one part of the step has this share of its whole change. Of a cubic over eight
#: parts none has more than 0.38, of a full wave 0.36.
SUDDEN = 0.6
#: Changes below this, relative to the largest force, are rounding.
ROUNDING = 1e-12
#: The places where a residual is asked first: after one and after three quarters.
FIRST, SECOND = PARTS // 4, 3 * PARTS // 4


def switch(o: Mechanism, old: Any, new: Any, lam: Array, psi: Array, limit: Tolerances) -> float:
    """Return the share of a step before the first sudden change of a force; 1 without any.

    Parameters
    ----------
    o : Mechanism
    old, new
        Both ends of the step, with t, q and v.
    lam, psi : (m,), (l,) array
        Guesses of the multipliers.
    limit : Tolerances
        Changes that would not move the velocity by so much are left alone.
    """
    h = new.t - old.t
    times = (old.t + h * SHARES).tolist()
    times[-1] = new.t  # exactly: forces may switch there
    q = OF_Q @ np.array([old.q, h * old.v, new.q, h * new.v])
    v = OF_V @ np.array([old.v, h * old.a, new.v, h * new.a])
    force = o.force
    forces = np.array([force(t, q[i], v[i]) for i, t in enumerate(times)])
    for i in sudden(forces):
        before, after = (accelerations(o, times[j], q[j], v[j], lam, psi)[0] for j in (i, i + 1))
        # at the worst place, the velocity is wrong by half of the jump times the step
        if not limit.norm_v(0.5 * h * (after - before), old.v, new.v) <= 1.0:
            return max(float(i), 0.5) / PARTS
    return 1.0


def switch_of_residual(
    whole: OneResidual,
    old: Any,
    new: Any,
    ends: tuple[Reported, Reported],
    limit: Tolerances,
    pulses: bool,
) -> float:
    """Return the same as `switch` for a residual, with fewer calls: two, or one for each part.

    Looked at is what is missing of balance along the step where accelerations and multipliers
    change linearly. That is nothing at both ends. Where a force jumps once and for all, it jumps by
    J and falls linearly, so that it differs by J / 2 after one and after three quarters of the
    step, wherever the jump is; in a smooth motion, whose forces bend, by next to nothing.

    Parameters
    ----------
    whole : OneResidual
    old, new, limit
        See `switch`.
    ends : ((n,) array, (m,) array, (l,) array) of both ends
        Accelerations and multipliers.
    pulses : bool
        Whether to look for forces, too, that are the same at both ends and differ inside.
    """
    h, (first, last) = new.t - old.t, ends

    def missing(i: int) -> Array:
        c = float(SHARES[i])
        of_q, of_v = OF_Q_EACH[i], OF_V_EACH[i]
        q = combined(of_q[0], old.q, h * of_q[1], old.v, of_q[2], new.q)
        add(q, 0, h * of_q[3], new.v)
        v = combined(of_v[0], old.v, h * of_v[1], first[0], of_v[2], new.v)
        add(v, 0, h * of_v[3], last[0])
        between = [combined(1.0 - c, x, c, y) for x, y in zip(first, last, strict=True)]
        return whole.split(whole.rows(old.t + c * h, q, v, *between)).motion

    def is_harmless(jump: Array) -> bool:
        found = accelerations_of(whole).solve(stacked(1.0, jump, 0.0, zeros(whole.m + whole.l)))
        return limit.norm_v(0.5 * h * found[: whole.n], old.v, new.v) <= 1.0

    known = {i: missing(i) for i in (FIRST, SECOND)}
    if not pulses and is_harmless(combined(2.0, known[SECOND], -2.0, known[FIRST])):
        return 1.0
    along = np.zeros((PARTS + 1, whole.n))
    for i in range(1, PARTS):
        along[i] = known[i] if i in known else missing(i)
    for i in sudden(along):
        if not is_harmless(along[i + 1] - along[i]):
            return max(float(i), 0.5) / PARTS
    return 1.0


def sudden(forces: Array) -> list[int]:
    """Return the parts of a step in which a component jumps, (k + 1, n) forces along it given."""
    return jumps(forces, SUDDEN, ROUNDING)
