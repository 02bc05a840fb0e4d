"""Plain residuals whose forces jump, at times that nobody declared: found with few calls."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from assimulo.problem import Implicit_Problem

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, mechanisms
from genalpha.driver import adaptive
from genalpha.numerics import switching
from genalpha.numerics.weights import Tolerances
from tests.driver.test_switching import ALLOWED, Pieces

pytestmark = pytest.mark.needs_assimulo
CLASSES = GenAlphaI3, GenAlphaSOI2, HHTI2
EACH = pytest.mark.parametrize("cls", CLASSES)
ALONG, ACROSS = np.array([np.cos(0.35), np.sin(0.35)]), np.array([-np.sin(0.35), np.cos(0.35)])


def problem_of(pieces, frequency=0.0):
    """A mass point on a line at 20 degrees, with a force along it."""

    def res(t, y, yd):
        q, v, lam = y[:2], y[2:4], y[4]
        force = (pieces(t) - frequency**2 * (ALONG @ q)) * ALONG
        return np.concatenate([yd[:2] - v, yd[2:4] - force + ACROSS * lam, [ACROSS @ q]])

    return Implicit_Problem(res, np.zeros(5), np.zeros(5), 0.0)


def solver_of(cls, problem, tol):
    solver = cls(problem)
    solver.verbosity, solver.rtol, solver.atol = 50, tol, tol
    return solver


def errors(cls, pieces, end, tol, frequency=0.0):
    """Return the errors of position and velocity at the end."""
    y = solver_of(cls, problem_of(pieces, frequency), tol).simulate(end)[1][-1]
    q, v = pieces.motion(end, frequency)
    return abs(ALONG @ y[:2] - q), abs(ALONG @ y[2:4] - v)


@EACH
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("seed", range(6))
def test_pulses_from_rest(seed, tol, cls):
    """A pulse of 3 to 20 % of the run; before and after it nothing happens at all."""
    random = np.random.default_rng(300 + seed)
    end, width = 10.0 ** random.uniform(-2.0, 2.0), random.uniform(0.03, 0.2)
    begin = random.uniform(0.0, 1.0 - width)
    pieces = Pieces(end * np.array([begin, begin + width]), [0.0, random.uniform(1, 9) / end, 0.0])
    of_q, of_v = errors(cls, pieces, end, tol)
    assert max(of_q / max(1.0, end), of_v) <= 2 * ALLOWED * tol


@EACH
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("seed", range(6))
def test_forces_that_are_constant_in_between(seed, tol, cls):
    random = np.random.default_rng(400 + seed)
    times = np.cumsum(random.uniform(0.05, 0.3, random.integers(1, 8)))
    pieces = Pieces(times, random.normal(size=times.size + 1))
    of_q, of_v = errors(cls, pieces, times[-1] + 0.2, tol)
    assert max(of_q / max(1.0, times[-1]), of_v) <= times.size * ALLOWED * tol


@EACH
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_beside_a_motion(seed, tol, cls):
    """An oscillator: ends of steps see forces that last longer, and the error follows from them."""
    random = np.random.default_rng(500 + seed)
    times = np.cumsum(random.uniform(0.5, 1.5, 4))
    of_q, of_v = errors(cls, Pieces(times, random.normal(size=5)), times[-1] + 0.5, tol, 2.0)
    assert of_q < 2.0 * 4 * tol ** (2 / 3)
    assert of_v < 4.0 * 4 * tol ** (2 / 3)


def test_what_a_matrix_missed_in_a_step_that_was_repeated():
    """Once, it was taken to grow a billion times until the next step: accelerations ran away."""
    random = np.random.default_rng(4017)
    times = np.cumsum(random.uniform(0.3, 1.5, random.integers(1, 6)))
    pieces = Pieces(times, random.normal(size=times.size + 1))
    of_q, of_v = errors(GenAlphaSOI2, pieces, times[-1] + 0.5, 1e-2, 2.0)
    assert max(of_q, of_v) < 0.3


@EACH
@pytest.mark.parametrize("after", [1e-5, 3e-5, 1e-4, 1e-3, 0.1])
def test_a_jump_right_after_a_step(after, cls):
    """The first step ends at a tenth of the interval, and HHTI2 asks a little ahead of it.

    That told other forces than there are, and reactions that made up for it.
    """
    pieces = Pieces([0.1 * (1.0 + after)], [-1.7, -0.5])
    for tol in (1e-4, 1e-6):
        assert max(errors(cls, pieces, 1.0, tol)) < ALLOWED * tol


def look(pieces, h, tol, pulses):
    """Look at one step from rest; return the share before a jump, and the calls."""
    whole = GenAlphaI3(problem_of(pieces))._reading.mechanism.whole
    whole.find_mass(0.0, np.zeros(2), np.zeros(2), np.zeros(1), np.zeros(0))
    ends = [(pieces(t) * ALONG, np.zeros(1), np.zeros(0)) for t in (0.0, h)]
    q, v = pieces.motion(h) if pieces.times.size else (0.5 * pieces(0.0) * h**2, pieces(0.0) * h)
    old = SimpleNamespace(t=0.0, q=np.zeros(2), v=np.zeros(2))
    new = SimpleNamespace(t=h, q=q * ALONG, v=v * ALONG)
    limit, before = Tolerances.split(0.0, np.array(tol), 2, 1, 0, 0), whole.F.calls
    share = switching.switch_of_residual(whole, old, new, ends, limit, pulses)
    return share, whole.F.calls - before


@pytest.mark.parametrize("share", [0.01, 0.1, 0.24, 0.26, 0.49, 0.51, 0.74, 0.76, 0.99])
def test_a_jump_is_seen_wherever_it_is(share):
    """Two calls see it; the others tell where it is."""
    h = 0.2
    found, calls = look(Pieces([share * h], [1.0, 1.5]), h, 1e-3, False)
    assert found <= max(share, 0.0625)
    assert found >= share - 0.25
    assert calls == switching.PARTS - 1


def test_a_jump_that_does_no_harm_is_left_alone():
    """At worst, it moves the velocity by J h / 2 = 0.05, which is 0.035 in the mean of both."""
    assert look(Pieces([0.07], [1.0, 1.5]), 0.2, 0.06, False) == (1.0, 2)
    assert look(Pieces([0.07], [1.0, 1.5]), 0.2, 0.03, False)[0] < 1.0


def test_what_a_look_costs():
    """Two calls, or where pulses are looked for, one for each part of the step."""
    steady = Pieces([], [1.0])
    assert look(steady, 0.2, 1e-8, False) == (1.0, 2)
    assert look(steady, 0.2, 1e-8, True) == (1.0, switching.PARTS - 1)
    pulse = Pieces([0.1, 0.13], [1.0, 2.0, 1.0])
    assert look(pulse, 0.2, 1e-8, True)[0] <= 0.5


@pytest.mark.parametrize(("name", "end"), [("pendulum_jn", 1.0), ("andrews_squeezer", 0.02)])
def test_looks_into_smooth_steps_find_nothing(name, end, monkeypatch):
    """Most of them cost two calls. HHTI2 hardly makes any: its step sizes hardly jump."""
    costs, shares = [], []

    def counted(whole, *arguments):
        before = whole.F.calls
        shares.append(switching.switch_of_residual(whole, *arguments))
        costs.append(whole.F.calls - before)
        return shares[-1]

    monkeypatch.setattr(adaptive, "switch_of_residual", counted)
    own = getattr(mechanisms, name)().problem("ind3")
    for cls, tol in product(CLASSES, (1e-1, 1e-2, 1e-3)):
        problem = Implicit_Problem(own.res, own.y0, own.yd0, own.t0)
        solver_of(cls, problem, tol).simulate(end)
    assert len(costs) >= 6
    assert set(shares) == {1.0}
    assert np.median(costs) == 2.0
