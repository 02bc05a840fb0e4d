"""Callbacks of Python as machine code, by numba (the extra [numba]).

Each callback is compiled as it is, plain functions that it calls included, and wrapped as a C
function (see `c_functions`). What numba cannot compile is named, with its reason and what to write
instead.
"""

from __future__ import annotations

import importlib
import math
import re
import textwrap
import traceback
import types
from collections.abc import Callable
from functools import cache
from typing import Any

from genalpha.errors import UnsupportedProblemError
from genalpha.model.c_functions import CFunction
from genalpha.model.table import TABLE, shape_of

Function = Callable[..., Any]

#: Words of numba's messages, and what to write instead.
ADVICE = (
    ("Cannot modify readonly", "do not write to the arguments; make a new array, or copy them"),
    ("list_to_list", "write 0.0 for 0 in lists, so that all entries are floats"),
    ("fromty.dtype", "write 0.0 for 0 in lists, so that all entries are floats"),
    ("np.array", "give np.array a flat list of numbers, or fill an np.zeros entry by entry"),
    ("sparse", "return a dense array; large sparse mechanisms are fast as they are"),
    ("Untyped global name", "pass numbers and arrays in by a closure; numba knows NumPy and math"),
    ("Cannot determine Numba type", "use numbers, arrays and functions only, no objects"),
    ("No implementation of function", "use operations that numba knows: arithmetic, loops, NumPy"),
    ("Unknown attribute", "use operations that numba knows: arithmetic, loops, NumPy"),
    ("contiguous", "multiply contiguous arrays (np.ascontiguousarray), or write a loop"),
)
#: How lines of numba's messages begin that say nothing to the user.
SILENT = ("Failed in", "During", "File", "There", "-", "[", ">>>")
GENERAL = "write it in what numba knows: numbers, arrays, loops, NumPy's and math's functions"


class UncompilableError(Exception):
    """Why a callback cannot be compiled, and what to write instead."""


def compiled(
    callbacks: dict[str, Function], sizes: tuple[int, int, int], partly: bool
) -> dict[str, CFunction]:
    """Return callbacks of Python as C functions, by name.

    Parameters
    ----------
    callbacks : dict of str to callable
    sizes : (int, int, int)
        Numbers of coordinates, holonomic and nonholonomic constraints.
    partly : bool
        Whether what cannot be compiled is left out.

    Raises
    ------
    UnsupportedProblemError
        With all callbacks that cannot be compiled.
    """
    found, faults = {}, []
    for name, function in callbacks.items():
        try:
            found[name] = in_c(name, function, sizes)
        except UncompilableError as error:
            faults.append(f"{name} {error}")
    if faults and not partly:
        raise UnsupportedProblemError(
            "\n".join([*faults, "compiled(partly=True) leaves such callbacks in Python"])
        )
    return found


def in_c(name: str, function: Function, sizes: tuple[int, int, int]) -> CFunction:
    """Compile one callback.

    Raises
    ------
    UncompilableError
    """
    numba = _extended()
    n, m, l = sizes  # noqa: E741
    lengths = {"q": n, "v": n, "vdot": n, "lam": m, "psi": l}
    vectors = TABLE[name].arguments.split()[1:]
    double = numba.types.double
    vector = numba.types.Array(double, 1, "C", readonly=True)
    jitted = _jitted(numba, function, {})
    try:
        jitted.compile((double, *[vector] * len(vectors)))
        returned = next(iter(jitted.overloads.values())).signature.return_type
        shape = shape_of(name, n, m, l)
        body = _stored(numba, returned, shape)
        wrapper = _wrapper(vectors, lengths, math.prod(shape), body, jitted, numba)
        pointers = [numba.types.CPointer(double)] * (len(vectors) + 1)
        made = numba.cfunc(numba.types.void(double, *pointers, numba.types.voidptr))(wrapper)
    except UncompilableError:
        raise
    except Exception as error:  # of numba's own, and what slips through its checks
        raise UncompilableError(_reason(error)) from error
    return CFunction(name, made.address, 0, (made, jitted))


def _jitted(numba: Any, function: Any, known: dict[int, Any]) -> Any:
    """Return a function for numba, which knows the plain functions that it calls likewise."""
    if isinstance(function, numba.core.dispatcher.Dispatcher):
        return function
    if not isinstance(function, types.FunctionType):
        kind = type(function).__name__
        raise UncompilableError(f"is a {kind}, not a function: write it with def or lambda")
    if id(function) not in known:
        known[id(function)] = None  # calls itself: left to numba
        known[id(function)] = _with_helpers(numba, function, known)
    return known[id(function)] or function


def _with_helpers(numba: Any, function: types.FunctionType, known: dict[int, Any]) -> Any:
    names = _names(function.__code__)
    globals_ = {key: function.__globals__[key] for key in names & function.__globals__.keys()}
    cells = function.__closure__ or ()
    helpers = {
        key: _jitted(numba, x, known)
        for key, x in globals_.items()
        if isinstance(x, types.FunctionType)
    }
    inside = [
        _jitted(numba, x.cell_contents, known)
        if isinstance(x.cell_contents, types.FunctionType)
        else x.cell_contents
        for x in cells
    ]
    is_plain = all(isinstance(x, types.ModuleType) for x in globals_.values())
    if helpers or any(new is not old.cell_contents for new, old in zip(inside, cells, strict=True)):
        closure = tuple(types.CellType(x) for x in inside)
        changed = types.FunctionType(
            function.__code__, function.__globals__ | helpers, function.__name__,
            function.__defaults__, closure,
        )  # fmt: skip
        changed.__qualname__, changed.__module__ = function.__qualname__, function.__module__
        function, is_plain = changed, False
    options = {"error_model": "numpy", "nogil": True}
    if is_plain:  # numba does not notice when another global has another value
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no file to keep it for
            pass
    return numba.njit(**options)(function)


def _names(code: types.CodeType) -> set[str]:
    """Return the global names of a function, and of those inside it."""
    inner = [_names(x) for x in code.co_consts if isinstance(x, types.CodeType)]
    return set(code.co_names).union(*inner)


def _stored(numba: Any, returned: Any, shape: tuple[int, ...]) -> list[str]:
    """Return lines that write `value` to `out`, if it has the right size; else that stays NaN."""
    kinds, size = numba.types, math.prod(shape)
    extents = [extent for extent in shape if extent != 1]
    if isinstance(returned, kinds.Array) and returned.ndim:
        if returned.ndim < len(extents):
            raise UncompilableError(
                f"returns an array of {returned.ndim} dimensions; expected {shape}"
            )
        condition = f"value.size == {size}"
        if len(extents) == 2 and returned.ndim == 2:
            condition = f"value.shape == {shape}"
        return [f"if {condition}:", "    for i, x in enumerate(value.flat):", "        out[i] = x"]
    if isinstance(returned, (kinds.Number, kinds.Boolean)) and size == 1:
        return ["out[0] = value"]
    is_tuple = isinstance(returned, kinds.BaseTuple) and len(returned) == size
    if is_tuple and all(isinstance(x, kinds.Number) for x in returned):
        return [f"out[{i}] = value[{i}]" for i in range(size)]
    if isinstance(returned, kinds.List):
        if isinstance(returned.dtype, kinds.List) and len(shape) == 2:
            return [
                f"if len(value) == {shape[0]} and len(value[0]) == {shape[1]}:",
                f"    for i in range({shape[0]}):",
                f"        for j in range({shape[1]}):",
                f"            out[i * {shape[1]} + j] = value[i][j]",
            ]
        if isinstance(returned.dtype, kinds.Number) and len(extents) < 2:
            return [f"if len(value) == {size}:", f"    for i in range({size}):",
                    "        out[i] = value[i]"]  # fmt: skip
    raise UncompilableError(f"returns {returned}; return an array of shape {shape}")


def _wrapper(
    vectors: list[str], lengths: dict[str, int], size: int, body: list[str], inner: Any, numba: Any
) -> Any:
    """Return a function of pointers that calls `inner` with arrays."""
    lines = [
        *[f"{x} = carray({x}_, ({lengths[x]},))" for x in vectors],
        f"out = carray(out_, ({size},))",
        # what is not written, because an exception comes between, must not look like a result
        f"for i in range({size}):",
        "    out[i] = nan",
        f"value = inner(t, {', '.join(vectors)})",
        *body,
    ]
    pointers = "".join(f"{x}_, " for x in vectors)
    source = f"def wrapper(t, {pointers}out_, data):\n" + textwrap.indent("\n".join(lines), "    ")
    names: dict[str, Any] = {"carray": numba.carray, "inner": inner, "nan": math.nan}
    exec(source, names)
    return names["wrapper"]


def _reason(error: Exception) -> str:
    """Return what numba says in one line, and what to do about it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", "".join(traceback.format_exception(error)))
    told = re.sub(r"\x1b\[[0-9;]*m", "", str(error)) or type(error).__name__
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    said = [x for x in lines if not x.startswith(SILENT)]
    advice = next((advice for words, advice in ADVICE if words in text), GENERAL)
    return f"cannot be compiled: {' '.join(said[:2]):.300}; {advice}"


@cache
def _extended() -> Any:
    """Return numba, which is taught `array.tolist()`: callbacks of short vectors are full of it."""
    try:
        numba = importlib.import_module("numba")
        importlib.import_module("numba.extending")
    except ImportError as error:
        text = "compiled() needs numba, which is not installed: pip install genalpha[numba]"
        raise ImportError(text, name="numba") from error

    def tolist(array: Any) -> Any:
        def of_vector(array: Any) -> Any:
            return [x for x in array]  # noqa: C416

        return of_vector if array.ndim == 1 else None

    numba.extending.overload_method(numba.types.Array, "tolist")(tolist)
    return numba
