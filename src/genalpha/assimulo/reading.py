"""The way back: a plain Assimulo problem as a mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.assimulo.callbacks import FromJacobian, FromResidual, ReadMechanism
from genalpha.assimulo.layout import Layout, layout_of
from genalpha.assimulo.probing import Recogniser
from genalpha.assimulo.recognition import Found, recognised
from genalpha.assimulo.residual import Residual
from genalpha.errors import UnsupportedProblemError
from genalpha.model import Mechanism


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

    Multipliers keep the meaning that they have in the problem, whatever its sign convention and
    scaling. If the problem has `jac` (and ``jac_use`` is not False), stiffness and damping come
    from it, which may be rough: they serve Newton's iteration only.

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
    return Reading(problem, n_q, n_lam, n_psi).mechanism


class Reading:
    """A problem as a mechanism, and the way between their states.

    Parameters are those of `mechanism_from_problem`; F is the problem's residual, if somebody
    else has it and counts its calls.

    Attributes
    ----------
    mechanism : Mechanism
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
    ) -> None:
        self._F = Residual(problem) if F is None else F
        self._callbacks: FromResidual | None = None
        own = getattr(problem, "mechanism", None)
        if isinstance(own, Mechanism):
            self.mechanism, self.layout = own, layout_of(own, problem.form)
            _check_sizes(own, {"n_q": n_q, "n_lam": n_lam, "n_psi": n_psi})
            return
        t, y = float(getattr(problem, "t0", 0.0)), np.array(problem.y0, dtype=float).ravel()
        yd = np.zeros(y.size) if self._F.explicit else np.array(problem.yd0, dtype=float).ravel()
        found = recognised(self._F, t, y, yd)
        if found is None or not _fits(found, n_q, n_lam, n_psi):
            found = Recogniser(self._F, t, y, yd).recognise(n_q, n_lam, n_psi)
        self.layout = Layout.of(found.places)
        self._callbacks = FromResidual(self._F, found, t, y, yd)
        derivatives = FromJacobian(self._callbacks).arguments() if self._F.has_jacobian else {}
        self.mechanism = ReadMechanism(**self._callbacks.arguments() | derivatives)
        self.mechanism.whole = self._callbacks.whole

    @property
    def switches(self) -> list[bool]:
        """What the problem's callbacks get as switches; set it after an event."""
        return self._F.switches

    @switches.setter
    def switches(self, values: list[bool]) -> None:
        self._F.switches = list(values)
        self.forget()

    def forget(self) -> None:
        """Forget what the problem has answered so far: something in it may have changed."""
        if self._callbacks is not None:
            self._callbacks.forget()


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
