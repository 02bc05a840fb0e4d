"""The steps of an integration, of which accelerations and multipliers are found when needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from genalpha.driver.stepper import Later
from genalpha.numerics.interpolation import Knot


class Knots(Sequence[Knot]):
    """Steps in order; each is completed when it is first looked at."""

    def __init__(self, steps: list[Knot | Later]) -> None:
        self._steps = steps

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Knot]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Knot: ...
    @overload
    def __getitem__(self, index: slice) -> list[Knot]: ...
    def __getitem__(self, index: int | slice) -> Knot | list[Knot]:
        """Return a step, complete."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        step = self._steps[index]
        if isinstance(step, Later):
            step = self._steps[index] = step.knot()
        return step
