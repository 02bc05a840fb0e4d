"""First-order states in a plain residual: found, and made velocities of coordinates of their own.

An unknown whose rate appears, but which is neither a position nor a velocity, is a state z. With
unknowns zeta and rows zeta' - z behind those of the problem, it is a velocity like others, see
`genalpha.model.states`, and is recognised as such.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from genalpha.assimulo.layout import Layout
from genalpha.assimulo.residual import Matrix, Residual
from genalpha.model.differences import scale
from genalpha.model.residual_rows import Places

Array = np.ndarray
Start = tuple[float, Array, Array]

#: What belongs to the problem's residual, and is asked for and set there.
SHARED = ("switches", "calls", "matrix_calls", "asks_jacobian")


class WithStates(Residual):
    """A residual with a coordinate zeta for each of its states.

    Parameters
    ----------
    F : Residual
    states : (s,) int array
        Places of the states in y.
    """

    def __init__(self, F: Residual, states: Array) -> None:
        self.F, self.states = F, states
        self.problem, self.explicit = F.problem, F.explicit

    def __getattribute__(self, name: str) -> Any:
        if name in SHARED:
            return getattr(self.F, name)
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SHARED:
            setattr(self.F, name, value)
        else:
            super().__setattr__(name, value)

    def fresh(self, t: float, y: Array, yd: Array) -> Array:
        """Return F(t, y, yd), and zeta' - z."""
        end = y.size - self.states.size
        rows = self.F.fresh(t, y[:end].copy(), yd[:end].copy())
        return np.concatenate([rows, yd[end:] - y[self.states]])

    @property
    def function(self) -> Any:
        """What is called."""
        return self.F.function

    @property
    def has_jacobian(self) -> bool:
        """Whether the problem gives its own Jacobian, and wants it used."""
        return self.F.has_jacobian

    def jacobian(self, c: float, t: float, y: Array, yd: Array) -> Matrix:
        """Return dF/dy + c dF/dyd, with the rows of zeta."""
        s = self.states.size
        end = y.size - s
        J = self.F.jacobian(c, t, y[:end], yd[:end])
        ones = (-np.ones(s), (np.arange(s), self.states))
        below = sparse.csc_array(ones, shape=(s, end))
        zeros = np.zeros((J.shape[0], s))
        if sparse.issparse(J):
            return sparse.block_array([[J, None], [below, c * sparse.eye_array(s)]], format="csc")
        return np.block([[J, zeros], [below.toarray(), c * np.eye(s)]])

    def start(self, start: Start) -> Start:
        """Return a start of the problem with zeta = 0."""
        t, y, yd = start
        return t, np.append(y, np.zeros(self.states.size)), np.append(yd, y[self.states])

    def is_driven(self, places: Places, reactions: Array | None, start: Start) -> bool:
        """Tell whether states only drive a mechanism, which is what can be solved.

        There are coordinates; reactions do not act on states; and each constraint on velocities
        knows velocities, because no reaction could make a state satisfy it.
        """
        s = self.states.size
        n = places.q.size - s
        if not n or reactions is None or reactions[n:].any():
            return False
        t, y, yd = self.start(start)
        moved, rates = y.copy(), yd.copy()
        moves = np.random.default_rng(2).uniform(0.5, 1.0, n) * 1e-3 * scale(y[places.v[:n]])
        moved[places.v[:n]] += moves
        rates[places.q[:n]] += moves
        change = self(t, moved, rates) - self(t, y, yd)
        return bool((change[places.velocity] != 0.0).all())

    def layout(self, places: Places) -> Layout:
        """Return where the unknowns are in the problem's own y."""
        s = self.states.size
        layout = Layout.of(places)
        return layout._replace(size=layout.size - s, q=layout.q[:-s])
