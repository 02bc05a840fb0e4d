"""The error of the result: runs with different steps, extrapolated; their differences tell it."""

from genalpha.driver.extrapolation.control import WantedErrorWarning
from genalpha.driver.extrapolation.run import integrate_to_error
from genalpha.driver.extrapolation.solution import ExtrapolatedSolution
from genalpha.driver.extrapolation.trial import Errors

__all__ = ["Errors", "ExtrapolatedSolution", "WantedErrorWarning", "integrate_to_error"]
