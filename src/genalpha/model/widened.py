"""A mechanism with first-order states as one without: what is solved, see `states`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from genalpha.model.callbacks import Array
from genalpha.model.mechanism import Mechanism
from genalpha.model.states import MechanicalReaction, WideCallbacks, with_z

Callback = Callable[..., Any]


class Widened(Mechanism):
    """A mechanism with states z, as one without: with Q = (q, zeta) and V = (v, z).

    Parameters
    ----------
    narrow : Mechanism
        As the user gave it.
    callbacks : WideCallbacks
    sparsity : mapping
        Patterns as the user gave them; those that are not of Q are found by probing.
    """

    def __init__(
        self, narrow: Mechanism, callbacks: WideCallbacks, sparsity: Mapping[str, Any]
    ) -> None:
        self._narrow, self._callbacks, self.n_states = narrow, callbacks, narrow.n_z
        made, n = callbacks.arguments(), narrow.n_q
        if narrow.n_psi and narrow.is_ideal:
            reaction = MechanicalReaction(self)
            made["reaction"], made["reaction_jacobian"] = reaction, reaction.jacobian
        patterns = {k: x for k, x in sparsity.items() if np.shape(x)[-1] == n + narrow.n_z}
        super().__init__(
            **made,
            t0=narrow.t0,
            q0=np.append(narrow.q0, np.zeros(narrow.n_z)),
            v0=np.append(narrow.v0, narrow.z0),
            lam0=narrow.lam0,
            psi0=narrow.psi0,
            redundant=narrow.redundant,
            energy=with_z(narrow.energy, n) if narrow.energy else None,
            name=narrow.name,
            constraint_names=narrow.constraint_names,
            coordinate_names=narrow.coordinate_names + narrow.state_names,
            sparsity=patterns,
            reference=narrow.reference,
        )

    @property
    def narrow(self) -> Mechanism:
        """The mechanism as the user gave it."""
        return self._narrow

    @property
    def has_linear_reaction(self) -> bool:
        """Whether the reaction is that of G and K, see `MechanicalReaction`."""
        return self._narrow.is_ideal

    @property
    def calls(self) -> dict[str, int]:
        """How often each of the user's callbacks was called so far, by name."""
        return self._callbacks.calls

    def _has_sparse(self, mass: Any, given: dict[str, Callback]) -> bool:
        return self._callbacks.is_sparse

    def state(
        self, t: float | None, q: Any, v: Any, vdot: Any, z: Any
    ) -> tuple[Array, Array, Array | None]:
        """Return Q, V and V' of a state, default the start; without vdot, V' is not known."""
        n, start = self.n_moving, self._narrow
        given = [(x, x0) for x, x0 in zip((q, v, z), (start.q0, start.v0, start.z0), strict=True)]
        q, v, z = (np.array(x0 if x is None else x, dtype=float) for x, x0 in given)
        Q, V = np.append(q, np.zeros(self.n_states)), np.append(v, z)
        if vdot is None:
            return Q, V, None
        return Q, V, np.append(vdot, self.force(self.t0 if t is None else t, Q, V)[n:])

    def replace(self, **changes: Any) -> Mechanism:
        """Return a copy with some arguments changed, which are those of Q and V."""
        changed = Mechanism.__new__(Widened)
        changed._narrow, changed._callbacks = self._narrow, self._callbacks
        changed.n_states = self.n_states
        Mechanism.__init__(changed, **{**self._arguments, **changes})
        return changed

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the user's mechanism."""
        return _widened, (self._narrow,)


def _widened(narrow: Mechanism) -> Mechanism:
    return narrow.widened
