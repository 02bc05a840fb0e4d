"""Columns of iteration matrices that stay are not differenced again, and are seen to change."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Implicit_Problem

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, integrate, mechanisms
from genalpha.assimulo.reading import Reading

pytestmark = pytest.mark.needs_assimulo

CLASSES = (GenAlphaI3, GenAlphaSOI2, HHTI2)
#: Rounding and curvature leave so much in differences of a fast motion.
ACCURATE = 2e-5


def whole_of(res, own, counted=None):
    """Return the residual of a plain problem, as schemes ask it."""

    def counting(t, y, yd):
        if counted is not None:
            counted.append(t)
        return res(t, y, yd)

    return Reading(Implicit_Problem(counting, own.y0, own.yd0, own.t0)).mechanism.whole


def states_of(o, end, count):
    """Return states along a motion, a little off the constraints as in Newton's iteration."""
    solution = integrate(o, end, rtol=1e-6, atol=1e-8)
    for i, t in enumerate(np.linspace(0.0, end, count + 1)[1:]):
        s = solution(t)
        h = (1.0 + 0.3 * i) * end / 100.0
        yield (t, s.q + 1e-6 * s.v, s.v, s.vdot, s.lam, s.psi), (1.0, 0.3 * h * h, 0.6 * h)


def largest_errors(found, wanted):
    return max(
        np.abs(x - y).max(initial=0.0) / np.abs(y).max(initial=1e-300)
        for x, y in ((found.A, wanted.A), (found.G, wanted.G), (found.K, wanted.K))
    )


@pytest.mark.parametrize(
    ("name", "count"),
    [("heavy_top", 5), ("pendulum_jn", 2), ("slider_crank", 3), ("spherical_pendulum", 3)],
)
def test_matrices_are_those_of_all_columns(name, count):
    """From the third matrix on, with a call for every column that changes and one for the rest."""
    o, calls = getattr(mechanisms, name)(), []
    own = o.problem("ind3")
    whole = whole_of(own.res, own, calls)
    for i, (state, weights) in enumerate(states_of(o, 0.05, 8)):
        before = len(calls)
        found = whole.blocks(*state, *weights)
        assert len(calls) - before == 1 + (count if i > 1 else o.n_q)
        alone = whole_of(own.res, own).blocks(*state, *weights)
        assert largest_errors(found, alone) < ACCURATE


def changing(own, o, when, change):
    """Return a residual whose equation of motion for the first coordinate changes at a time."""

    def res(t, y, yd):
        rows = own.res(t, y, yd)
        if t > when:
            rows[o.n_q] += change(y, yd)
        return rows

    return res


@pytest.mark.parametrize(
    "change",
    [
        lambda y, yd: 5.0 * yd[7],  # its mass
        lambda y, yd: 1e4 * y[0],  # a spring
        lambda y, yd: 300.0 * y[8],  # a damper that acts across
    ],
)
def test_a_column_that_changes_later_is_seen(change):
    """The next matrix has it, by the call that looks at all columns that stay."""
    o = mechanisms.heavy_top()
    own, before, after = o.problem("ind3"), 0, 0
    res = changing(own, o, 0.025, change)
    whole = whole_of(res, own)
    for state, weights in states_of(o, 0.05, 10):
        found = whole.blocks(*state, *weights)
        alone = whole_of(res, own).blocks(*state, *weights)
        assert largest_errors(found, alone) < ACCURATE
        is_believed = whole.derivatives.cost < o.n_q
        before, after = before + (is_believed and state[0] < 0.025), after + is_believed
    assert before >= 2
    assert after > before  # what still stays is found again


@pytest.mark.parametrize("cls", CLASSES)
def test_steps_of_a_rigid_body(cls):
    """The same motion as with callbacks, and two calls fewer for each matrix but the first two."""
    o = mechanisms.heavy_top()
    own, calls = o.problem("ind3"), []

    def res(t, y, yd):
        calls.append(t)
        return own.res(t, y, yd)

    solver = cls(Implicit_Problem(res, own.y0, own.yd0))
    solver.verbosity, solver.rtol, solver.atol = 50, 1e-5, 1e-7
    _, y, _ = solver.simulate(0.05)
    s = solver.statistics
    assert s["nfcns"] + s["nfcnjacs"] == len(calls)
    assert s["nfcnjacs"] <= 5 * s["njacs"] + 20
    wanted = integrate(o, 0.05, cls.__name__, rtol=1e-5, atol=1e-7)
    exact = o.reference.motion(0.05).q
    own_error = np.abs(y[-1][: o.n_q] - exact).max()
    assert own_error <= 1.5 * np.abs(wanted.q[-1] - exact).max()


@pytest.mark.parametrize("cls", CLASSES)
def test_a_spring_that_is_hooked_in_later(cls):
    """A force on the centre of a body from some time on: seen by Newton's iteration and the error.

    Its mass and its constraints stay what they were, its column does not.
    """
    o = mechanisms.heavy_top()
    own = o.problem("ind3")
    res = changing(own, o, 0.02, lambda y, yd: 1e5 * y[0])
    solver = cls(Implicit_Problem(res, own.y0, own.yd0))
    solver.verbosity, solver.rtol, solver.atol = 50, 1e-5, 1e-7
    _, y, _ = solver.simulate(0.04)
    force, k = o.force, np.zeros(o.n_q)
    k[0] = 1e5
    hooked = mechanisms.heavy_top()
    hooked.force = lambda t, q, v: force(t, q, v) - (k * q if t > 0.02 else 0.0)
    wanted = integrate(hooked, 0.04, "GenAlphaSOI2", rtol=1e-8, atol=1e-10).q[-1]
    assert np.abs(y[-1][: o.n_q] - wanted).max() < 2e-3
