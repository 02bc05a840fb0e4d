"""What a scheme is: a class that describes itself, and whose objects take steps.

The driver, the Assimulo classes, the tests, the comparisons and the documentation know schemes
only through this class. A new one is a file with a subclass and a line in `genalpha.schemes`; it
is plain Python unless somebody gives it a .pxd file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from genalpha.errors import FirstOrderWarning, UndampedWarning
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import DEFAULT
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.linear import Solve
from genalpha.numerics.local_error import (
    ErrorConstants,
    History,
    VelocityHistory,
    generalized_alpha,
)
from genalpha.numerics.newton import Newton, Problem
from genalpha.numerics.prediction import Past
from genalpha.numerics.roots import Root, growing
from genalpha.numerics.systems import Systems, Terms
from genalpha.options import Choice, Choices, Flag, Instance, Number, Option
from genalpha.schemes.printed import Printed

Array = np.ndarray
Reported: TypeAlias = tuple[Array, Array, Array]
State = Any  # each scheme's own class: t, q, v, a, h, x, kept, and what else it carries

ADJUST_STEPS = Option(
    "adjust_steps",
    True,
    Flag(),
    "Move the algorithmic acceleration to its new instant when the step size changes. GenAlphaI3 "
    "also changes the velocity that the step starts from, in the direction M^-1 [G; K]^T of the "
    "reactions (see `adjustment`); the velocity that is reported stays. Default True; False shows "
    "what the papers' formulas are for. GenAlphaI3 with holonomic constraints takes it with given "
    "steps only: adaptive ones would make accelerations wrong without bound.",
)
START = Option(
    "start",
    "shifted",
    Choice(("shifted", "plain")),
    "How the algorithmic acceleration starts: 'shifted' (default), as a second-order value at "
    "t0 + alpha h, or 'plain', as the acceleration at t0, as in the papers' runs, which costs "
    "accuracy of the first multipliers.",
)
RHO_INF = Option(
    "rho_inf",
    0.8,
    Number(0.0, 1.0),
    "Spectral radius at infinite frequency: 1 damps nothing, 0 all high frequencies at once. "
    "Default 0.8: little damping at low frequencies, enough for multipliers; lower it for stiff "
    "systems. Stands for `Coefficients.chung_hulbert(rho_inf)`.",
    excludes=("alpha", "coefficients"),
)
ALPHA = Option(
    "alpha",
    None,
    Number(-1.0 / 3.0 - 1e-12, 0.0, optional=True),
    "Numerical damping of Hilber, Hughes and Taylor: -1/3 damps most, 0 nothing. Stands for "
    "`Coefficients.hht(alpha)`. Default None.",
    excludes=("rho_inf", "coefficients"),
)
COEFFICIENTS = Option(
    "coefficients",
    None,
    Instance(Coefficients, Coefficients.hht(-0.2)),
    "A `genalpha.Coefficients` instead of the short forms above; default None.",
    excludes=("rho_inf", "alpha"),
)


@dataclass(frozen=True)
class Settings:
    """What has been chosen for a whole run.

    Attributes
    ----------
    coefficients : Coefficients or None
        Of a scheme that has some.
    chosen : Choices
        All options; they are attributes of the settings too.
    relative : float
        Accuracy of Newton's iteration, see `genalpha.numerics.accuracy`.
    steps : {"equal", "given", "adaptive"}
        Whether step sizes change.
    """

    coefficients: Any
    chosen: Choices
    relative: float = DEFAULT
    steps: str = "equal"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "chosen":  # before there are any, as in copies
            raise AttributeError(name)
        return getattr(self.chosen, name)


class Scheme(Problem):
    """A scheme; an object of it is at work on one mechanism for a whole integration.

    As a class it tells what it is:

    1. `name`, `paper` (where it comes from) and `doc` (when to take it) are for people.
    2. `options` are those that it has beside everybody's.
    3. `fitting(mechanism)` is the class for the mechanism's kinds of constraints, `faults` are the
       conditions that it needs and that are not met, `warnings` what the user should know.
    4. `errors` are the constants of the local error, `report` tells true accelerations and
       multipliers.
    5. `printed` are the equations of a step as the paper prints them, and `meant` is what its `a`
       approximates, for tests.

    As an object it takes steps, each of which is a problem for Newton's iteration. It maps an old
    state to a new one, and changes neither. `history` follows derivatives from step to step.

    Parameters
    ----------
    o : Mechanism
    settings : Settings
    newton : Newton
    """

    name = ""
    paper = ""
    doc = ""
    options: tuple[Option, ...] = ()
    #: Whether velocities satisfy the rate of the holonomic constraints as positions do g.
    keeps_velocity = True
    #: Whether `a` of its states changes from step to step as the acceleration does.
    a_is_acceleration = False
    #: With adaptive steps, Newton's iteration may leave this share of rtol^(2/3) (`for_tolerance`).
    newton_share = 0.05

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        self.o, self.settings, self.newton, self.relative = o, settings, newton, settings.relative
        self.counters = newton.counters
        #: Unknowns of the last accepted steps, to guess from.
        self.past = Past()
        #: Iteration matrices by name; a scheme by itself, in tests, has no such option.
        self.systems = Systems(getattr(settings, "linear_solver", "auto"))
        #: Whether the start is to be improved, by `shifted`, from a first step.
        self.shifts = False

    def factorize(self, name: str, A: Terms, R: Sequence[Terms], J: Sequence[Terms]) -> Solve:
        """Assemble and factorize an iteration matrix, see `Systems.factorize`."""
        self.counters.nlus += 1
        return self.systems.factorize(name, A, R, J)

    def count_matrix(self) -> None:
        """Count an evaluation of the iteration matrix, with the differences that it takes."""
        self.counters.njacs += 1
        self.counters.nfcnjacs += self.o.tangent_cost

    @classmethod
    def fitting(cls, o: Mechanism) -> type[Scheme]:
        """Return the class that fits the mechanism's constraints.

        Raises
        ------
        UnsupportedProblemError
            None does.
        """
        return cls

    @staticmethod
    def coefficients(chosen: Choices) -> Any:
        """Return the coefficients that the options stand for; None if there are none."""
        return None

    @classmethod
    def symmetric(cls, o: Mechanism) -> dict[str, Any]:
        """Return options with which a step backward undoes a step forward, if there are such.

        Results then have expansions in even powers of h, see `genalpha.driver.extrapolation`.
        """
        return {}

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Return the state at the start, for a first step of size h."""
        raise NotImplementedError

    def shifted(self, state: State, first: State, h: float) -> State:
        """Return a better start, from the state that a first step of size h has led to."""
        return state

    def take(self, state: State, h: float) -> State:
        """Return the state after a step of size `h`."""
        raise NotImplementedError

    def remember(self, t: float, state: State) -> None:
        """Remember an accepted step, or a start, to guess the next one from."""
        self.past.append(t, state.x)

    def history(self, t: float, v: Array, vdot: Array) -> History:
        """Return what tells the derivatives that the local error needs, from a start on."""
        return VelocityHistory(t, v, vdot)

    def native(self) -> Any:
        """Return the same steps in machine code, see `genalpha.schemes.native`; None if not."""
        return None

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Return vdot, lam, psi, all of second order; `kept` is that of the state."""
        raise NotImplementedError

    @staticmethod
    def report_rows(o: Mechanism, rows: Array) -> Reported | None:
        """Return the same of many steps at once, which are rows (t, q, v, a, kept).

        None (default): it costs as much as one by one.
        """
        return None

    @staticmethod
    def meant(o: Mechanism, t: float, motion: Motion) -> Array:
        """Return what `a` approximates, of the true motion at t (+ alpha h)."""
        return np.asarray(motion.vdot)

    @staticmethod
    def errors(settings: Settings) -> ErrorConstants:
        """Return the constants of the local error."""
        raise NotImplementedError

    @staticmethod
    def faults(o: Mechanism, settings: Settings) -> list[str]:
        """List conditions that the scheme needs and that are not met."""
        return []

    @staticmethod
    def warnings(o: Mechanism, settings: Settings) -> list[UserWarning]:
        """List what is allowed and seldom wanted."""
        return []

    @staticmethod
    def printed(o: Mechanism, settings: Settings, old: State, new: State) -> Printed:
        """Return the equations of the step from `old` to `new`, by their numbers in the paper."""
        raise NotImplementedError


@cache
def _short_form(name: str, value: float) -> Coefficients:
    """Return one of the short forms; the same one again, with what has been found out about it."""
    made: Coefficients = getattr(Coefficients, name)(value)
    return made


class GeneralizedAlpha(Scheme):
    """What the schemes of the family share: four coefficients, and an `a` at t + alpha h."""

    options: tuple[Option, ...] = (RHO_INF, ALPHA, COEFFICIENTS, START, ADJUST_STEPS)
    a_is_acceleration = True

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        c = settings.coefficients
        self.alpha, self.alpha_m, self.alpha_f = c.alpha, c.alpha_m, c.alpha_f
        self.beta, self.gamma, self.relation = c.beta, c.gamma, c.relation_at_infinity
        self.shifts = settings.start == "shifted" and c.alpha != 0.0
        self.adjusts = settings.adjust_steps

    @staticmethod
    def coefficients(chosen: Choices) -> Coefficients:
        """Return the coefficients, given in one of three ways."""
        if chosen.coefficients is not None:
            return chosen.coefficients
        if chosen.alpha is not None:
            return _short_form("hht", chosen.alpha)
        return _short_form("chung_hulbert", chosen.rho_inf)

    @staticmethod
    def errors(settings: Settings) -> ErrorConstants:
        """Those of every generalized-alpha scheme; the constraints only take away from them."""
        return generalized_alpha(settings.coefficients)

    @classmethod
    def roots(cls, o: Mechanism, c: Coefficients) -> tuple[Root, ...]:
        """Return the factors by which errors of a and of the multipliers are multiplied."""
        return ()

    @classmethod
    def faults(cls, o: Mechanism, settings: Settings) -> list[str]:
        """The condition of order 2, and roots that would let errors grow."""
        c, found = settings.coefficients, []
        if not c.is_second_order:
            condition = f"order-2 condition: gamma = {c.gamma:g}, needed 1/2 - alpha"
            if not c.is_newmark:
                found.append(f"{condition} = {0.5 - c.alpha:g}")
            elif settings.steps == "adaptive":
                found.append(f"{condition} for adaptive steps; give h, or take gamma = 1/2")
        return found + growing(cls.roots(o, c))

    @classmethod
    def warnings(cls, o: Mechanism, settings: Settings) -> list[UserWarning]:
        """First order, and changing steps where nothing damps what each change does to lam, psi."""
        c, found = settings.coefficients, list[UserWarning]()
        if not c.is_second_order:
            text = f"Newmark's scheme with gamma = {c.gamma:g} is of first order; gamma = 1/2 is of"
            found.append(FirstOrderWarning(f"{text} second, and rho_inf < 1 damps at second order"))
        undamped = any(root.stays for root in cls.roots(o, c))
        if undamped and (o.n_lam or o.n_psi) and settings.steps != "equal":
            text = (
                f"{cls.name} without numerical damping (rho_inf = 1) and with changing step sizes: "
                "every change makes errors of the multipliers that never die out; take rho_inf < 1 "
                "or equal steps"
            )
            found.append(UndampedWarning(text))
        return found
