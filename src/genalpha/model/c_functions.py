"""Callbacks that are C functions: what is accepted, and what can be known of one by calling it.

Every callback of the table has one signature in C. It takes the time, a pointer for each vector of
its arguments, a pointer to where its result goes (matrices in C order, row by row), and a pointer
to data of its own::

    void force(double t, const double *q, const double *v, double *out, void *user_data)

It may be given as a `scipy.LowLevelCallable` (with user data), a `numba.cfunc`, or a function
pointer of ctypes. How much it writes is seen from what it leaves of a buffer; that is how the
numbers of constraints are found, and how a wrong size is noticed.

C functions are called without the GIL, and by several threads at once if several threads integrate:
what they do with Python objects they must ask for, and user data that they write to must be one
mechanism's own.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from genalpha.errors import CallbackError
from genalpha.kernels import Native
from genalpha.model.table import TABLE, shape_of

Array = np.ndarray

#: What a buffer is filled with before a function writes to it: a NaN that no computation makes.
UNTOUCHED = np.array([0x7FF4DEADBEEF1234], dtype=np.uint64)
#: Constraints may be so many more than coordinates; and what is looked at beyond a result.
SPARE = 256
#: The type of the types of function pointers in ctypes.
POINTER_TYPE = type(ctypes.CFUNCTYPE(None))


def signature(name: str) -> str:
    """Return the C signature of a callback, as `scipy.LowLevelCallable` writes it."""
    vectors = len(TABLE[name].arguments.split()) - 1
    return f"void (double, {'double *, ' * (vectors + 1)}void *)"


class CFunction:
    """A C function that was given for a callback.

    Parameters
    ----------
    name : str
        Of the callback.
    address, data : int
        The function, and what it gets as user data (0 for none).
    kept : object
        Must live as long as the function is called.
    """

    def __init__(self, name: str, address: int, data: int, kept: Any) -> None:
        self.name, self.address, self.data, self.kept = name, address, data, kept

    def bound(self, n: int, m: int, l: int) -> Native:  # noqa: E741
        """Return it as a callback of a mechanism with so many coordinates and constraints."""
        return self._native(n, m, l, shape_of(self.name, n, m, l))

    def _native(self, n: int, m: int, l: int, shape: tuple[int, ...]) -> Native:  # noqa: E741
        sizes = {"q": n, "v": n, "vdot": n, "lam": m, "psi": l}
        inputs = tuple(sizes[x] for x in TABLE[self.name].arguments.split()[1:])
        return Native(self.address, self.data, inputs, shape, self.kept)

    def __call__(self, t: float, *arguments: Array) -> Array:
        """Return all that the function writes, however much that is; for constraints, once."""
        n = np.size(arguments[0])
        return written(self._native(n, 0, 0, (4 * n + SPARE,)), t, arguments)


def written(function: Native, t: float, arguments: tuple[Any, ...]) -> Array:
    """Return what a function writes, up to the last entry that it touches.

    Raises
    ------
    CallbackError
        It leaves entries out.
    """
    size = int(np.prod(function.shape))
    buffer = np.repeat(UNTOUCHED, size + SPARE)
    function.write(t, arguments, buffer.view(float))
    touched = np.flatnonzero(buffer != UNTOUCHED)
    if touched.size and touched[-1] != touched.size - 1:
        missing = int(np.flatnonzero(buffer == UNTOUCHED)[0])
        raise CallbackError(
            f"it wrote to out[{int(touched[-1])}] but not to out[{missing}]; it must write every "
            "entry, zeros included"
        )
    return buffer.view(float)[: touched.size].copy()


def check_size(name: str, function: Native, t: float, arguments: tuple[Any, ...]) -> None:
    """Call a function once, and see whether it writes as much as it must.

    Raises
    ------
    CallbackError
        With both sizes.
    """
    wanted = int(np.prod(function.shape))
    try:
        count = written(function, t, arguments).size
    except CallbackError as error:
        raise CallbackError(f"{name}, a C function: {error}") from error
    if count != wanted:
        raise CallbackError(
            f"{name}, a C function, wrote {count} numbers; expected {wanted}, for shape "
            f"{function.shape}. Its signature must be {signature(name)}"
        )


def with_c_functions(arguments: dict[str, Any], faults: list[str]) -> dict[str, Any]:
    """Return the arguments of a mechanism with its C functions as `CFunction`."""
    return {
        name: _read(name, value, faults) if name in TABLE else value
        for name, value in arguments.items()
    }


def _read(name: str, value: Any, faults: list[str]) -> Any:
    """Return a callback as it is, or, if it is one of C, as `CFunction`."""
    if hasattr(value, "address") and hasattr(value, "ctypes"):  # a cfunc of numba
        value = value.ctypes
    if isinstance(type(value), POINTER_TYPE):
        value = LowLevelCallable(value, None, None if value.argtypes else signature(name))
    if not isinstance(value, LowLevelCallable):
        return value
    if _plain(value.signature) != _plain(signature(name)):
        faults.append(
            f"{name} is a C function of signature {value.signature!r}; expected {signature(name)!r}"
        )
    address, data = _pointers(value)
    return CFunction(name, address, data, value)


def _plain(text: str) -> str:
    """Return a signature without what makes no difference: spaces, const, kinds of pointers."""
    return re.sub(r"\bconst\b|\s", "", text).replace("double*", "void*")


def _pointers(value: LowLevelCallable) -> tuple[int, int]:
    """Return the addresses of a function and of its user data, which SciPy keeps in a capsule."""
    api, capsule = ctypes.pythonapi, tuple.__getitem__(value, 0)
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    context = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)
    address = pointer(("PyCapsule_GetPointer", api))(capsule, get_name(capsule))
    return address or 0, context(("PyCapsule_GetContext", api))(capsule) or 0
