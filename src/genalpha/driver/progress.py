"""How far a run is, shown on standard error."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from genalpha.driver.advance import Advance
from genalpha.driver.integration import Keeper
from genalpha.driver.watch import Happening

#: Seconds between two looks at the time that a run has reached.
PAUSE = 0.1
FORMAT = "{desc}: {percentage:3.0f}%|{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]"


class Line:
    """One line that is written over and over again."""

    #: The run that is shown, once it has begun.
    run: Advance | None = None

    def __init__(self, name: str, t0: float, t_final: float) -> None:
        self._name, self._t0, self._t_final = name, t0, t_final

    def show(self, t: float) -> None:
        """Show the time that has been reached."""
        share = (t - self._t0) / (self._t_final - self._t0)
        text = f"{self._name}: {100.0 * share:3.0f} %, t = {t:.4g} of {self._t_final:.4g}"
        print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        print(file=sys.stderr, flush=True)


class Bar:
    """A bar of tqdm."""

    #: As that of a `Line`.
    run: Advance | None = None

    def __init__(self, tqdm: Any, name: str, t0: float, t_final: float) -> None:
        self._t0, length = t0, abs(t_final - t0)
        self._bar = tqdm(total=length, desc=name, bar_format=FORMAT, file=sys.stderr)

    def show(self, t: float) -> None:
        """Show the time that has been reached."""
        self._bar.update(abs(t - self._t0) - self._bar.n)

    def close(self) -> None:
        """Leave it as it is."""
        self._bar.close()


class Shown(Keeper):
    """Hands everything on to another keeper, and shows the time now and then."""

    def __init__(self, keeper: Keeper, advance: Advance, display: Line | Bar) -> None:
        self._keeper, self._advance, self._display = keeper, advance, display
        self._next = time.monotonic()

    def keep(self) -> bool:
        """See `Keeper`."""
        self._show()
        return self._keeper.keep()

    @property
    def leaps(self) -> bool:
        """See `Keeper`."""
        return self._keeper.leaps

    def leap(self, t_end: float) -> bool:
        """See `Keeper`."""
        self._show()
        return self._keeper.leap(t_end)

    def _show(self) -> None:
        now = time.monotonic()
        self._display.run = self._advance
        if now >= self._next:
            self._display.show(self._advance.t)
            self._next = now + PAUSE

    def happened(self, happening: Happening) -> bool:
        """See `Keeper`."""
        return self._keeper.happened(happening)


def shown(keeper: Keeper, advance: Advance, display: Line | Bar | None) -> Keeper:
    """Return a keeper that shows the time, or, without a display, the same one: at no cost."""
    return keeper if display is None else Shown(keeper, advance, display)


@contextmanager
def progress(wanted: bool, name: str, t0: float, t_final: float) -> Iterator[Line | Bar | None]:
    """Give a display of the time, or None; however the run ends, it shows where, and is closed."""
    if not wanted:
        yield None
        return
    try:
        display: Line | Bar = Bar(importlib.import_module("tqdm").tqdm, name, t0, t_final)
    except ImportError:
        display = Line(name, t0, t_final)
    try:
        yield display
    finally:
        if display.run is not None:
            display.show(display.run.t)
        display.close()
