"""The exceptions and warnings of genalpha: one class per thing that can go wrong.

Every message says what was wrong, with the offending value, and what to do about it.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AccumulatingEventsError",
    "CallbackError",
    "ConvergenceError",
    "DerivativeError",
    "FirstOrderWarning",
    "GenAlphaError",
    "InconsistentStartError",
    "InvalidOptionError",
    "RedundantConstraintsError",
    "RepairedStartWarning",
    "RestingContactError",
    "SingularSystemError",
    "StepLimitError",
    "UndampedWarning",
    "UnsupportedProblemError",
]


class GenAlphaError(Exception):
    """Base class of all errors raised by genalpha."""


class InvalidOptionError(GenAlphaError, ValueError):
    """Bad arguments or options; the message lists all faults, not only the first.

    Parameters
    ----------
    what : str
        Whose options they are, for example ``"Mechanism"``.
    faults : list of str
        One sentence per fault.
    """

    def __init__(self, what: str, faults: list[str]) -> None:
        self.what, self.faults = what, list(faults)
        lines = "".join(f"\n  - {fault}" for fault in faults)
        super().__init__(f"{what}: {len(faults)} fault(s) in the arguments:{lines}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the arguments, not by the message."""
        return type(self), (self.what, self.faults), self.__dict__


class CallbackError(GenAlphaError, ValueError):
    """A user's callback returned something of the wrong shape or kind, or NaN."""


class DerivativeError(GenAlphaError, ValueError):
    """A derivative given by the user disagrees with differences."""


class InconsistentStartError(GenAlphaError, ValueError):
    """The initial values violate a constraint."""


class RedundantConstraintsError(GenAlphaError, ValueError):
    """Some constraint rows depend on others, so that the multipliers are not unique."""


class SingularSystemError(GenAlphaError, ArithmeticError):
    """A linear system of the method is singular."""


class ConvergenceError(GenAlphaError, ArithmeticError):
    """Newton's iteration did not converge."""


class UnsupportedProblemError(GenAlphaError, ValueError):
    """The problem does not have the structure that the method needs."""


class StepLimitError(GenAlphaError, RuntimeError):
    """The integration needs more steps than allowed, or smaller ones than the time resolves."""


class AccumulatingEventsError(GenAlphaError, RuntimeError):
    """Events follow each other faster and faster, as when a bouncing body comes to rest."""


class RestingContactError(AccumulatingEventsError):
    """An impact has stopped a body at an event, and it would go on through it nevertheless."""


class UndampedWarning(UserWarning):
    """The scheme has no numerical damping where it needs some."""


class RepairedStartWarning(UserWarning):
    """A start off the constraints was moved onto them, as asked for."""


class FirstOrderWarning(UserWarning):
    """The coefficients make the scheme one of first order."""
