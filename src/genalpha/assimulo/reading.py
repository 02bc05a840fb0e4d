"""The way back: a plain Assimulo problem as a mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.assimulo.callbacks import FromJacobian, FromResidual, ReadMechanism
from genalpha.assimulo.layout import Layout, layout_of
from genalpha.assimulo.probing import Recogniser
from genalpha.assimulo.recognition import Found, recognised, states_of
from genalpha.assimulo.residual import Residual
from genalpha.assimulo.states import Start, WithStates
from genalpha.errors import UnsupportedProblemError
from genalpha.model import Mechanism
from genalpha.model.differences import scale

Array = np.ndarray
#: How far a state is moved to see what depends on what, relative to its size.
MOVE = 1e-3


def mechanism_from_problem(
    problem: Any, n_q: int | None = None, n_lam: int | None = None, n_psi: int | None = None
) -> Mechanism:
    """Read a problem whose unknowns are q, v, lam, psi, in any order, back as a mechanism.

    A problem made by `Mechanism.problem` gives back its mechanism. Of any other, unknowns and rows
    are recognised by moving the start a little; those of "ggl2" must come in the order of
    Assimulo's `Mechanical_System`, whose problems are all understood:

    - "ind3": constraints on positions are holonomic, those on velocities nonholonomic.
    - "ovstab2", "ovstab1": the same; rates of the holonomic constraints and constraints on
      accelerations are left out, because the mechanism has its own.
    - "ggl2": the same; its mu, zero on the solution, is ignored.
    - "ind2": the positions' constraints are unknown, so *all* constraints are read as
      nonholonomic, with multipliers psi. They are kept; the positions drift.
    - "ind1" is refused: it holds neither positions' nor velocities' constraints.
    - An explicit problem with y = [q, v] has no constraints.
    - Unknowns with a rate that are neither positions nor velocities are first-order states, in any
      place: they become velocities of further coordinates, see `genalpha.model.states`.
    - A row that is nothing but a multiplier, up to a factor, is a constraint that is switched off
      (``g if sw[0] else lam``): the mechanism does not have it, and the multiplier stays 0.

    Multipliers keep the meaning that they have in the problem, whatever its sign convention and
    scaling. If the problem has `jac` (and ``jac_use`` is not False), stiffness and damping come
    from it, which may be rough: they serve Newton's iteration only. Masses, reactions and gradients
    at the start are taken from it where they agree with the residual; that saves calls.

    Parameters
    ----------
    problem : Implicit_Problem, Overdetermined_Problem or Explicit_Problem
    n_q, n_lam, n_psi : int, optional
        Numbers of coordinates, of holonomic and of nonholonomic constraints; found if not given.

    Raises
    ------
    UnsupportedProblemError
        Names the first row that does not fit, what was expected there and what was found.
    """
    return Reading(problem, n_q, n_lam, n_psi).mechanism.narrow


class Reading:
    """A problem as a mechanism, and the way between their states.

    Parameters are those of `mechanism_from_problem`; F is the problem's residual, if somebody
    else has it and counts its calls; start is (t, y, yd) if it is not the problem's own.

    Attributes
    ----------
    mechanism : Mechanism
        That is solved: with first-order states, the widened one.
    layout : Layout
        Takes y apart and puts it together.
    """

    def __init__(
        self,
        problem: Any,
        n_q: int | None = None,
        n_lam: int | None = None,
        n_psi: int | None = None,
        F: Residual | None = None,
        start: Start | None = None,
    ) -> None:
        self._F = Residual(problem) if F is None else F
        self._callbacks: FromResidual | None = None
        own = getattr(problem, "mechanism", None)
        if isinstance(own, Mechanism):
            self.mechanism, self.layout = own.widened, layout_of(own, problem.form)
            _check_sizes(own, {"n_q": n_q, "n_lam": n_lam, "n_psi": n_psi})
            return
        start = start or _start(problem, self._F.explicit)
        found = recognised(self._F, *start)
        n_states = 0
        if found is None:
            found, n_states = self._with_states(start)
        if found is None or not _fits(found, n_q and n_q + n_states, n_lam, n_psi):
            found = Recogniser(self._F, *start).recognise(n_q, n_lam, n_psi)
        self.layout = Layout.of(found.places)
        t, y, yd = start
        if isinstance(self._F, WithStates):
            self.layout, (t, y, yd) = self._F.layout(found.places), self._F.start(start)
        self._callbacks = FromResidual(self._F, found, t, y, yd)
        derivatives = FromJacobian(self._callbacks).arguments() if self._F.has_jacobian else {}
        redundant = {"redundant": getattr(problem, "redundant", "error")}
        arguments = self._callbacks.arguments() | derivatives | redundant
        self.mechanism = ReadMechanism(n_states, **arguments)
        if self.mechanism.redundant == "error":  # otherwise rows are left out, which F cannot do
            self.mechanism.whole = self._callbacks.whole
        self._kinds = self._kinds_of_rows(start) if self._F.switches else None

    def _with_states(self, start: Start) -> tuple[Found | None, int]:
        """Recognise a residual that has first-order states as well; return how many."""
        states = states_of(self._F, *start)
        if not states.size:
            return None, 0
        F = WithStates(self._F, states)
        found = recognised(F, *F.start(start))
        if found is None or not F.is_driven(found.places, found.reactions, start):
            return None, 0
        self._F = F
        return found, states.size

    @property
    def switches(self) -> list[bool]:
        """What the problem's callbacks get as switches; set it after an event."""
        return self._F.switches

    @switches.setter
    def switches(self, values: list[bool]) -> None:
        self._F.switches = list(values)
        self.forget()

    def still_holds(self, start: Start) -> bool:
        """Tell whether switches, if there are any, have left every constraint what it was."""
        if self._callbacks is None or self._kinds is None:
            return True
        return np.array_equal(self._kinds, self._kinds_of_rows(start))

    def _kinds_of_rows(self, start: Start) -> Array:
        """Tell which rows of constraints change with q, v, accelerations, multipliers: 5 calls."""
        assert self._callbacks is not None
        t, y, yd = self._F.start(start) if isinstance(self._F, WithStates) else start
        places = self._callbacks.found.places
        q, v, none = places.q, places.v, places.q[:0]
        others = np.setdiff1d(np.arange(y.size), np.concatenate([q, v]))
        base, found = self._F(t, y, yd), []
        for in_y, in_yd in ((q, none), (v, q), (none, v), (others, others)):
            moved, rates = y.copy(), yd.copy()
            moved[in_y] += MOVE * scale(y[in_y])
            rates[in_yd] += MOVE * (scale(y[v]) if in_yd is q else scale(yd[in_yd]))
            found.append(self._F(t, moved, rates) != base)
        return np.delete(np.array(found), places.motion, axis=1)

    def forget(self) -> None:
        """Forget what the problem has answered so far: something in it may have changed."""
        if self._callbacks is not None:
            self._callbacks.forget()


def _start(problem: Any, explicit: bool) -> Start:
    """Return the problem's own start."""
    y = np.array(problem.y0, dtype=float).ravel()
    yd = np.zeros(y.size) if explicit else np.array(problem.yd0, dtype=float).ravel()
    return float(getattr(problem, "t0", 0.0)), y, yd


def _fits(found: Found, *sizes: int | None) -> bool:
    """Tell whether the numbers found are those that are given."""
    seen = found.places.q.size, found.places.lam.size, found.places.psi.size
    return all(given in (None, size) for given, size in zip(sizes, seen, strict=True))


def _check_sizes(mechanism: Mechanism, given: dict[str, int | None]) -> None:
    for key, value in given.items():
        if value is not None and value != getattr(mechanism, key):
            raise UnsupportedProblemError(
                f"{key} is given as {value}, but {mechanism!r} has {getattr(mechanism, key)}"
            )
