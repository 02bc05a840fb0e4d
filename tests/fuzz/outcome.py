"""How an input can end: exactly one class each, found by looking at what came back."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from genalpha.errors import GenAlphaError, InvalidOptionError, UnsupportedProblemError

AGREES, REFUSED = "agrees", "clear error"
WRONG, CRASH, HANG, UNCLEAR = "wrong", "crash", "hang", "unclear message"
CLASSES = (AGREES, REFUSED, WRONG, CRASH, HANG, UNCLEAR)
GOOD = (AGREES, REFUSED)

#: Processor time of one input, in seconds, and calls of one callback: more is a hang.
SECONDS, CALLS = 60.0, 300_000
#: A message with one of these says what to do, or what would have been right.
ADVICE = re.compile(
    r"expected|must|did you mean|[Gg]ive|[Tt]ake|[Rr]aise|[Ll]ower|[Mm]ove|[Ll]ook for|[Ss]mooth|"
    r"[Dd]eclare|[Cc]heck|[Ff]ree|[Ss]et |[Uu]se|Go on|Is the|Remove|instead|Put|[Ll]eave"
)
TIME = re.compile(r"\bt\d? = [-\d.]|\bt0\b|the start")


class OverBudget(BaseException):
    """The input has used up its time or its calls; no `except Exception` may hide it."""


@dataclass
class Outcome:
    """What happened to an input."""

    kind: str
    what: str
    ended: str
    detail: str
    healthy: bool = False  # nothing was wrong with it: an error is a false alarm


@contextmanager
def limited() -> Iterator[None]:
    """Raise `OverBudget` after some processor time."""

    def stop(*_: Any) -> None:
        raise OverBudget(f"more than {SECONDS:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a budget of calls."""
    left = [CALLS]

    @wraps(function)
    def budgeted(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise OverBudget(f"more than {CALLS} calls of one callback")
        return function(*arguments)

    return budgeted


def ended(
    run: Callable[[], Any], judge: Callable[[Any], str], is_clear: Callable[[BaseException], str]
) -> tuple[str, str]:
    """Run an input and return its class and a detail.

    Parameters
    ----------
    run
        Returns a result, or raises.
    judge
        Returns what is wrong with a result, or nothing.
    is_clear
        Returns what is missing in the message of an error, or nothing; a `LookupError` means that
        the error should not have come through at all.
    """
    try:
        with limited(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                result = run()
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
                try:
                    missing = is_clear(error)
                except LookupError:
                    return CRASH, text
                return (UNCLEAR, f"lacks {missing}: {text}") if missing else (REFUSED, text)
            fault = judge(result)
    except OverBudget as error:
        return HANG, str(error)
    return (WRONG, fault) if fault else (AGREES, "")


#: Errors that are found before any time means something.
TIMELESS = (InvalidOptionError, UnsupportedProblemError)


def of_ours(*words: str, time: bool = True) -> Callable[[BaseException], str]:
    """Return a check of errors of genalpha: one of the words, a time where it has one, advice."""

    def missing(error: BaseException) -> str:
        if not isinstance(error, GenAlphaError):
            raise LookupError
        text = str(error)
        if words and not any(re.search(word, text) for word in words):
            return " or ".join(words)
        if time and not isinstance(error, TIMELESS) and not TIME.search(text):
            return "the time"
        return "" if ADVICE.search(text) else "what to do"

    return missing
