"""What the scheme tests share: schemes at work, without a driver around them."""

from __future__ import annotations

import numpy as np

from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import FULL
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.newton import Newton
from genalpha.options import Choices
from genalpha.schemes import SCHEMES, Settings, choose


def steps(o: Mechanism, sizes, *, scheme, **options):
    """Yield (scheme at work, old state, new state, h) for each step, solved to rounding."""
    kind = choose(scheme, o)
    chosen = Choices(SCHEMES[scheme].options, options, None, scheme)
    settings = Settings(kind.coefficients(chosen), chosen, FULL)
    assert not chosen.faults + kind.faults(o, settings)
    newton = Newton()
    at_work = kind(o, settings, newton)
    start = Motion(o.q0, o.v0, *accelerations(o, o.t0, o.q0, o.v0, *o.multiplier_guess()))
    state = at_work.begin(o.t0, start, sizes[0])
    at_work.past.append(state.t, state.x)
    if at_work.shifts:
        state = at_work.shifted(state, at_work.take(state, sizes[0]), sizes[0])
    for h in sizes:
        old, state = state, at_work.take(state, h)
        at_work.past.append(state.t, state.x)
        yield at_work, old, state, h


def random_sizes(h: float, count: int, seed: int = 1) -> list[float]:
    """Step sizes between h / 2 and 3 h / 2."""
    return list(h * np.random.default_rng(seed).uniform(0.5, 1.5, count))


def residual(*terms) -> float:
    """Return the sum of the terms relative to the largest of them: rounding if it should be 0."""
    terms = [np.atleast_1d(np.asarray(term, dtype=float)) for term in terms]
    scale = max(np.max(np.abs(term), initial=0.0) for term in terms)
    return float(np.max(np.abs(sum(terms)), initial=0.0) / max(scale, 1e-300))
