"""What the one loop needs of whatever advances: steps, and points within the last of them."""

from __future__ import annotations

from typing import Any


class Advance:
    """Something that advances by accepted steps, and knows the motion within the last of them.

    1. `step` takes one accepted step, never beyond `t_end`, and lands on it exactly.
    2. `at` gives points within the last step: tuples of the time and arrays.

    Attributes
    ----------
    t_left, t : float
        Both ends of the last step; the same at the start.
    """

    def __init__(self, t: float) -> None:
        self.t_left = self.t = t

    def step(self, t_end: float) -> None:
        """Take one accepted step towards `t_end`."""
        raise NotImplementedError

    def at(self, t: float) -> Any:
        """Return the motion at a time within the last step."""
        raise NotImplementedError

    def consistent_at(self, t: float) -> Any:
        """Return the same on the constraints, which interpolation may miss."""
        return self.at(t)

    def jump(self) -> str:
        """Say which callback jumps near the last step; empty if none does, or nobody knows."""
        return ""
