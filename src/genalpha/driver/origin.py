"""Where a solution comes from: what `integrate` was asked for, and what it takes to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from genalpha.driver.events import Events
from genalpha.model import Mechanism
from genalpha.numerics.redundancy import Reduction
from genalpha.schemes.scheme import State


class Asked(NamedTuple):
    """How an integration was asked for, whatever the mechanism and the time.

    Attributes
    ----------
    scheme : str
    h : float, sequence of float, or None
    options : mapping
        As the user gave them.
    """

    scheme: str
    h: float | Sequence[float] | None
    options: Mapping[str, Any]


class Last(NamedTuple):
    """Where a run ended, with all that the scheme carries from step to step.

    Attributes
    ----------
    state
        The scheme's own.
    reduction : Reduction
        The independent constraints, to which the state's multipliers belong.
    size : float
        The step size that was to come next; 0 where steps are not adaptive.
    """

    state: State
    reduction: Reduction
    size: float


@dataclass(frozen=True)
class Origin:
    """All that a solution knows of its run.

    Attributes
    ----------
    phases : list of (int, Mechanism)
        The mechanisms that have moved, each with the number of its first step.
    events : Events
    asked : Asked or None
        None where it is not known how to go on.
    last : Last or None
        None after an event: there a run can only start anew.
    gaps : set of int
        Steps before which others have been let go, because the motion was wanted at certain times.
    """

    phases: list[tuple[int, Mechanism]]
    events: Events = field(default_factory=lambda: Events([]))
    asked: Asked | None = None
    last: Last | None = None
    gaps: frozenset[int] = frozenset()
