"""The driver: scheme, Newton, step control, dense output composed; no formula of its own."""

from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.integrate import integrate
from genalpha.driver.march import March
from genalpha.driver.options import Options
from genalpha.driver.sizes import FixedSteps, GivenSteps
from genalpha.driver.solution import Solution
from genalpha.driver.stepper import Stepper
from genalpha.driver.sweep import Sweep, sweep
from genalpha.errors import FirstOrderWarning, StepLimitError, UndampedWarning

__all__ = [
    "AdaptiveSteps",
    "FirstOrderWarning",
    "FixedSteps",
    "GivenSteps",
    "March",
    "Options",
    "Solution",
    "StepLimitError",
    "Stepper",
    "Sweep",
    "UndampedWarning",
    "integrate",
    "sweep",
]
