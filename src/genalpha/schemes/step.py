"""A scheme at work on one mechanism: what the driver asks of it, step after step."""

from __future__ import annotations

from typing import Any

from genalpha.numerics.newton import Problem


class Step(Problem):
    """Takes steps; each is a problem for Newton's iteration.

    It is made once for an integration, with the mechanism, the settings and the iteration, and
    holds what is known of the present step.
    """

    def take(self, state: Any, h: float) -> Any:
        """Return the state after a step of size `h`; `state` is not changed."""
        raise NotImplementedError
