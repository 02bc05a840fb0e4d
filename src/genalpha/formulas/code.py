"""Formulas as source code, in C and in Python: common parts worked out once, constants folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.printing.c import C99CodePrinter
from sympy.printing.codeprinter import PrintMethodNotImplementedError
from sympy.printing.pycode import PythonCodePrinter

from genalpha.errors import InvalidOptionError
from genalpha.formulas.equations import Table

Expression = Any  # sympy.Expr

#: Whole powers up to this one are products.
LARGEST_PRODUCT = 8
#: What a matrix may depend on if it is not constant.
VARIABLES = ("q[", "v[", "vdot[", "lam[", "psi[")


@dataclass(frozen=True)
class Routine:
    """A function that writes numbers, as source code.

    Attributes
    ----------
    name : str
    arguments : str
        As in the table of callbacks.
    shape : tuple of int
        Of what it is about; it writes all of that, or the entries of `pattern`.
    pattern : sequence of (int, int), or None
        Row and column of each number that it writes, if it is sparse: by columns.
    is_constant : bool
        Whether it depends on parameters only.
    c, python : str
        Source code.
    """

    name: str
    arguments: str
    shape: tuple[int, ...]
    pattern: tuple[tuple[int, ...], ...] | None
    is_constant: bool
    c: str
    python: str


def routine(name: str, arguments: str, table: Table, as_sparse: bool = False) -> Routine:
    """Write a function that works out a table.

    Raises
    ------
    InvalidOptionError
        There is no code for a formula.
    """
    entries = {key: _steps_at_jumps(x) for key, x in table.entries.items()}
    places: Sequence[int]
    pattern, size = None, _size(table.shape)
    if as_sparse and len(table.shape) == 2:
        entries = dict(sorted(entries.items(), key=lambda item: item[0][::-1]))
        places, pattern = range(len(entries)), tuple(entries)
        size = len(entries)
    else:
        places = [_place(key, table.shape) for key in entries]
    common, results = sp.cse(
        list(entries.values()), symbols=sp.numbered_symbols("x", real=True), order="none"
    )
    free = set().union(*(x.free_symbols for x in entries.values()))
    is_constant = not any(str(x) == "t" or str(x).startswith(VARIABLES) for x in free)
    body = [(str(x), value) for x, value in common]
    written = list(zip(places, results, strict=True))
    try:
        c = _in_c(name, arguments, body, written, size)
        python = _in_python(name, arguments, body, written, size)
    except PrintMethodNotImplementedError as error:
        fault = f"{name} cannot be written as code: {str(error).splitlines()[0]}"
        raise InvalidOptionError("formulas", [fault]) from error
    return Routine(name, arguments, table.shape, pattern, is_constant, c, python)


def _size(shape: tuple[int, ...]) -> int:
    return shape[0] * (shape[1] if len(shape) == 2 else 1)


def _place(key: tuple[int, ...], shape: tuple[int, ...]) -> int:
    return key[0] if len(shape) == 1 else key[0] * shape[1] + key[1]


def _steps_at_jumps(x: Expression) -> Expression:
    """Return a formula in which Heaviside's step is written by cases."""
    if not x.has(sp.Heaviside):
        return x
    return x.replace(
        sp.Heaviside,
        lambda y, half=sp.S.Half: sp.Piecewise((0, y < 0), (half, sp.Eq(y, 0)), (1, True)),
    )


class _Products:
    """Printers that write small whole powers as products, which are faster than pow."""

    def _print_Pow(self, expr: Any) -> str:
        base, exponent = expr.as_base_exp()
        if not (exponent.is_Integer and 1 < abs(exponent) <= LARGEST_PRODUCT):
            return super()._print_Pow(expr)  # type: ignore[misc]
        factor = self._print(base)  # type: ignore[attr-defined]
        factor = factor if base.is_Symbol else f"({factor})"
        product = "*".join([factor] * abs(int(exponent)))
        return f"({product})" if exponent > 0 else f"(1.0/({product}))"


class CPrinter(_Products, C99CodePrinter):
    """C."""


class PythonPrinter(_Products, PythonCodePrinter):
    """Python with the module math, which numba knows too."""

    def _print_sign(self, expr: Any) -> str:
        x = self._print(expr.args[0])
        return f"(float({x} > 0.0) - float({x} < 0.0))"


def _in_c(
    name: str,
    arguments: str,
    body: list[tuple[str, Expression]],
    written: list[tuple[int, Expression]],
    size: int,
) -> str:
    text = CPrinter({"strict": True}).doprint
    vectors = "".join(f"const double *{x}, " for x in arguments.split()[1:])
    lines = [
        f"void {name}(double t, {vectors}double *out, void *data) {{",
        "    const double *p = data;",
        *[f"    const double {x} = {text(value)};" for x, value in body],
    ]
    if len(written) < size:
        lines.append(f"    for (int i = 0; i < {size}; i++) out[i] = 0.0;")
    lines += [f"    out[{i}] = {text(value)};" for i, value in written]
    return "\n".join([*lines, "}"])


def _in_python(
    name: str,
    arguments: str,
    body: list[tuple[str, Expression]],
    written: list[tuple[int, Expression]],
    size: int,
) -> str:
    text = PythonPrinter({"strict": True}).doprint
    lines = [
        f"def {name}({', '.join(arguments.split())}, out, p):",
        *[f"    {x} = {text(value)}" for x, value in body],
    ]
    if len(written) < size:
        lines += [f"    for i in range({size}):", "        out[i] = 0.0"]
    lines += [f"    out[{i}] = {text(value)}" for i, value in written]
    return "\n".join(lines if len(lines) > 1 else [*lines, "    pass"])


def c_file(routines: Sequence[Routine]) -> str:
    """Return a file of C with all functions."""
    return "\n\n".join(["#include <math.h>", *[x.c for x in routines]]) + "\n"


def python_file(routines: Sequence[Routine]) -> str:
    """Return a module of Python with all functions."""
    return "\n\n\n".join(["import math", *[x.python for x in routines]]) + "\n"
