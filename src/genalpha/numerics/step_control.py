"""How the step size follows the error.

A predictive controller (Gustafsson; PC.4.7 in Söderlind's notation, here with a weaker
integrating part). With phi = err / h^3, which is the motion's part of the error, it supposes that
phi goes on changing as it did in the last step. A controller that only answers to the last error
is always a step or two behind the motion: its steps are too large where phi grows and too small
where it falls, and on a mechanism that moves to and fro these faults do not cancel as the errors
of a method of even order do. See the theory page for what that costs.

The controller knows step sizes, the order and error norms, and nothing of states.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Errors smaller than this, in units of what is allowed, are not believed.
SMALLEST_ERROR = 1e-4
#: A steady error settles at this times safe^(order + 1).
AIM = 0.35
#: Exponents of the last error and of the ratio of the last two, times order + 1.
INTEGRAL, PREDICTIVE = 0.25, 0.7
#: An error below this share of the aim never cuts the step, whatever the trend says.
FAR_BELOW = 1.0 / 3.0
#: A rejected step is repeated with an error of this times safe^(order + 1), between the aim and
#: what is allowed: on a motion that grows wilder, a try that just passes lags behind.
AGAIN = 0.6
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
        settles at 0.35 safe^3, which is 0.26.
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
    _last: tuple[float, float] | None = None
    _rejected: bool = False

    def restart(self) -> None:
        """Forget the past, because what comes has nothing to do with it."""
        self._last, self._rejected = None, False

    def accepted(self, error: float, h: float) -> float:
        """Return the factor by which the step size changes after a step with this error.

        Parameters
        ----------
        error : float
            In units of what is allowed.
        h : float
            Size of the step, with any sign.
        """
        known = self._last is not None and error > SMALLEST_ERROR
        factor = self._predicted(error, abs(h)) if known else self._towards_aim(error, 1.0)
        if error < FAR_BELOW * self.aim:
            # errors of `a` that fall with h only would draw the steps down without end
            factor = max(factor, 1.0)
        factor = min(self.fac2, max(self.fac1, factor))
        if self._rejected:  # not back at once to what has just failed
            factor = min(factor, 1.0)
        self._rejected = False
        self._last = (error, abs(h)) if error > SMALLEST_ERROR else None
        return 1.0 if self.keep[0] <= factor <= self.keep[1] else factor

    @property
    def aim(self) -> float:
        """The error at which a steady step size settles."""
        return float(AIM * self.safe ** (self.order + 1))

    def _predicted(self, error: float, h: float) -> float:
        assert self._last is not None
        last_error, last_h = self._last
        trend = (last_error / error) ** (PREDICTIVE / (self.order + 1)) * h / last_h
        return float(trend * self._towards_aim(error, INTEGRAL))

    def _towards_aim(self, error: float, gain: float) -> float:
        ratio = self.aim / max(error, SMALLEST_ERROR)
        return float(ratio ** (gain / (self.order + 1)))

    def shortened(self, error: float) -> float:
        """Return the factor that a step allows which was shorter than wanted, and forget the past.

        Such a step lands on an end. It shows no trend.
        """
        self.restart()
        return self._towards_aim(error, 1.0)

    def rejected(self, error: float) -> float:
        """Return the factor by which the step size is cut after a step with too large an error."""
        self._rejected = True
        return max(self.fac1, self.safe * (AGAIN / error) ** (1.0 / (self.order + 1)))

    def failed(self) -> float:
        """Return the factor by which the step size is cut after Newton's iteration failed."""
        # what follows has a size that says nothing about a trend
        self._last, self._rejected = None, True
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
