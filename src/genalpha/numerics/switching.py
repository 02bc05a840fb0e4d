"""Forces that switch inside a step.

A scheme looks at the forces at the ends of its steps. While nothing changes there, errors are
estimated as rounding, steps grow, and a force that switches on and off again in between would be
jumped over without a trace. So where an estimate says nothing, or a step has grown all at once,
the forces are looked at along the step, too (`switch`): a force that changes from one of these
instants to the next by most of its change over the whole step does not change smoothly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.kernels import jumps
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import between_rows
from genalpha.numerics.weights import Tolerances

Array = np.ndarray

#: Parts into which a step is divided. A pulse longer than one of them is seen.
PARTS = 8
SHARES = np.linspace(0.0, 1.0, PARTS + 1)
#: Weights of q0, h v0, q1, h v1 in the positions between the parts, and of v0, h a0, v1, h a1 in
#: the velocities there.
_I = np.eye(6)
_Q, _V = between_rows(_I[0], _I[1], _I[2], _I[3], _I[4], _I[5], 1.0, SHARES[:, None])
OF_Q, OF_V = _Q[:, [0, 1, 3, 4]], _V[:, [1, 2, 4, 5]]
#: A force jumps if one part of the step has this share of its whole change. Of a cubic over eight
#: parts none has more than 0.38, of a full wave 0.36.
SUDDEN = 0.6
#: Changes below this, relative to the largest force, are rounding.
ROUNDING = 1e-12


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


def sudden(forces: Array) -> list[int]:
    """Return the parts of a step in which a component jumps, (k + 1, n) forces along it given."""
    return jumps(forces, SUDDEN, ROUNDING)
