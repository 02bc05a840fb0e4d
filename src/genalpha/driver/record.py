"""What is kept of an integration: every step."""

from __future__ import annotations

import numpy as np

from genalpha.driver.march import March
from genalpha.driver.stepper import Later
from genalpha.numerics.interpolation import Knot

Array = np.ndarray


class Record:
    """Takes the steps of a march, and keeps them.

    Parameters
    ----------
    march : March
    complete : bool
        Whether acceleration and multipliers of every step are worked out at once.

    Attributes
    ----------
    steps : list of Knot or Later
    times : list of float
    a : list of (n,) array
        The scheme's acceleration-like variable.
    """

    def __init__(self, march: March, complete: bool) -> None:
        self._march, self._complete = march, complete
        self.steps: list[Knot | Later] = []
        self.times: list[float] = []
        self.a: list[Array] = []

    def run(self, t_final: float) -> None:
        """March from the start, which is kept too, to `t_final`."""
        march = self._march
        self.keep()
        while march.t != t_final:
            march.step(t_final)
            self.keep()

    def keep(self) -> None:
        """Keep the present state."""
        march = self._march
        stepper = march.stepper
        self.steps.append(stepper.knot() if self._complete else stepper.known())
        self.times.append(march.t)
        self.a.append(stepper.state.a)
