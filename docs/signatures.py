"""Tables of parameters on the API pages say what the signatures say: an extension for griffe.

griffe gives all names of ``crank, rocker : float`` the default of the first; here each gets its
own, ``**options`` may be empty, and a private constant is shown by its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Mend the docstrings of all functions and classes once they are loaded."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Walk over a package (called by griffe, after its own extension for dataclasses)."""
        functions = {f.name: f for f in _functions(pkg)}
        _mend_members(pkg, functions)


def _functions(module: griffe.Module) -> Iterator[griffe.Function]:
    """Yield the functions of a module and of those in it, but for methods."""
    for member in module.members.values():
        if not member.is_alias and member.is_function:
            yield member
        elif not member.is_alias and member.is_module:
            yield from _functions(member)


def _mend_members(parent: Any, functions: dict[str, griffe.Function]) -> None:
    for member in parent.members.values():
        if member.is_alias:
            continue
        if member.docstring and (member.is_function or member.is_class):
            _mend(member, functions)
        if member.is_module or member.is_class:
            _mend_members(member, functions)


def _mend(item: griffe.Function | griffe.Class, functions: dict[str, griffe.Function]) -> None:
    """Put the defaults of a signature into its docstring's parameters.

    A method that hands ``**arguments`` on to the function of its name has that one's, too.
    """
    own = {parameter.name: parameter for parameter in item.parameters}
    beyond = functions.get(item.name)
    if beyond is not None and any(_is_variadic(parameter) for parameter in own.values()):
        own = {parameter.name: parameter for parameter in beyond.parameters} | own
    for section in item.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for shown in section.value:
                parameter = own.get(shown.name.lstrip("*"))
                if parameter is None:
                    continue
                if _is_variadic(parameter):  # none are required
                    shown.value = "{}" if shown.name.startswith("**") else "()"
                else:
                    shown.value = _value(item, parameter.default)


def _is_variadic(parameter: griffe.Parameter) -> bool:
    return str(parameter.kind.value).startswith("variadic")


def _value(item: griffe.Function | griffe.Class, default: Any) -> Any:
    """Return a default; for a private name of the module, what it stands for."""
    name = str(default)
    known = item.module.members.get(name) if name.startswith("_") else None
    return default if known is None else known.value
