"""How a benchmark is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from comparisons.bench.rows import OUTPUT


def silent(text: str) -> None:
    """Tell nothing."""


@dataclass(frozen=True)
class Plan:
    """What the command line chooses.

    Attributes
    ----------
    quick : bool
        Fewer steps and cases: a preview.
    repeats : int
        Runs per median.
    yardstick : float
        Seconds of one pass of `timing.calibration`, measured in this run.
    tell : callable(text)
        Told what runs now.
    output : Path
        For what is kept beside the tables.
    against : Path or None
        An interpreter with other code of `genalpha`, for `comparisons.bench.against`.
    """

    quick: bool = False
    repeats: int = 5
    yardstick: float = 1.0
    tell: Callable[[str], None] = silent
    output: Path = OUTPUT
    against: Path | None = None
