"""What the user may choose about an integration, whatever the scheme, and what all choices mean.

Options of single schemes are declared in their files.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from genalpha.errors import InvalidOptionError
from genalpha.model import Mechanism
from genalpha.numerics.accuracy import DEFAULT, for_tolerance, leading_tolerance
from genalpha.numerics.newton import MAX_ITERATIONS, MODES
from genalpha.numerics.systems import LINEAR_SOLVERS, klu
from genalpha.options import (
    Choice,
    Choices,
    Declared,
    Flag,
    Integer,
    Number,
    Numbers,
    Option,
    Vector,
)
from genalpha.schemes import SCHEMES, Scheme, Settings

DEFAULT_SCHEME = "GenAlphaSOI2"
#: Methods with a run of their own, which is above this layer and so found by its name.
STABILIZED = ("StabilizedEuler", "StabilizedRK2")

#: Options of Newton's iteration.
NEWTON = (
    Option(
        "jacobian",
        "auto",
        Choice(MODES),
        "When Newton's matrix is renewed: 'auto' (default: when the iterations that its age has "
        "cost add up to what a new one costs), 'every step' or 'every iteration'.",
    ),
    Option(
        "newton_accuracy",
        None,
        Number(0.0, np.inf, open=True, optional=True),
        "Newton's iteration stops at this error, relative to the accelerations. Default None: 1e-9 "
        "if `h` is given, which leaves almost nothing but rounding in the constraints, otherwise "
        "0.05 rtol^(2/3), with GenAlphaI3 0.005 rtol^(2/3), and at most 1e-3. Take 1e-13 to have "
        "everything solved to rounding.",
    ),
    Option(
        "max_iterations",
        MAX_ITERATIONS,
        Integer(1),
        f"Most Newton iterations in a step. Default {MAX_ITERATIONS}.",
        alias="newt",
    ),
    Option(
        "linear_solver",
        "auto",
        Choice(LINEAR_SOLVERS, any_case=True),
        "Linear algebra: 'auto' (default: LAPACK for small or full systems, otherwise sparse), "
        "'dense', 'sparse' (KLU if PyKLU is installed, otherwise SuperLU), 'superlu' or 'klu'. "
        "Capitals are allowed, as in Assimulo.",
    ),
)
#: Options of the step sizes.
STEPS = (
    Option(
        "h",
        None,
        Number(without=0.0, optional=True),
        "Fixed step size; None (default): steps adapt to `atol` and `rtol`. Its sign does not "
        "matter. Take a fixed step for real-time work, for the papers' experiments and for "
        "energies without jumps. `integrate` also takes a sequence of step sizes.",
    ),
    Option(
        "rtol",
        1e-6,
        Number(0.0),
        "Relative tolerance of adaptive steps. Default 1e-6, which gives about four digits of the "
        "result: its error falls as rtol^(2/3).",
    ),
    Option(
        "atol",
        lambda owner: np.full(owner.size, 1e-6),
        Vector(0.0),
        "Absolute tolerance of adaptive steps, one number or one for each of [q, v, lam, psi], "
        "or [q, v, z, lam, psi]. Default 1e-6. Lower it where a coordinate is small by nature.",
    ),
    Option(
        "inith",
        0.0,
        Number(0.0),
        "First adaptive step; 0 (default): chosen. Give it when the start is far quicker than the "
        "rest.",
        setter="initial_step",
    ),
    Option(
        "maxh",
        0.0,
        Number(0.0, infinite=True),
        "Largest adaptive step; 0 (default) and inf: no limit. Give it when forces act so shortly "
        "that a step could miss them.",
        setter="max_h",
    ),
    Option(
        "maxsteps",
        100_000,
        Integer(1),
        "Most adaptive steps from one output point to the next or, where every step is a result, "
        "from the start to the end. Default 100000.",
        setter="max_steps",
    ),
    Option(
        "safe",
        0.9,
        Number(1e-3, 1.0, open=True),  # as RADAU5 has it
        "Safety factor of adaptive steps. Default 0.9; lower it when many steps are rejected.",
    ),
    Option(
        "fac1",
        0.2,
        Number(0.0, 1.0, open=True),
        "An adaptive step is at least this times the last one. Default 0.2.",
    ),
    Option(
        "fac2",
        5.0,
        Number(1.0, open=True),
        "An adaptive step is at most this times the last one. Default 5.",
    ),
    Option(
        "suppress_alg",
        True,
        Flag(),
        "Keep the multipliers out of the error test of adaptive steps. Default True; False "
        "controls their errors too, weighed with h^2 as RADAU5 does with variables of index 3, at "
        "the price of more steps.",
    ),
)
#: Options of the result.
RESULT = (
    Option(
        "error",
        None,
        Numbers(("q", "v", "z", "lam", "psi"), Number(1e-13, 0.1)),
        "The wanted error of the result, not of a step: for each of q, v, z, lam and psi, the "
        "largest error of any component at any time, relative to the largest value of any "
        "component at any time. A number, or a dict for some of them: {'q': 1e-8, 'lam': 1e-4}. "
        "The motion is then computed several times and extrapolated; `solution.error` has the "
        "estimate. Default None: "
        "`h`, or `rtol` and `atol`, say how long steps are. With it, `rtol` and `atol` are those "
        "of a first run that finds out where steps must be short (1e-2 and 1e-3 unless given), and "
        "`maxsteps` is the most steps of all runs together.",
    ),
)


class Owner(NamedTuple):
    """Stands for a mechanism where an option asks how many unknowns there are."""

    size: int


def options_of(scheme: type[Scheme]) -> tuple[Option, ...]:
    """Return all options of an integration with a scheme: its own, then everybody's."""
    return (*scheme.options, *STEPS, *NEWTON)


@cache
def _declared(kind: type[Scheme]) -> Declared:
    """Return everything that may be chosen with a scheme."""
    return Declared((*options_of(kind), *RESULT))


class Options(Choices):
    """Options of an integration, as attributes.

    Parameters
    ----------
    scheme : str
        A name in `genalpha.schemes.SCHEMES`.
    mechanism : Mechanism, optional
        Without it, vectors with one value for each unknown are refused.
    **given
        What was given of `options_of` the scheme, by name or alias.

    Attributes
    ----------
    faults : list of str
        What is wrong with them, whatever the mechanism.
    unequal : bool
        Whether step sizes are given that are not all the same; False unless somebody says so.
    """

    def __init__(
        self, scheme: str = DEFAULT_SCHEME, mechanism: Mechanism | None = None, **given: Any
    ) -> None:
        known = isinstance(scheme, str) and scheme in SCHEMES
        kind = SCHEMES[scheme if known else DEFAULT_SCHEME]
        o = mechanism
        size = 1 if o is None else o.n_moving + o.n_q + o.n_lam + o.n_psi
        declared = _declared(kind)  # type: ignore[arg-type]  # classes can be hashed
        super().__init__(declared, given, Owner(size), str(scheme))
        self.scheme = scheme
        self.unequal = False
        if not known:
            names = ", ".join(map(repr, (*SCHEMES, *STABILIZED)))
            self.faults.insert(0, f"scheme = {scheme!r}; expected one of {names}")
        if self.__dict__.get("linear_solver") == "klu" and not klu():
            self.faults.append(
                "linear_solver = 'klu' needs the package PyKLU, which is not installed"
            )
        if not self.faults and not self.rtol and not np.all(self.atol):
            self.faults.append(
                "rtol = 0 and atol = 0 for some component: no error would be allowed"
            )

    def settings(self, mechanism: Mechanism, tolerance: float | None = None) -> Settings:
        """Return the scheme's settings, and warn of what is seldom wanted.

        Parameters
        ----------
        mechanism : Mechanism
        tolerance : float, optional
            Of adaptive steps, from which Newton's accuracy follows unless it is given.

        Raises
        ------
        InvalidOptionError
            With all faults: of the options, and of the conditions that the scheme needs.
        """
        if self.faults:
            raise InvalidOptionError(str(self.scheme), self.faults)
        kind = SCHEMES[self.scheme].fitting(mechanism)
        accuracy = self.newton_accuracy
        if accuracy is None:
            accuracy = DEFAULT
            if tolerance is not None:
                accuracy = for_tolerance(tolerance, kind.newton_share)
        steps = "adaptive" if tolerance is not None else "given" if self.unequal else "equal"
        settings = Settings(kind.coefficients(self), self, accuracy, steps)
        faults = kind.faults(mechanism, settings)
        if faults:
            raise InvalidOptionError(self.scheme, faults)
        for warning in kind.warnings(mechanism, settings):
            warnings.warn(warning, stacklevel=4)
        return settings

    @property
    def tolerance(self) -> float | None:
        """The tolerance that accuracies follow; None for given steps."""
        return None if self.h is not None else leading_tolerance(self.rtol, self.atol)
