"""Steps of GenAlphaSOI2 on a residual, with fewer calls than products: as accurate as wanted."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Implicit_Problem, Overdetermined_Problem

from genalpha import GenAlphaSOI2, mechanisms
from genalpha.numerics.accuracy import for_tolerance
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.newton import Newton
from genalpha.options import Choices
from genalpha.schemes import SCHEMES, Settings, choose

pytestmark = pytest.mark.needs_assimulo

TOLERANCE = 1e-5
#: Step size, and what that is multiplied with from step to step; smooth and not.
SMOOTH = 1.0 + 0.03 * np.sin(0.2 * np.arange(150))
ROUGH = np.where(np.arange(150) % 30 == 29, 0.4, 1.03)
CASES = {"andrews_squeezer": 5e-6, "heavy_top": 2e-4}


def steps(name, form, sizes):
    """Yield (mechanism, scheme at work, old state, new state), and count the calls of `res`."""
    o, calls = getattr(mechanisms, name)(), [0]
    own = o.problem(form)

    def res(t, y, yd):
        calls[0] += 1
        return own.res(t, y, yd)

    kind = Overdetermined_Problem if form == "ovstab2" else Implicit_Problem
    of_residual = GenAlphaSOI2(kind(res, own.y0, own.yd0, own.t0))._reading.mechanism
    relative = for_tolerance(TOLERANCE, SCHEMES["GenAlphaSOI2"].newton_share)
    scheme = choose("GenAlphaSOI2", of_residual)
    chosen = Choices(SCHEMES["GenAlphaSOI2"].options, {}, None, "GenAlphaSOI2")
    settings = Settings(scheme.coefficients(chosen), chosen, relative, "adaptive")
    at_work = scheme(of_residual, settings, Newton(learns=True))
    at = o.t0, o.q0, o.v0
    motion = (o.q0, o.v0, *accelerations(of_residual, *at, *of_residual.multiplier_guess()))
    state = at_work.begin(o.t0, motion, sizes[0])
    at_work.remember(state.t, state)
    for h in sizes:
        old, state = state, at_work.take(state, h)
        at_work.remember(state.t, state)
        yield o, at_work, old, state, calls[0]


@pytest.mark.parametrize("form", ["ind3", "ovstab2"])
@pytest.mark.parametrize("changes", [SMOOTH, ROUGH], ids=["smooth", "rough"])
@pytest.mark.parametrize("name", CASES)
def test_steps_are_as_accurate_as_wanted(name, form, changes):
    """M1 a of (13e) is wrong by no more than a correction that may be left."""
    sizes = CASES[name] * np.cumprod(changes / changes.mean())
    for o, at_work, old, new, _ in steps(name, form, sizes):
        h, alpha = new.h, at_work.alpha
        M1 = o.mass(old.t + (1.0 + alpha) * h, old.q + (1.0 + alpha) * h * old.v)
        wrong = np.linalg.norm(M1 @ new.a - new.Ma) / np.linalg.norm(new.Ma)
        assert wrong <= at_work.relative


@pytest.mark.parametrize("changes", [SMOOTH, ROUGH], ids=["smooth", "rough"])
@pytest.mark.parametrize(("name", "h"), [("pendulum_jn", 0.01), ("heavy_top", 4e-4)])
def test_rates_are_as_accurate_as_wanted(name, h, changes):
    """In large steps v moves far from where the rate of g was asked for: it is asked for again."""
    sizes = h * np.cumprod(changes / changes.mean())[:100]
    for o, at_work, _, new, _ in steps(name, "ind3", sizes):
        G, rate = o.holonomic_jacobian(new.t, new.q), o.holonomic_rate(new.t, new.q, new.v)
        moved = np.linalg.lstsq(G, rate, rcond=None)[0] / at_work.hg
        assert np.linalg.norm(moved) <= at_work.relative * np.linalg.norm(new.a)


@pytest.mark.parametrize(
    ("name", "form", "most"),
    [("andrews_squeezer", "ind3", 3.6), ("heavy_top", "ind3", 4.2), ("heavy_top", "ovstab2", 4.0)],
)
def test_calls_of_a_step(name, form, most):
    """On "ind3" the call ahead tells M a, and later corrections need none: about 3.3 calls."""
    made = [calls for *_, calls in steps(name, form, CASES[name] * SMOOTH)]
    assert made[-1] - made[49] <= most * (len(made) - 50)
