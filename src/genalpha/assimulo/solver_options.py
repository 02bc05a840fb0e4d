"""The options of genalpha's solver classes: Assimulo's names, and those of the schemes."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.assimulo.option import Option, choice, flag, integer, number, options_of, vector
from genalpha.driver.options import STARTS
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.newton import MAX_ITERATIONS, MODES

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


def _usejac(solver: Any, value: Any) -> bool:
    if flag(solver, value) and not solver._knows_jacobian:
        raise ValueError("False, because the problem has no jac and the mechanism no derivatives")
    return bool(value)


def _coefficients(solver: Any, value: Any) -> Coefficients | None:
    if value is None or isinstance(value, Coefficients):
        return value
    raise ValueError("a genalpha.Coefficients object")


class SolverOptions:
    """Options as properties; ``solver.options`` holds the same values.

    A single bad value is refused when it is set. All of them, and those that do not go together,
    are checked once more when an integration starts, and all faults come in one error.
    """

    options: dict[str, Any]
    _knows_jacobian: bool

    h = Option(
        None,
        number("None or a nonzero, finite number", lambda x: 0 < abs(x) < np.inf, optional=True),
        "Fixed step size; None (default): steps adapt to `atol` and `rtol`. Its sign does not "
        "matter. Take a fixed step for real-time work, for the papers' experiments and for "
        "energies without jumps.",
    )
    atol = Option(
        lambda solver: np.full(solver._leny, 1e-6),
        vector("numbers >= 0", lambda x: bool((x >= 0).all() and np.isfinite(x).all())),
        "Absolute tolerance, one number or one per unknown. Default 1e-6. Lower it where a "
        "coordinate is small by nature. Only for adaptive steps.",
    )
    rtol = Option(
        1e-6,
        number("a number >= 0", lambda x: 0 <= x < np.inf),
        "Relative tolerance. Default 1e-6. Only for adaptive steps.",
    )
    inith = Option(
        0.0,
        number("a number >= 0", lambda x: 0 <= x < np.inf),
        "First step; 0 (default): chosen. Only for adaptive steps; give it when the start is far "
        "quicker than the rest.",
        method="initial_step",
    )
    maxh = Option(
        0.0,
        number("a number >= 0", lambda x: x >= 0),
        "Largest step; 0 (default) and inf: no limit. Only for adaptive steps; give it when forces "
        "act so shortly that a step could miss them.",
        method="max_h",
    )
    maxsteps = Option(
        10000,
        integer("a positive integer", lambda x: x > 0),
        "Most steps from one result to the next. Default 10000. Only for adaptive steps: the "
        "number of fixed ones is known.",
        method="max_steps",
    )
    safe = Option(
        0.9,
        number("a number in (0, 1)", lambda x: 0 < x < 1),
        "Safety factor of adaptive steps. Default 0.9; lower it when many steps are rejected.",
    )
    fac1 = Option(
        0.2,
        number("a number in (0, 1)", lambda x: 0 < x < 1),
        "An adaptive step is at least this times the last one. Default 0.2.",
    )
    fac2 = Option(
        5.0,
        number("a number > 1", lambda x: 1 < x < np.inf),
        "An adaptive step is at most this times the last one. Default 5.",
    )
    suppress_alg = Option(
        True,
        flag,
        "Keep the multipliers out of the error test. Default True; False also controls their "
        "errors, at the price of more steps.",
    )
    algvar = Option(
        lambda solver: _algvar(solver),
        vector("0 (algebraic) or 1", lambda x: bool(np.isin(x, (0, 1)).all())),
        "1 for differential unknowns, 0 for algebraic ones. Default: the problem's. Kept for "
        "scripts that set it: these classes know what q, v, lam and psi are.",
    )
    usejac = Option(
        lambda solver: solver._knows_jacobian,
        _usejac,
        "Use the derivatives of the problem (`jac`) or of its mechanism for Newton's iteration. "
        "Default: if there are any. Switch it off when they may be wrong.",
    )
    linear_solver = Option(
        lambda solver: solver._natural_linear_solver,
        choice("DENSE", "SPARSE"),
        "Linear algebra, 'DENSE' or 'SPARSE'. Default: as the problem's or mechanism's matrices "
        "are. Sparse pays from about 100 unknowns on.",
    )
    newt = Option(
        MAX_ITERATIONS,
        integer("a positive integer", lambda x: x > 0),
        "Most Newton iterations in a step. Default 15.",
    )
    newton_accuracy = Option(
        None,
        number("a positive number or None", lambda x: 0 < x < np.inf, optional=True),
        "Newton's iteration stops at this error, relative to the accelerations. Default None: 1e-9 "
        "if `h` is given, otherwise 1e-3 rtol^(2/3). Take 1e-13 to have the constraints solved to "
        "rounding whatever the step size.",
    )
    start = Option(
        "shifted",
        choice(*STARTS),
        "How the algorithmic acceleration starts: 'shifted' (default, second order) or 'plain', as "
        "in the papers' runs, which costs accuracy of the first multipliers.",
    )
    adjust_steps = Option(
        True,
        flag,
        "Adjust the algorithmic acceleration when the step size changes. Default True; False shows "
        "what the papers' formulas are for.",
    )
    jacobian = Option(
        "auto",
        choice(*MODES),
        "When Newton's matrix is renewed: 'auto' (default: when it contracts too slowly), 'every "
        "step' or 'every iteration'.",
    )

    def _set_defaults(self) -> None:
        for option in options_of(type(self)).values():
            option.set_default(self)
        self._known = frozenset(self.options)

    def _option_faults(self) -> list[str]:
        """List what is wrong with the options, together and one by one."""
        found = [option.fault(self) for option in options_of(type(self)).values()]
        faults = [fault for fault in found if fault]
        for name in sorted(set(self.options) - self._known - FOREIGN):
            faults.append(f"options[{name!r}] is no option of {type(self).__name__}")
        if not faults and self.h is None and self.rtol == 0 and (np.asarray(self.atol) == 0).any():
            faults.append("rtol and some of atol are 0; one of them must be positive")
        return faults


def _algvar(solver: Any) -> Any:
    given = getattr(solver.problem, "algvar", None)
    if given is not None:
        return np.array(given, dtype=float).ravel()
    layout, algebraic = solver._reading.layout, np.zeros(solver._leny)
    algebraic[layout.q] = algebraic[layout.v] = 1.0
    return algebraic


class ChungHulbertOptions(SolverOptions):
    """With the coefficients of Chung and Hulbert unless others are given."""

    rho_inf = Option(
        0.8,
        number("a number in [0, 1]", lambda x: 0 <= x <= 1),
        "Spectral radius at infinite frequency: 1 damps nothing, 0 all high frequencies at once. "
        "Default 0.8; lower it for stiff systems. None after `coefficients` was set.",
        excludes="coefficients",
    )
    coefficients = Option(
        None,
        _coefficients,
        "A `genalpha.Coefficients` instead of `rho_inf`; default None.",
        excludes="rho_inf",
    )

    def _scheme_options(self) -> dict[str, Any]:
        return {"coefficients": self.coefficients, "rho_inf": self.rho_inf}


class HHTOptions(SolverOptions):
    """With the coefficients of Hilber, Hughes and Taylor."""

    alpha = Option(
        -0.1,
        number("a number in [-1/3, 0]", lambda x: -1 / 3 - 1e-12 <= x <= 0),
        "Numerical damping: -1/3 damps most, 0 nothing. Default -0.1. None after `coefficients` "
        "was set.",
        excludes="coefficients",
    )
    coefficients = Option(
        None,
        _coefficients,
        "``Coefficients.hht(alpha)`` instead of `alpha`; default None.",
        excludes="alpha",
    )
    b = Option(
        0.0,
        number("a number other than 1/2", lambda x: np.isfinite(x) and x != 0.5),
        "The scheme's free parameter b. Default 0.",
    )
    variant = Option(
        "end",
        choice("end", "predicted", "midpoint"),
        "Where the reactions are taken: 'end' (default), 'predicted' or 'midpoint'.",
    )

    def _scheme_options(self) -> dict[str, Any]:
        return {
            "coefficients": self.coefficients,
            "alpha": self.alpha,
            "b": self.b,
            "variant": self.variant,
        }
