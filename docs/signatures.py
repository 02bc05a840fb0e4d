"""Tables of parameters on the API pages say what the signatures say: an extension for griffe.

griffe gives all names of ``crank, rocker : float`` the default of the first; here each gets its
own, ``**options`` has none, and a private constant is shown by its value.
"""

from __future__ import annotations

from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Mend the docstrings of all functions and classes once they are loaded."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Walk over a package (called by griffe, after its own extension for dataclasses)."""
        _mend_members(pkg)


def _mend_members(parent: Any) -> None:
    for member in parent.members.values():
        if member.is_alias:
            continue
        if member.docstring and (member.is_function or member.is_class):
            _mend(member)
        if member.is_module or member.is_class:
            _mend_members(member)


def _mend(item: griffe.Function | griffe.Class) -> None:
    """Put the defaults of a signature into its docstring's parameters."""
    own = {parameter.name: parameter for parameter in item.parameters}
    for section in item.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for shown in section.value:
                parameter = own.get(shown.name.lstrip("*"))
                if parameter is not None:
                    variadic = str(parameter.kind.value).startswith("variadic")
                    shown.value = None if variadic else _value(item, parameter.default)


def _value(item: griffe.Function | griffe.Class, default: Any) -> Any:
    """Return a default; for a private name of the module, what it stands for."""
    name = str(default)
    known = item.module.members.get(name) if name.startswith("_") else None
    return default if known is None else known.value
