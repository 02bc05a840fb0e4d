"""Constants that trade calls of a plain residual for accuracy, judged where they were not chosen.

Each is halved and doubled by itself, on mechanisms that it was not chosen on.

    python -m comparisons.residual_constants      # the table in docs/pages/residual_calls.md
"""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from comparisons.claims import put
from comparisons.residual_calls import MADE, PAGE, Run, run
from comparisons.table import grid, markdown
from genalpha import integrate

#: Where the constants of all solvers are: files of `genalpha`, and their names.
OF_ALL = (("numerics.accuracy", ("LOOSEST",)), ("numerics.secants", ("CLEAR",)))
#: Those of each one.
CONSTANTS = {
    "GenAlphaI3": (
        *OF_ALL,
        ("numerics.first_step", ("FURTHER",)),
        ("schemes.drift", ("OF_PLACES", "KNOWN", "SURE")),
    ),
    "GenAlphaSOI2": (
        *OF_ALL,
        ("schemes.soi2_asked", ("NEAR", "NEAR_REACTION", "NEAR_RATE", "SHARE", "ASKED")),
        ("schemes.soi2_inertia", ("FADING", "ASKED", "LEAST")),
        ("model.residual", ("AGED",)),
        ("model.learnt", ("AT_LEAST",)),
    ),
    "HHTI2": (
        *OF_ALL,
        ("schemes.hhti2_shown", ("WRONG", "ACCURATE", "SLOW")),
        ("schemes.hhti2_old_reactions", ("WRONG_BEFORE", "BELIEVED", "CLEAR")),
        ("schemes.hhti2_looks", ("SEEN",)),
        ("schemes.hhti2_residual", ("ALIKE",)),
        ("model.learnt", ("AT_LEAST",)),
    ),
}
#: Mechanisms, and the end of the run.
JUDGES = {
    "spherical_pendulum": 2.0,
    "four_bar": 2.0,
    "car_axis": 1.0,
    "closed_chain": 1.0,
    "driven_pendulum": 2.0,
    "rolling_disk": 1.0,
    "jay_negrut_test": 1.0,
    "hydraulic_boom": 1.0,
}
FORMS, TOLERANCES = ("ind3", "ovstab2"), (1e-2, 1e-4, 1e-6)
FACTORS = (0.5, 2.0)
HEADS = ("solver", "constant", "calls, halved", "calls, doubled", "error, halved", "error, doubled")


def _holders(file: str, name: str) -> Iterator[Any]:
    """Return the modules that hold a constant: its own, and those that import it."""
    home = importlib.import_module(f"genalpha.{file}")
    family = home.__name__.split("_")[0]
    value = getattr(home, name)
    for path, other in list(sys.modules.items()):
        imports = path.startswith(family) and getattr(other, name, None) is value
        if other is home or imports:
            yield other


@contextmanager
def changed(file: str, name: str, factor: float) -> Iterator[None]:
    """Multiply a constant for a while."""
    holders = list(_holders(file, name))
    value = getattr(holders[0], name)
    for holder in holders:
        setattr(holder, name, type(value)(factor * value))
    try:
        yield
    finally:
        for holder in holders:
            setattr(holder, name, value)


def runs(name: str, truths: dict[str, Any]) -> list[Run | None]:
    """Return the runs of a solver; None where it fails."""
    found: list[Run | None] = []
    for case, end in JUDGES.items():
        for form in FORMS:
            for tolerance in TOLERANCES:
                try:
                    found.append(run(name, form, MADE[case](), end, tolerance, truths[case]))
                except Exception:  # counted below
                    found.append(None)
    return found


def _ratios(pairs: list[tuple[float, float]]) -> str:
    """Return the geometric mean of ratios, the smallest and the largest."""
    found = [x / y for x, y in pairs]
    mean = math.exp(sum(map(math.log, found)) / len(found))
    return f"{mean:.2f} ({min(found):.2f}, {max(found):.2f})"


def rows(name: str, truths: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the lines of one solver."""
    usual, lines = runs(name, truths), []
    for file, names in CONSTANTS[name]:
        for constant in names:
            calls, errors = [], []
            for factor in FACTORS:
                with changed(file, constant, factor):
                    other = runs(name, truths)
                both = [(x, y) for x, y in zip(other, usual, strict=True) if x and y]
                lost = sum(y is not None and x is None for x, y in zip(other, usual, strict=True))
                failed = f", {lost} failed" if lost else ""
                calls.append(_ratios([(x.calls, y.calls) for x, y in both]) + failed)
                errors.append(_ratios([(x.error, y.error) for x, y in both]))
            shown = f"`{constant}` of `{file.split('.')[-1]}`"
            lines.append((name, shown, *calls, *errors))
            print(" | ".join(lines[-1]), file=sys.stderr, flush=True)
    return lines


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore")
    truths = {
        case: integrate(MADE[case](), end, "GenAlphaSOI2", rtol=1e-9, atol=1e-11)
        for case, end in JUDGES.items()
    }
    lines = [x for name in CONSTANTS for x in rows(name, truths)]
    put(PAGE, "constants", markdown(grid(HEADS, lines)))


if __name__ == "__main__":
    main()
