"""Adaptive steps of HHTI2 follow true accelerations, and so they are smooth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from genalpha import integrate
from genalpha.driver import Options, Stepper
from genalpha.errors import CallbackError
from genalpha.numerics.initial_values import accelerations
from genalpha.schemes.hhti2 import HHTI2
from tests.driver.support import mechanism, pendulum

NONE = np.zeros(0)
#: About the step size that a tolerance of 1e-4 takes.
SIZES = {"heavy_top": 4e-4, "four_bar": 3e-3, "andrews_squeezer": 5e-5, "chain": 3e-3}


@pytest.mark.parametrize("variant", ["end", "predicted", "midpoint"])
@pytest.mark.parametrize("name", SIZES)
def test_they_are_those_of_the_end_of_the_step(name, variant):
    """(3.2), as accurately as Newton's iteration solves, whatever step sizes do."""
    o, off = mechanism(name), []
    stepper = Stepper(o, Options(scheme="HHTI2", variant=variant), tolerance=1e-4)
    stepper.begin(o.t0, o.q0, o.v0, *o.multiplier_guess(), SIZES[name])
    for i in range(60):
        state = stepper.attempt(SIZES[name] * (1.0, 1.4, 0.6, 1.1)[i % 4])
        vdot, lam, _ = accelerations(o, state.t, state.q, state.v, state.lam, NONE)
        # forces and reactions are as accurate as the larger of both
        force = np.linalg.norm(state.f) / np.linalg.norm(vdot)
        off += [np.linalg.norm(state.vdot - vdot) / np.linalg.norm(vdot) / max(1.0, force)]
        off += [np.linalg.norm(state.lam - lam) / np.linalg.norm(lam)]
        stepper.accept(state)
    assert max(off) <= 2.0 * stepper.settings.relative


@pytest.mark.parametrize("name", SIZES)
def test_steps_that_follow_are_those_of_the_paper(name):
    """Only guesses and sizes follow: (3.4) and (2.3) hold as printed, to rounding."""
    o = mechanism(name)
    stepper = Stepper(o, Options(scheme="HHTI2", newton_accuracy=1e-12), tolerance=1e-4)
    stepper.begin(o.t0, o.q0, o.v0, *o.multiplier_guess(), SIZES[name])
    for i in range(12):
        old, new = stepper.state, stepper.attempt(SIZES[name] * (1.0, 1.4, 0.6, 1.1)[i % 4])
        assert new.vdot.size  # it follows
        for number, equation in HHTI2.printed(o, stepper.settings, old, new).items():
            assert equation.residual() <= 1e-9, number
        stepper.accept(new)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_curvature_that_is_not_finite_is_blamed(bad):
    """No equation of a step has it: the step sizes would just become smaller and smaller."""

    def curvature(t, q, v):
        return np.array([bad if t > 0.5 else v @ v])

    o = pendulum(
        holonomic_rate=lambda t, q, v: [q @ v],
        holonomic_acceleration=curvature,
    )
    with pytest.raises(CallbackError, match=f"holonomic_acceleration returned {bad}") as raised:
        integrate(o, 1.0, "HHTI2")
    assert raised.value.solution.t[-1] > 0.4


@pytest.mark.parametrize("tolerance", [1e-4, 1e-5, 1e-6])
def test_something_that_spins_fast(tolerance):
    """Its forces and reactions are large beside its accelerations, but its motion is steady.

    Step sizes that follow velocities change by a factor of 2 in a tenth of the steps there.
    """
    top = mechanism("heavy_top")
    solution = integrate(top, 0.1, "HHTI2", rtol=tolerance, atol=0.1 * tolerance)
    counters, sizes = solution.statistics, np.diff(solution.t)[10:-3]  # between start and landing
    assert counters.nerrfails <= 0.01 * counters.nsteps
    changes = [max(a / b, b / a) for a, b in pairwise(sizes)]
    assert np.quantile(changes, 0.9) <= 1.4
    assert max(changes) <= 2.0
