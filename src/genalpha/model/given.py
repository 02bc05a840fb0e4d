"""Arguments as users give them, read one by one; what is wrong is collected and raised together.

Options have a class of their own, `genalpha.options.Option`; this is for arguments that belong to
one call: times, states, components.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from genalpha.errors import InvalidOptionError

Array = np.ndarray

#: Whatever NumPy raises for what is no number.
NO_NUMBERS = (TypeError, ValueError, OverflowError)


class Given:
    """Reads arguments of one call.

    Parameters
    ----------
    what : str
        Whose arguments they are, for the message.

    Attributes
    ----------
    faults : list of str
        One sentence per fault: name, value, and what was expected.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.faults: list[str] = []

    def fault(self, name: str, value: Any, expected: str) -> None:
        """Note that an argument is not as expected."""
        self.faults.append(f"{name} = {shown(value)}; expected {expected}")

    def must_be(self, name: str, value: Any, kind: type, expected: str) -> None:
        """Raise at once if an argument is not of a class: nothing can be read without it."""
        if not isinstance(value, kind):
            self.fault(name, value, expected)
            self.check()

    def number(self, name: str, value: Any, expected: str = "a finite number") -> float:
        """Return a finite number; NaN, with a fault, if it is none."""
        try:
            if type(value) is float or type(value) is int:
                number = float(value)
            else:
                number = np.nan if np.iterable(value) else float(real(value))
        except NO_NUMBERS:
            number = np.nan
        if not isfinite(number):
            self.fault(name, value, expected)
            return np.nan
        return number

    def vector(self, name: str, value: Any, size: int | None = None) -> Array:
        """Return finite numbers of shape (size,); no numbers, with a fault, if they are not so."""
        wanted = "a vector" if size is None else f"shape ({size},)"
        try:
            values = np.atleast_1d(real(value))
        except NO_NUMBERS:
            self.fault(name, value, f"numbers of {wanted}")
            return np.empty(0)
        if values.ndim != 1 or size not in (None, values.size):
            self.faults.append(f"{name} has shape {values.shape}; expected {wanted}")
        elif not np.isfinite(values).all():
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            self.faults.append(f"{name}[{i}] is {values[i]}; expected finite numbers")
        return values

    def components(self, name: str, value: Any, n: int) -> Array:
        """Return indices of components of n, given as such or as n flags."""
        try:
            found = np.asarray(value if np.iterable(value) else [value])
        except ValueError:  # rows of different lengths
            found = np.array([np.nan])
        if found.size == 0:
            return np.arange(0)
        if found.dtype == bool and found.shape == (n,):
            return np.flatnonzero(found)
        if found.dtype.kind in "iu" and found.ndim == 1 and np.all((-n <= found) & (found < n)):
            return np.unique(found % n)
        self.fault(name, value, f"whole numbers from 0 to {n - 1}, or {n} times True or False")
        return np.arange(0)

    def check(self) -> None:
        """Raise an `InvalidOptionError` with all faults, if there are any."""
        if self.faults:
            raise InvalidOptionError(self.what, self.faults)


def real(value: Any) -> Array:
    """Return a copy of any numbers as floats of this machine.

    Raises
    ------
    TypeError, ValueError
        For what is no number, and where something would be lost: imaginary parts, masks.
    """
    if value is None:  # which NumPy takes for NaN
        raise TypeError("nothing")
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError("some of them are masked")
    numbers = np.asarray(value)
    if numbers.dtype.kind == "O" and any(x is None for x in numbers.flat):
        raise TypeError("some of them are None")
    if numbers.dtype.kind == "c":
        if numbers.imag.any():
            raise ValueError("they have imaginary parts")
        numbers = numbers.real
    if numbers.dtype.kind in "SUmM":
        raise TypeError(f"they are of type {numbers.dtype}")
    return np.array(numbers, dtype=float)


def wrong_call(name: str, function: Callable[..., Any], wanted: str, write: str = "") -> str:
    """Say that a function takes other arguments than it is called with, and what to write."""
    try:
        takes_now = f" takes {inspect.signature(function)}, but"
    except (TypeError, ValueError):
        takes_now = ""
    return f"{name}{takes_now} is called with ({wanted}): write def {write or name}({wanted})"


def shown(value: Any, most: int = 60) -> str:
    """Return a value for a message, in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def takes(function: Callable[..., Any], count: int) -> bool:
    """Tell whether a function can be called with so many arguments; True if nobody knows."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # functions of C do not say
        return True
    return True
