"""A scheme at work on one mechanism: what the driver asks of it, step after step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genalpha.model import Mechanism
from genalpha.numerics.newton import Newton, Problem

if TYPE_CHECKING:
    from genalpha.schemes.settings import Settings


class Step(Problem):
    """Takes steps; each is a problem for Newton's iteration.

    It is made once for an integration, and holds what is known of the present step.

    Parameters
    ----------
    o : Mechanism
    settings : Settings
    newton : Newton
    """

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        c = settings.coefficients
        self.o, self.settings, self.newton, self.relative = o, settings, newton, settings.relative
        self.alpha, self.alpha_m, self.alpha_f = c.alpha, c.alpha_m, c.alpha_f
        self.beta, self.gamma, self.relation = c.beta, c.gamma, c.relation_at_infinity

    def take(self, state: Any, h: float) -> Any:
        """Return the state after a step of size `h`; `state` is not changed."""
        raise NotImplementedError
