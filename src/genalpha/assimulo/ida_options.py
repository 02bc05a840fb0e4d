"""The options of `IDA`: Assimulo's names and defaults."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.options import Choice, Flag, Integer, Number, Option, Vector


class OnlyWithJacobian(Flag):
    """True or False; True only if the problem has `jac`."""

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        has = owner._F.has_jacobian
        return super().expected(owner) if has else "False, because the problem has no jac"

    def clean(self, value: Any, owner: Any) -> bool:
        """See `Kind`."""
        wanted = super().clean(value, owner)
        if wanted and not owner._F.has_jacobian:
            raise ValueError
        return wanted


class Linear(Choice):
    """'DENSE', or 'SPARSE' if the problem has `jac`."""

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        has = owner._F.has_jacobian
        return super().expected(owner) if has else "'DENSE', because the problem has no jac"

    def clean(self, value: Any, owner: Any) -> str:
        """See `Kind`."""
        word = super().clean(value, owner)
        if word == "SPARSE" and not owner._F.has_jacobian:
            raise ValueError
        return word


IDA_OPTIONS = (
    Option(
        "atol",
        lambda solver: np.full(solver.size, 1e-6),
        Vector(0.0, open=True),
        "Absolute tolerance, one number or one per variable. Default 1e-6.",
    ),
    Option("rtol", 1e-6, Number(0.0), "Relative tolerance. Default 1e-6."),
    Option("inith", 0.0, Number(0.0), "First step; 0 (default): chosen by IDA."),
    Option(
        "maxh",
        0.0,
        Number(0.0, infinite=True),
        "Largest step; 0 (default) and inf: no limit.",
    ),
    Option(
        "maxsteps",
        10000,
        Integer(1),
        "Most steps from one output point to the next, or to the end. Default 10000.",
    ),
    Option("maxord", 5, Integer(1, 5), "Highest order. Default 5."),
    Option(
        "suppress_alg",
        False,
        Flag(),
        "Keep algebraic variables out of the error test (see the notes of `IDA`). Default False; "
        "needed for index 2.",
    ),
    Option(
        "algvar",
        lambda solver: np.broadcast_to(
            np.array(getattr(solver.problem, "algvar", 1.0), dtype=float), solver.size
        ).copy(),
        Vector(values=(0.0, 1.0)),
        "1 for differential variables, 0 for algebraic ones. Default: the problem's, or all 1.",
    ),
    Option(
        "usejac",
        lambda solver: solver._F.has_jacobian,
        OnlyWithJacobian(),
        "Use the problem's jac. Default: if there is one.",
    ),
    Option(
        "linear_solver",
        lambda solver: "SPARSE" if solver._has_sparse_jacobian() else "DENSE",
        Linear(("DENSE", "SPARSE")),
        "'DENSE' or 'SPARSE' (SuperLU_MT). Default: as the problem's jac is.",
    ),
    Option(
        "tout1",
        1e-4,
        Number(0.0, open=True),
        "Where the first output could be, for `make_consistent`. Default 1e-4.",
    ),
)
