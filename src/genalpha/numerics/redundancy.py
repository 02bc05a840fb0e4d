"""Redundant constraints: which rows depend on others, and a mechanism without them.

Where constraint rows depend on each other, the motion is still unique, the multipliers are not.
The mechanism is then solved with a subset of independent rows (`Reduction`), and its multipliers
are spread over all rows such that their norm is least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse

from genalpha.errors import RedundantConstraintsError
from genalpha.model import Mechanism
from genalpha.numerics.finite import check_finite
from genalpha.numerics.linear import row_lengths, saddle, smallest_pivot, stack

Array = np.ndarray

#: A row counts as dependent when, of its length, no more than this is new.
DEPENDENCE = 1e-9
#: Rows whose cosines leave this much are independent, whatever rounding does.
APART = 0.1
#: A dependent row contradicts the others when its acceleration misses theirs by more than this
#: share; second derivatives may be differences.
CONTRADICTION = 1e-4
#: Sparse constraints are first tried by a sparse factorization; only if that has a pivot below
#: this are they made dense to find the culprits, if there are any.
SUSPICIOUS_PIVOT = 1e-8


def constraint_jacobian(o: Mechanism, t: float, q: Array, v: Array) -> Any:
    """Return the rows of G and K along which reactions act, shape (m + l, n)."""
    J = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    return J[:, : o.n_moving] if o.n_states else J


def independent_rows(J: Array) -> tuple[Array, Array]:
    """Split the rows of `J` (dense) into independent and dependent ones, both ascending.

    Earlier rows are kept where there is a choice, because users add the redundant ones last.
    """
    rows = J / row_lengths(J)[:, None]
    if _are_far_apart(rows):
        return np.arange(len(rows)), np.arange(0)
    rank = int((np.linalg.svd(rows, compute_uv=False) > DEPENDENCE).sum()) if rows.size else 0
    if rank == len(rows):
        return np.arange(rank), np.arange(0)
    kept: list[int] = []
    basis = np.zeros((0, J.shape[1]))
    # looser than the rank test for single rows, so that nearly dependent ones are passed over
    for tolerance in (1e-3, 1e-6, DEPENDENCE):
        for i, row in enumerate(rows):
            if i in kept or len(kept) == rank:
                continue
            new = row - basis.T @ (basis @ row)
            new -= basis.T @ (basis @ new)
            if np.linalg.norm(new) > tolerance:
                basis = np.vstack([basis, new / np.linalg.norm(new)])
                kept.append(i)
    independent = np.array(sorted(kept), dtype=int)
    return independent, np.setdiff1d(np.arange(len(rows)), independent)


def _are_far_apart(rows: Array) -> bool:
    """Tell whether rows of length 1 are independent for certain, without their singular values.

    The squares of these are the eigenvalues of the cosines between rows; by Gershgorin none is
    below `APART` if the cosines of no row with the others add up to more than 1 - `APART`.
    """
    cosines = rows @ rows.T
    # written so that NaN fails too, and so do rows of zeros
    return bool(
        (np.abs(cosines).sum(axis=1) - 2.0 * cosines.diagonal() <= -APART).all() and rows.size
    )


def dependent_rows(o: Mechanism, t: float, q: Array, v: Array) -> Array:
    """Return the indices of constraints that depend on others."""
    J = constraint_jacobian(o, t, q, v)
    if not J.shape[0]:
        return np.arange(0)
    if sparse.issparse(J):
        scaled = J.data / row_lengths(J)[J.indices]
        rows = sparse.csc_array((scaled, J.indices, J.indptr), shape=J.shape)
        matrix = saddle(sparse.eye_array(o.n_moving, format="csc"), rows.T, rows)
        if smallest_pivot(matrix) > SUSPICIOUS_PIVOT:
            return np.arange(0)
        J = J.toarray()
    if not np.isfinite(J).all():
        check_finite(o, t, q, v, f"{o.name}: the rank of the constraints", certain=True)
    return independent_rows(J)[1]


def check_rank(o: Mechanism, t: float, q: Array, v: Array) -> None:
    """Raise an error that names dependent constraints, unless the mechanism allows them."""
    if o.redundant != "least":
        _check(o, t, q, v, dependent_rows(o, t, q, v))


def _check(o: Mechanism, t: float, q: Array, v: Array, dependent: Array) -> None:
    """Say which constraints have no gradient, contradict the others, or follow from them."""
    if not dependent.size or o.redundant == "least":
        return
    J = constraint_jacobian(o, t, q, v)
    J = J.toarray() if sparse.issparse(J) else J
    flat = [i for i in dependent if not np.abs(J[i]).max(initial=0.0) > DEPENDENCE]
    against = [] if flat or o.whole is not None else _contradictions(o, t, q, v, J, dependent)
    names = ", ".join(o.constraint_names[i] for i in flat or against or dependent)
    if flat:
        raise RedundantConstraintsError(
            f"{o.name}: the gradient of {names} is zero at t = {t:g}, so that it does not say in "
            "which direction it acts. A constraint that is squared has this form: write x - a "
            "instead of (x - a)**2. Otherwise the position is singular for it: keep away from it."
        )
    if against:
        raise RedundantConstraintsError(
            f"{o.name}: {names} contradicts the other constraints: at t = {t:g} no acceleration "
            "satisfies all of them, although positions and velocities do. Correct it or leave it "
            "out."
        )
    cure = (
        "give the mechanism redundant='least' for multipliers of minimum norm"
        if o.whole is None
        else "set problem.redundant = 'least' to have them left out, with multipliers 0"
    )
    raise RedundantConstraintsError(
        f"{o.name}: {dependent.size} of {o.n_lam + o.n_psi} constraints depend on the others "
        f"at t = {t:g}: {names}. Remove them, or {cure}."
    )


def _contradictions(
    o: Mechanism, t: float, q: Array, v: Array, J: Array, dependent: Array
) -> list[int]:
    """Return dependent rows that ask for accelerations which the others exclude."""
    wanted = -np.concatenate(
        [o.holonomic_acceleration(t, q, v), o.nonholonomic_acceleration(t, q, v)]
    )
    kept = np.setdiff1d(np.arange(len(J)), dependent)
    vdot = linalg.lstsq(J[kept], wanted[kept])[0] if kept.size else np.zeros(o.n_q)
    size = np.abs(wanted).max(initial=0.0) + np.abs(J).max() * np.abs(vdot).max(initial=0.0)
    missed = np.abs(J[dependent] @ vdot - wanted[dependent])
    return [int(i) for i, x in zip(dependent, missed, strict=True) if x > CONTRADICTION * size]


class Reduction:
    """A mechanism without its redundant constraints, and the way back.

    Parameters
    ----------
    full : Mechanism
    t, q, v
        State at which the independent rows are chosen.

    Attributes
    ----------
    mechanism : Mechanism
        Has only the independent constraints; is `full` itself if all are.
    dependent : (k,) int array
        The rows left out.

    Raises
    ------
    RedundantConstraintsError
        Constraints are redundant, and the mechanism does not have ``redundant="least"``.
    """

    def __init__(self, full: Mechanism, t: float, q: Array, v: Array) -> None:
        self.full = full
        self.dependent = dependent_rows(full, t, q, v)
        self.mechanism = full
        if self.dependent.size:
            _check(full, t, q, v, self.dependent)
            keep = np.delete(np.arange(full.n_lam + full.n_psi), self.dependent)
            self._lam, self._psi = keep[keep < full.n_lam], keep[keep >= full.n_lam] - full.n_lam
            self.mechanism = self._reduced()

    def restrict(self, lam: Array, psi: Array) -> tuple[Array, Array]:
        """Return the multipliers of the independent rows."""
        return (lam[self._lam], psi[self._psi]) if self.dependent.size else (lam, psi)

    def embed(self, lam: Array, psi: Array) -> tuple[Array, Array]:
        """Return multipliers of all rows, zero on the dependent ones."""
        full_lam, full_psi = np.zeros(self.full.n_lam), np.zeros(self.full.n_psi)
        full_lam[self._lam], full_psi[self._psi] = lam, psi
        return full_lam, full_psi

    def expand(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> tuple[Array, Array]:
        """Return the multipliers of all rows that give the same reaction with the least norm.

        A custom reaction need not be linear: there the dependent rows keep multiplier zero.
        """
        if not self.dependent.size:
            return lam, psi
        full_lam, full_psi = self.embed(lam, psi)
        if not self.full.has_linear_reaction:
            return full_lam, full_psi
        J = constraint_jacobian(self.full, t, q, v)
        J = J.toarray() if sparse.issparse(J) else J
        full = np.concatenate([full_lam, full_psi])
        least = linalg.lstsq(J.T, J.T @ full, cond=DEPENDENCE)[0]
        return least[: full_lam.size], least[full_lam.size :]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the reduced mechanism, whose callbacks are made here."""
        return {key: value for key, value in self.__dict__.items() if key != "mechanism"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.mechanism = self._reduced() if self.dependent.size else self.full

    def _reduced(self) -> Mechanism:
        """Return the mechanism with the independent rows of every constraint callback."""
        o, lam_rows, psi_rows = self.full, self._lam, self._psi

        def rows(key: str, keep: Array) -> Callable[..., Any] | None:
            function = getattr(o, key)
            return (lambda *x: function(*x)[keep]) if key in o.given and keep.size else None

        def with_multipliers(key: str) -> Callable[..., Any] | None:
            function = getattr(o, key)
            return (lambda *x: function(*x[:-2], *self.embed(*x[-2:]))) if key in o.given else None

        changes = {
            key: rows(key, lam_rows if key.startswith("holonomic") else psi_rows)
            for key in sorted(o.given)
            if "holonomic" in key
        }
        for key in ("reaction", "stiffness", "damping"):
            changes[key] = with_multipliers(key)
        keep = np.concatenate([lam_rows, o.n_lam + psi_rows])
        if "reaction_jacobian" in o.given:
            jacobian = with_multipliers("reaction_jacobian")
            changes["reaction_jacobian"] = lambda *x: jacobian(*x)[:, keep]  # type: ignore[misc]
        return o.replace(
            **changes,
            redundant="error",
            lam0=None if o.lam0 is None else o.lam0[lam_rows],
            psi0=None if o.psi0 is None else o.psi0[psi_rows],
            constraint_names=[o.constraint_names[i] for i in keep],
            sparsity=None,
        )
