"""Callbacks that misbehave: they raise, return nonsense, or numbers in foreign clothes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tests.fuzz.models import Random

Callback = Callable[..., Any]


class UsersOwnError(Exception):
    """What a callback may raise."""


def _dense(value: Any) -> np.ndarray:
    return np.array(value.toarray() if sparse.issparse(value) else value, dtype=float)


def _with(value: Any, bad: Any, kind: Any = float) -> np.ndarray:
    array = np.array(_dense(value), dtype=kind)
    if array.size:
        array.flat[array.size // 2] = bad
    return array


def _masked(value: Any) -> Any:
    array = np.ma.array(_dense(value))
    array[np.unravel_index(0, array.shape)] = np.ma.masked
    return array


#: What cannot be a right answer, by what it is made from.
NONSENSE: dict[str, Callable[[Any], Any]] = {
    "nan": lambda x: _with(x, np.nan),
    "infinity": lambda x: _with(x, -np.inf),
    "sparse nan": lambda x: sparse.csc_array(np.atleast_2d(_with(x, np.nan))),
    "one more value": lambda x: np.zeros(_dense(x).size + 1),
    "no value": lambda x: np.zeros(0),
    "None": lambda x: None,
    "text": lambda x: "x",
    "a function": lambda x: len,
    "imaginary parts": lambda x: _with(x, 1j, complex),
    "a masked value": _masked,
    "objects": lambda x: _with(x, None, object),
    "ragged lists": lambda x: [[1.0], [1.0, 2.0]],
    "dates": lambda x: np.full(_dense(x).shape, np.datetime64("2020-01-01")),
}
#: Right answers that do not look like it.
CLOTHES: dict[str, Callable[[Any], Any]] = {
    "big-endian": lambda x: _dense(x).astype(">f8"),
    "long doubles": lambda x: _dense(x).astype(np.longdouble),
    "real complex": lambda x: _dense(x).astype(complex),
    "lists": lambda x: _dense(x).tolist(),
    "Fortran order": lambda x: np.asfortranarray(_dense(x)),
    "every other value": lambda x: np.repeat(_dense(x), 2, axis=-1)[..., ::2],
    "not aligned": lambda x: _not_aligned(_dense(x)),
    "a matrix object": lambda x: sparse.coo_matrix(_dense(x)) if np.ndim(x) == 2 else _dense(x),
    "objects that are floats": lambda x: _dense(x).astype(object),
    "unmasked": lambda x: np.ma.array(_dense(x)),
    "read-only": lambda x: _read_only(_dense(x)),
}
RECOVERABLE = (ZeroDivisionError, np.linalg.LinAlgError, FloatingPointError)
RAISED = (UsersOwnError, *RECOVERABLE, ValueError, KeyError, IndexError, RuntimeError)


def _not_aligned(array: np.ndarray) -> np.ndarray:
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    copy = memory[1:].view(np.float64).reshape(array.shape)
    copy[...] = array
    return copy


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


class SameBuffer:
    """Always the same array, filled anew, as compiled callbacks do it."""

    def __init__(self) -> None:
        self._buffer: np.ndarray | None = None

    def __call__(self, value: Any) -> np.ndarray:
        array = _dense(value)
        if self._buffer is None:
            self._buffer = array
        self._buffer[...] = array
        return self._buffer


class Faulty:
    """A callback with a fault.

    Parameters
    ----------
    function : callable
    fault : callable(value) or exception
    begins : float or int
        The time from which on, in the direction of the run, the fault shows; or, if it is an
        int, the number of the one call where it shows.
    backward : bool
    """

    def __init__(self, function: Callback, fault: Any, begins: float, backward: bool) -> None:
        self._function, self._fault, self._begins = function, fault, begins
        self._sign = -1.0 if backward else 1.0
        self.count = self.shown = 0

    def __call__(self, t: float, *arguments: Any) -> Any:
        self.count += 1
        if isinstance(self._begins, int):
            now = self.count == self._begins
        else:
            now = self._sign * (t - self._begins) >= 0.0
        if not now:
            return self._function(t, *arguments)
        self.shown += 1
        if isinstance(self._fault, BaseException):
            raise self._fault
        return self._fault(self._function(t, *arguments))


class Meddling:
    """A callback that changes its arguments after it has used them."""

    def __init__(self, function: Callback) -> None:
        self._function = function
        self.shown = 0

    def __call__(self, t: float, *arguments: Any) -> Any:
        value = self._function(t, *arguments)
        self.shown += 1
        for x in arguments:
            x += 1.0
        return value


def draw_fault(random: Random) -> tuple[str, str, Any]:
    """Return a family, a name and the fault itself."""
    family = str(
        random.choice(["nonsense", "clothes", "raises", "meddles"], p=[0.5, 0.2, 0.2, 0.1])
    )
    if family == "nonsense":
        name = str(random.choice(list(NONSENSE)))
        return family, name, NONSENSE[name]
    if family == "clothes":
        name = str(random.choice([*CLOTHES, "same buffer"]))
        return family, name, SameBuffer() if name == "same buffer" else CLOTHES[name]
    if family == "raises":
        kind = RAISED[int(random.integers(len(RAISED)))]
        return family, kind.__name__, kind("the user's own message")
    return family, "changes its arguments", None
