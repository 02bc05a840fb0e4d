"""What the scheme tests share: states of random steps, and errors of whole runs."""

from __future__ import annotations

import numpy as np

from genalpha.driver import Options, Stepper
from genalpha.model import Mechanism


def steps(mechanism: Mechanism, sizes, *, before=None, **options):
    """Yield (stepper, old state, new state, h) for each step."""
    stepper = Stepper(mechanism, Options(**options))
    o = mechanism
    stepper.begin(o.t0, o.q0, o.v0, *o.multiplier_guess(), sizes[0])
    for h in sizes:
        old = stepper.state
        stepper.accept(stepper.attempt(h))
        yield stepper, old, stepper.state, h


def random_sizes(h: float, count: int, seed: int = 1) -> list[float]:
    """Step sizes between h / 2 and 3 h / 2."""
    return list(h * np.random.default_rng(seed).uniform(0.5, 1.5, count))


def equal_sizes(length: float, count: int) -> list[float]:
    return [length / count] * count


def alternating_sizes(length: float, count: int) -> list[float]:
    """h/3, 2h/3, h/3, ... as in the papers; `count` pairs."""
    h = length / count
    return [h / 3, 2 * h / 3] * count


def residual(*terms) -> float:
    """Return the sum of the terms relative to the largest of them: rounding if it should be 0."""
    terms = [np.atleast_1d(np.asarray(term, dtype=float)) for term in terms]
    scale = max(np.max(np.abs(term), initial=0.0) for term in terms)
    return float(np.max(np.abs(sum(terms)), initial=0.0) / max(scale, 1e-300))
