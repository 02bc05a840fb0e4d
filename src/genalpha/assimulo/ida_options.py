"""The options of `IDA`: Assimulo's names and defaults, checked, translated for scikit-sundae."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genalpha.errors import InvalidOptionError

Array = np.ndarray


def _option(key: str, check: Callable[[Any, Any], Any], doc: str) -> Any:
    """Return a property that keeps ``options[key]``; `check(solver, value)` returns it clean."""

    def get(self: Any) -> Any:
        return self.options[key]

    def put(self: Any, value: Any) -> None:
        self.options[key] = check(self, value)

    return property(get, put, doc=doc)


def _refuse(key: str, value: Any, expected: str) -> InvalidOptionError:
    return InvalidOptionError("IDA", [f"{key} is {value!r}; expected {expected}"])


def _number(key: str, expected: str, allowed: Callable[[float], bool]) -> Callable[[Any, Any], Any]:
    def check(solver: Any, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise _refuse(key, value, expected) from None
        if not allowed(number):
            raise _refuse(key, value, expected)
        return number

    return check


def _integer(key: str, expected: str, allowed: Callable[[int], bool]) -> Callable[[Any, Any], Any]:
    def check(solver: Any, value: Any) -> int:
        if not isinstance(value, (int, np.integer)) or not allowed(int(value)):
            raise _refuse(key, value, expected)
        return int(value)

    return check


def _flag(solver: Any, value: Any) -> bool:
    return bool(value)


def _vector(key: str, expected: str, allowed: Callable[[Array], bool]) -> Callable[[Any, Any], Any]:
    """Check a vector of the problem's size; one number stands for all."""

    def check(solver: Any, value: ArrayLike) -> Array:
        try:
            vector = np.array(value, dtype=float).ravel()
        except (TypeError, ValueError):
            raise _refuse(key, value, expected) from None
        if vector.size not in (1, solver._leny) or not allowed(vector):
            raise _refuse(key, value, f"{expected}, 1 or {solver._leny} values")
        return np.broadcast_to(vector, solver._leny).copy()

    return check


def _usejac(solver: Any, value: Any) -> bool:
    if value and not hasattr(solver.problem, "jac"):
        raise _refuse("usejac", value, "False, because the problem has no jac")
    return bool(value)


def _linear_solver(solver: Any, value: Any) -> str:
    if value not in ("DENSE", "SPARSE"):
        raise _refuse("linear_solver", value, "'DENSE' or 'SPARSE'")
    if value == "SPARSE" and not hasattr(solver.problem, "jac"):
        raise _refuse("linear_solver", value, "'DENSE', because the problem has no jac")
    return str(value)


class IDAOptions:
    """Options as properties; ``solver.options`` holds the same values."""

    options: dict[str, Any]

    atol = _option(
        "atol",
        _vector("atol", "positive numbers", lambda x: bool((x > 0).all())),
        "Absolute tolerance, one number or one per variable. Default 1e-6.",
    )
    rtol = _option(
        "rtol",
        _number("rtol", "a number >= 0", lambda x: 0 <= x < np.inf),
        "Relative tolerance. Default 1e-6.",
    )
    inith = _option(
        "inith",
        _number("inith", "a number >= 0", lambda x: 0 <= x < np.inf),
        "First step; 0 (default): chosen by IDA.",
    )
    maxh = _option(
        "maxh",
        _number("maxh", "a number >= 0", lambda x: x >= 0),
        "Largest step; 0 (default) and inf: no limit.",
    )
    maxsteps = _option(
        "maxsteps",
        _integer("maxsteps", "a positive integer", lambda x: x > 0),
        "Most steps from one output point to the next, or to the end. Default 10000.",
    )
    maxord = _option(
        "maxord",
        _integer("maxord", "an integer from 1 to 5", lambda x: 1 <= x <= 5),
        "Highest order. Default 5.",
    )
    suppress_alg = _option(
        "suppress_alg",
        _flag,
        "Keep algebraic variables out of the error test (see the notes of `IDA`). Default False; "
        "needed for index 2.",
    )
    algvar = _option(
        "algvar",
        _vector("algvar", "0 (algebraic) or 1", lambda x: bool(np.isin(x, (0, 1)).all())),
        "1 for differential variables, 0 for algebraic ones. Default: the problem's, or all 1.",
    )
    usejac = _option("usejac", _usejac, "Use the problem's jac. Default: if there is one.")
    linear_solver = _option(
        "linear_solver",
        _linear_solver,
        "'DENSE' or 'SPARSE' (SuperLU_MT). Default: as the problem's jac is.",
    )
    tout1 = _option(
        "tout1",
        _number("tout1", "a number > 0", lambda x: 0 < x < np.inf),
        "Where the first output could be, for `make_consistent`. Default 1e-4.",
    )

    def _set_defaults(self, problem: Any, sparse_jac: bool) -> None:
        self.atol, self.rtol, self.inith, self.maxh = 1e-6, 1e-6, 0.0, 0.0
        self.maxsteps, self.maxord, self.tout1 = 10000, 5, 1e-4
        self.suppress_alg = False
        self.algvar = getattr(problem, "algvar", 1)
        self.usejac = hasattr(problem, "jac")
        self.linear_solver = "SPARSE" if sparse_jac else "DENSE"

    def _sundae_options(self) -> dict[str, Any]:
        """Translate to scikit-sundae's names; tolerances of single variables are not here."""
        return {
            "rtol": self.rtol,
            "first_step": self.inith,
            "max_step": 0.0 if np.isinf(self.maxh) else self.maxh,
            "max_order": self.maxord,
            "algebraic_idx": [int(i) for i in np.flatnonzero(self.algvar == 0)],
        }
