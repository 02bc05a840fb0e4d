"""Explicit integration with constraint stabilization, and without, for the drift it costs.

Gains "auto" are found for the step size, from a pilot run that is timed with the rest; where no
gains can keep the constraints at that step size, the run fails and says so.
"""

from __future__ import annotations

from typing import Any, ClassVar

from comparisons.solvers.base import Task, register
from comparisons.solvers.ours import Scheme
from genalpha.stabilization.gains import Gains

#: A usual choice of Baumgarte's parameter.
USUAL = 10.0


class Stabilized(Scheme):
    """A method of Mukharlyamov with given gains."""

    gains: ClassVar[Any] = "auto"
    main = False  # pilot runs for the gains take longer than the rest of the main job

    def prepare(self, task: Task) -> dict[str, Any]:
        """Return the step size and the gains."""
        return {"h": task.value, "gains": self.gains}


@register
class StabilizedRK2(Stabilized):
    """Second order, gains found for the step size."""

    name = scheme = "StabilizedRK2"
    color = "#006d5b"


@register
class BaumgarteRK2(Stabilized):
    """Second order, Baumgarte's stabilization with the usual gains."""

    name, scheme, gains = "StabilizedRK2 (Baumgarte)", "StabilizedRK2", Gains.baumgarte(USUAL)
    color = "#66c2a5"


@register
class PlainRK2(Stabilized):
    """Second order, no stabilization."""

    name, scheme, gains = "StabilizedRK2 (no gains)", "StabilizedRK2", Gains.none()
    color = "#000080"


@register
class StabilizedEuler(Stabilized):
    """First order, gains found for the step size."""

    name = scheme = "StabilizedEuler"
    order = 1
    color = "#ff1493"
