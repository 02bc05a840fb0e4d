"""One run of many: what all have in common, and what comes out of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genalpha.driver.integrate import integrate
from genalpha.driver.motions import MOTION, Motions
from genalpha.driver.solution import Solution
from genalpha.errors import GenAlphaError, InvalidOptionError
from genalpha.model import Mechanism

Array = np.ndarray
Values = dict[str, Any]

#: Arguments of a `Mechanism` that are a start, not parameters.
STARTS = ("q0", "v0", "z0", "t0", "lam0", "psi0")


@dataclass(frozen=True)
class Outcome:
    """Of one run: its motion, what was measured, why it failed, what `integrate` refused."""

    motion: list[Array] | None
    measured: Array | None
    failure: str
    faults: tuple[str, ...]


Portion = list[tuple[int, Outcome]]


@dataclass(frozen=True)
class Task:
    """What all runs have in common, and what a worker needs."""

    mechanism: Mechanism | Callable[..., Mechanism]
    t_final: Any
    times: Array
    options: dict[str, Any]
    measure: Callable[[Solution], Any] | None

    def made(self, values: Values) -> Mechanism:
        """Return the mechanism of one run."""
        if not isinstance(self.mechanism, Mechanism):
            return self.mechanism(**values)
        starts = {key: x for key, x in values.items() if key in STARTS}
        rest = {key: x for key, x in values.items() if key not in STARTS}
        o = self.mechanism.with_parameters(rest) if rest else self.mechanism
        return o.replace(**starts) if starts else o

    def run(self, values: Values) -> Outcome:
        """Return what comes out of one run; a failure keeps the motion before it."""
        failure, solution = "", None
        faults: tuple[str, ...] = ()
        try:
            solution = integrate(self.made(values), self.t_final, t_eval=self.times, **self.options)
        except GenAlphaError as error:
            failure = f"{type(error).__name__}: {error}"
            solution = getattr(error, "solution", None)
            if isinstance(error, InvalidOptionError) and error.what == "integrate":
                faults = tuple(error.faults)
        motion = None if solution is None else [getattr(solution, key) for key in MOTION]
        measured = None
        if self.measure is not None and solution is not None and not failure:
            measured = np.asarray(self.measure(solution), dtype=float)
        return Outcome(motion, measured, failure, faults)

    def run_all(self, portion: Sequence[tuple[int, Values]]) -> Portion:
        """Run a portion of numbered runs, where their motions have to be sent back."""
        return [(i, self.run(values)) for i, values in portion]

    def run_into(self, motions: Motions, each: Sequence[Values], some: range) -> Portion:
        """Run those with some numbers, where their motions can be put where they belong."""
        return [(i, into(motions, i, self.run(each[i]))) for i in some]


def into(motions: Motions, i: int, outcome: Outcome) -> Outcome:
    """Put the motion of a run where it belongs, and return the rest."""
    motions.put(i, outcome.motion)
    return replace(outcome, motion=None)
