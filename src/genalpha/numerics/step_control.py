"""How the step size follows the error.

The next size is the present one, corrected twice. It goes a part of the way to where the error
would be as aimed at, and it follows the trend: if phi = err / h^3, the motion's part of the error,
changes by a factor from one step to the next, h^3 changes by its inverse. A controller that only
answers to the last error is always a step or two behind the motion: its steps are too large where
phi grows and too small where it falls, and on a mechanism that moves to and fro these faults do
not cancel as the errors of a method of even order do. See the theory page for what that costs.

The controller knows step sizes, the order, error norms and their trend, and nothing of states.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

#: A steady error settles at this times safe^(order + 1): low enough that a motion which grows
#: wilder in an unforeseen way is mostly still within what is allowed.
AIM = 0.25
#: Share of the way to the aim that one step goes. All of it would follow the noise of estimates.
GAIN = 0.3
#: A rejected step is repeated with an error of this times safe^(order + 1), between the aim and
#: what is allowed: on a motion that grows wilder, a try that just passes lags behind.
AGAIN = 0.45
#: An error below this, in units of what is allowed, is rounding, or that of a motion without any
#: change. It says nothing about how far that goes on.
SILENT = 1e-4
#: After such an error the step grows by this at most.
CAUTIOUS = 2.0
#: Of two steps that land, the second is not shortened again for less than this factor.
HALF = 0.9
#: Left of the way to the end, in steps: so much is taken in one step.
ONE_STEP = 1.001


@dataclass
class Controller:
    """Chooses step sizes such that the local error stays below 1.

    Parameters
    ----------
    order : int
        The local error behaves as h^(order + 1).
    safe : float
        Safety factor, default 0.9. Less makes rejections rarer and steps smaller: a steady error
        settles at 0.25 safe^3, which is 0.18.
    fac1, fac2 : float
        The step size changes at least by the factor fac1 and at most by fac2 at a time; defaults
        0.2 and 5.
    keep : (float, float)
        The step size is kept if it would change by a factor between these two. Default 0.99
        and 1.01: more would make the steps lag behind the motion, and Newton's matrix outlives
        such changes anyway.
    """

    order: int = 2
    safe: float = 0.9
    fac1: float = 0.2
    fac2: float = 5.0
    keep: tuple[float, float] = (0.99, 1.01)
    _rejected: bool = False
    _fresh: bool = True

    def restart(self) -> None:
        """Forget the past, because what comes has nothing to do with it."""
        self._rejected, self._fresh = False, True

    def accepted(self, error: float, trend: float) -> float:
        """Return the factor by which the step size changes after an accepted step.

        Parameters
        ----------
        error : float
            Of the step, in units of what is allowed.
        trend : float
            By how much the logarithm of the motion's part of the error changes from this step to
            the next.
        """
        if error < SILENT:
            factor = CAUTIOUS
        else:
            # the first size is a guess: all the way to a better one
            factor = self._towards_aim(error, 1.0 if self._fresh else GAIN)
            factor *= exp(-trend / (self.order + 1))
        self._fresh = False
        factor = min(self.fac2, max(self.fac1, factor))
        if self._rejected:  # not back at once to what has just failed
            factor = min(factor, 1.0)
        self._rejected = False
        return 1.0 if self.keep[0] <= factor <= self.keep[1] else factor

    @property
    def aim(self) -> float:
        """The error at which a steady step size settles."""
        return float(AIM * self.safe ** (self.order + 1))

    def _towards_aim(self, error: float, gain: float) -> float:
        return float((self.aim / max(error, SILENT)) ** (gain / (self.order + 1)))

    def shortened(self, error: float) -> float:
        """Return the factor that a step allows which was shorter than wanted, to land on an end.

        Its other half has the same size, unless that is clearly too long.
        """
        self._rejected = False
        factor = self._towards_aim(error, 1.0)
        return 1.0 if HALF <= factor < 1.0 else factor

    def rejected(self, error: float) -> float:
        """Return the factor by which the step size is cut after a step with too large an error."""
        self._rejected = True
        return max(self.fac1, self.safe * (AGAIN / error) ** (1.0 / (self.order + 1)))

    def cut(self, share: float) -> float:
        """Return the factor of a step that shall be cut to this share of it, below 1."""
        self._rejected = True
        return share

    def failed(self) -> float:
        """Return the factor by which the step size is cut after Newton's iteration failed."""
        self._rejected = self._fresh = True
        return 0.25


def landing(left: float, h: float) -> float:
    """Return the size of the next step, such that no tiny step is left before the end.

    Parameters
    ----------
    left : float
        Way to the end, positive.
    h : float
        Step size wanted, positive.
    """
    if left <= ONE_STEP * h:
        return left
    return 0.5 * left if left < 2.0 * h else h
