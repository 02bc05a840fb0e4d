"""The error of the result: runs with different steps, extrapolated; their differences tell it."""

from genalpha.driver.extrapolation.carry import Inherited, over_jump
from genalpha.driver.extrapolation.replay import Replay
from genalpha.driver.extrapolation.run import WantedErrorWarning, integrate_to_error
from genalpha.driver.extrapolation.solution import Errors, ExtrapolatedSolution
from genalpha.driver.extrapolation.suited import cheapest

__all__ = [
    "Errors",
    "ExtrapolatedSolution",
    "Inherited",
    "Replay",
    "WantedErrorWarning",
    "cheapest",
    "integrate_to_error",
    "over_jump",
]
