"""How the step size follows the error.

A PI controller (Gustafsson; Hairer and Wanner, IV.2): an error that grows from step to step cuts
the step size more than the error alone would, which keeps rejections rare. It knows step sizes,
the order and error norms, and nothing of states.
"""

from __future__ import annotations

from dataclasses import dataclass

#: An error norm of 1 is just allowed; smaller than this is not believed.
SMALLEST_ERROR = 1e-4


@dataclass
class Controller:
    """Chooses step sizes such that the local error stays just below 1.

    Parameters
    ----------
    order : int
        The local error behaves as h^(order + 1).
    safe : float
        Safety factor, default 0.9. Less makes rejections rarer and steps smaller.
    fac1, fac2 : float
        The step size changes at least by the factor fac1 and at most by fac2 at a time; defaults
        0.2 and 5.
    keep : (float, float)
        The step size is kept if it would change by a factor between these two, so that Newton's
        matrix lives on and the method need not adjust. Default 0.9 and 1.2.
    """

    order: int = 2
    safe: float = 0.9
    fac1: float = 0.2
    fac2: float = 5.0
    keep: tuple[float, float] = (0.9, 1.2)
    _last_error: float = 1.0
    _rejected: bool = False

    def restart(self) -> None:
        """Forget the past, because what comes has nothing to do with it."""
        self._last_error, self._rejected = 1.0, False

    def accepted(self, error: float) -> float:
        """Return the factor by which the step size changes after a step with this error."""
        exponent = 1.0 / (self.order + 1)
        error = max(error, SMALLEST_ERROR)
        factor = self.safe * error ** (-0.7 * exponent) * self._last_error ** (0.4 * exponent)
        factor = min(self.fac2, max(self.fac1, factor))
        if self._rejected:  # not back at once to what has just failed
            factor = min(factor, 1.0)
        self._last_error, self._rejected = error, False
        return 1.0 if self.keep[0] <= factor <= self.keep[1] else factor

    def rejected(self, error: float) -> float:
        """Return the factor by which the step size is cut after a step with too large an error."""
        self._rejected = True
        return max(self.fac1, self.safe * error ** (-1.0 / (self.order + 1)))

    def failed(self) -> float:
        """Return the factor by which the step size is cut after Newton's iteration failed."""
        self._rejected = True
        return 0.25
