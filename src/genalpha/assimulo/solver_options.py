"""Options that only solver classes have, beside those of `genalpha.driver.options`."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.options import Flag, Option, Vector

#: Options of Assimulo's own solvers that have no meaning here. Scripts may set them all the same.
FOREIGN = frozenset(
    [
        "discr",
        "dqrhomax",
        "dqtype",
        "external_event_detection",
        "fnewt",
        "ieflag",
        "iter",
        "lsoff",
        "max_krylov",
        "maxcor",
        "maxcorS",
        "maxkrylov",
        "maxncf",
        "maxnef",
        "maxord",
        "maxordn",
        "maxords",
        "maxretry",
        "minh",
        "minord",
        "norm",
        "pbar",
        "precond",
        "quot1",
        "quot2",
        "rkstarter",
        "sensmethod",
        "stablimit",
        "suppress_sens",
        "thet",
        "tout1",
        "usesens",
    ]
)


class UseJacobian(Flag):
    """True or False; True only if there are derivatives to be used."""

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        if owner._knows_jacobian:
            return super().expected(owner)
        return "False, because the problem has no jac and the mechanism no derivatives"

    def clean(self, value: Any, owner: Any) -> bool:
        """See `Kind`."""
        wanted = super().clean(value, owner)
        if wanted and not owner._knows_jacobian:
            raise ValueError
        return wanted

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        good, bad = super().examples(owner)
        return (good, bad) if owner._knows_jacobian else ([False], [*bad, True])


def _algvar(solver: Any) -> Any:
    given = getattr(solver.problem, "algvar", None)
    if given is not None:
        return np.array(given, dtype=float).ravel()
    layout, algebraic = solver._reading.layout, np.zeros(solver._leny)
    algebraic[layout.q] = algebraic[layout.v] = 1.0
    return algebraic


ASSIMULO = (
    Option(
        "algvar",
        _algvar,
        Vector(values=(0.0, 1.0)),
        "1 for differential unknowns, 0 for algebraic ones. Default: the problem's. Kept for "
        "scripts that set it: these classes know what q, v, lam and psi are.",
    ),
    Option(
        "usejac",
        lambda solver: solver._knows_jacobian,
        UseJacobian(),
        "Use the derivatives of the problem (`jac`) or of its mechanism for Newton's iteration. "
        "Default: if there are any. Switch it off when they may be wrong (the constructor, which "
        "verifies what it takes from `jac`, asks it all the same; `jac_use` of the problem forbids "
        "that).",
    ),
)
