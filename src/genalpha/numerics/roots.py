"""Factors by which a scheme multiplies errors of a and of the multipliers from step to step.

They are what is left of a step for h -> 0, and they depend on how the constraints are kept. Let Q
project on the directions that constraints hold, along the reactions, and P = 1 - Q on the free
ones; Delta are errors. Where nothing else is said, q and v are right.

Free directions. P vdot follows from q and v, so (1 - alpha_m) P Delta a1 + alpha_m P Delta a0 = 0.

Constraints kept at velocity level, those of GenAlphaSOI2, and nonholonomic ones in any scheme.
K v1 is given, and v1 = v0 + h ((1 - gamma) a0 + gamma a1), so that gamma Q Delta a1 +
(1 - gamma) Q Delta a0 = 0. (GenAlphaSOI2 keeps g at position level too, by an acceleration a1_t
that the next step does not see: a second set of errors, which does not propagate.)

Constraints kept at position level only, the holonomic ones of GenAlphaI3. Both Q v and Q a are free
to err: 0 = Q Delta v0 + h (1/2 - beta) Q Delta a0 + h beta Q Delta a1, and the formula for v1. The
two eigenvalues are the roots of Lemma 1 of Arnold and Brüls.

Multipliers are what the equations of motion, weighed with alpha_f, leave:
(1 - alpha_f) Delta lam1 + alpha_f Delta lam0 = what Q Delta a drives.

HHTI2 has none of these: its a1 and its multipliers follow from q1, v1 and from this step alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from genalpha.numerics.coefficients import Coefficients

#: A double root of modulus 1 is computed no better than to the square root of rounding errors.
ON_THE_CIRCLE = 1e-7


class Root(NamedTuple):
    """A factor per step, and what it multiplies."""

    name: str
    modulus: float
    of: str

    @property
    def grows(self) -> bool:
        """Whether errors grow from step to step."""
        return self.modulus > 1.0 + ON_THE_CIRCLE

    @property
    def stays(self) -> bool:
        """Whether errors never die out, without growing."""
        return abs(self.modulus - 1.0) <= ON_THE_CIRCLE


@lru_cache(maxsize=64)
def acting(c: Coefficients, *, position: bool, velocity: bool) -> tuple[Root, ...]:
    """Return the roots that act on errors.

    Parameters
    ----------
    c : Coefficients
    position : bool
        Whether there are constraints that the scheme keeps at position level only.
    velocity : bool
        Whether there are constraints that it keeps at velocity level.
    """
    found = [Root("zero stability: |alpha_m / (1 - alpha_m)|", c.r_alpha_m, "a in free directions")]
    if velocity:
        found.append(Root("r_gamma = |(1 - gamma) / gamma|", c.r_gamma, "a along the constraints"))
    if position:
        modulus = float(np.abs(c.roots_at_infinity[1:]).max())
        found.append(Root("the larger root of Lemma 1", modulus, "a and v along the constraints"))
    if position or velocity:
        found.append(Root("r_alpha_f = |alpha_f / (1 - alpha_f)|", c.r_alpha_f, "multipliers"))
    return tuple(found)


def growing(roots: tuple[Root, ...]) -> list[str]:
    """Return what is wrong with roots outside the unit circle."""
    return [
        f"{root.name} = {root.modulus:.3g}: errors of {root.of} grow by it in every step; needed "
        "less than 1"
        for root in roots
        if root.grows
    ]
