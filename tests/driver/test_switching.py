"""Forces that switch, at times that nobody declared: found by themselves, in all schemes.

Random switching times and values, judged by exact solutions.
"""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, integrate
from genalpha.driver import adaptive
from genalpha.numerics import switching
from tests.driver.support import SCHEMES

EACH = pytest.mark.parametrize("scheme", SCHEMES)
TOLERANCES = (1e-3, 1e-5, 1e-7)
#: Largest error of a run in units of its tolerance and of the number of switches. In 540 random
#: runs like these the largest was 24 tolerances, with several switches.
ALLOWED = 30.0


class Pieces:
    """A force that is constant from one switching time to the next."""

    def __init__(self, times, values):
        self.times, self.values = np.asarray(times), np.asarray(values)

    def __call__(self, t):
        return self.values[np.searchsorted(self.times, t, side="right")]

    def motion(self, end, frequency=0.0):
        """Return q and v at the end of q'' = f - frequency^2 q, from rest at 0."""
        q = v = 0.0
        for t, t_next, f in zip([0.0, *self.times], [*self.times, end], self.values, strict=True):
            d = t_next - t
            if frequency:
                c, s = np.cos(frequency * d), np.sin(frequency * d)
                mean = f / frequency**2
                q, v = (
                    mean + (q - mean) * c + v / frequency * s,
                    v * c - (q - mean) * frequency * s,
                )
            else:
                q, v = q + v * d + 0.5 * f * d**2, v + f * d
        return q, v


def mechanism(pieces, frequency=0.0):
    """A mass point on a line at 20 degrees, with a force along it."""
    along, across = np.array([np.cos(0.35), np.sin(0.35)]), np.array([-np.sin(0.35), np.cos(0.35)])
    return along, Mechanism(
        force=lambda t, q, v: (pieces(t) - frequency**2 * (along @ q)) * along,
        holonomic=lambda t, q: np.array([across @ q]),
        holonomic_jacobian=lambda t, q: across[None, :],
        q0=[0.0, 0.0],
        v0=[0.0, 0.0],
    )


def check(pieces, end, scheme, tol, frequency=0.0):
    along, o = mechanism(pieces, frequency)
    solution = integrate(o, end, scheme, rtol=tol, atol=tol)
    q, v = pieces.motion(end, frequency)
    # what is wrong with the velocity moves the position until the end
    late = max(1.0, end)
    error = max(abs(along @ solution.q[-1] - q) / late, abs(along @ solution.v[-1] - v))
    assert error <= ALLOWED * pieces.times.size * tol, (pieces.times, pieces.values, error)
    return solution


@EACH
@pytest.mark.parametrize("seed", range(6))
def test_pulses_from_rest(scheme, seed):
    """A pulse of 3 to 20 % of the run; before and after it nothing happens at all."""
    random = np.random.default_rng(seed)
    end = 10.0 ** random.uniform(-2.0, 2.0)
    width = random.uniform(0.03, 0.2)
    begin = random.uniform(0.0, 1.0 - width)
    pieces = Pieces(end * np.array([begin, begin + width]), [0.0, random.uniform(1, 9) / end, 0.0])
    for tol in TOLERANCES:
        check(pieces, end, scheme, tol)


@EACH
@pytest.mark.parametrize("seed", range(6))
def test_forces_that_are_constant_in_between(scheme, seed):
    random = np.random.default_rng(100 + seed)
    count = random.integers(1, 8)
    times = np.cumsum(random.uniform(0.05, 0.3, count))
    values = random.normal(size=count + 1)
    for tol in TOLERANCES:
        check(Pieces(times, values), times[-1] + 0.2, scheme, tol)


@EACH
@pytest.mark.parametrize("seed", range(3))
def test_beside_a_motion(scheme, seed):
    """An oscillator: where errors are not silent, ends of steps see forces that last longer."""
    random = np.random.default_rng(200 + seed)
    times = np.cumsum(random.uniform(0.5, 1.5, 4))
    for tol in (1e-4, 1e-6):
        pieces = Pieces(times, random.normal(size=5))
        _, o = mechanism(pieces, 2.0)
        solution = integrate(o, times[-1] + 0.5, scheme, rtol=tol, atol=tol)
        along, _ = mechanism(pieces)
        q, v = pieces.motion(times[-1] + 0.5, 2.0)
        # of an oscillation without switches: tol^(2/3)
        assert abs(along @ solution.q[-1] - q) < 2.0 * tol ** (2 / 3)
        assert abs(along @ solution.v[-1] - v) < 4.0 * tol ** (2 / 3)


@EACH
@pytest.mark.parametrize("tol", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8])
def test_a_square_wave(scheme, tol):
    times = np.arange(1, 4) * np.pi / 10.0
    pieces = Pieces(times, [1.0, -1.0, 1.0, -1.0])
    o = Mechanism(force=lambda t, q, v: np.array([np.sign(np.sin(10.0 * t))]), q0=[0.0], v0=[0.0])
    solution = integrate(o, 1.0, scheme, rtol=tol, atol=1e-2 * tol)
    assert abs(solution.q[-1, 0] - pieces.motion(1.0)[0]) < ALLOWED * tol


@EACH
def test_constraints_hold_after_very_short_steps(scheme):
    """A force that jumps cuts the steps until corrections are nothing but rounding errors.

    Once, what they missed was learnt, taken to grow with the age of the matrix, and took away the
    corrections of longer steps: the constraint was missed by more and more, up to a tenth of the
    tolerance, and nobody noticed until steps were cut again. Then they collapsed.
    """
    for seed in range(100, 140):
        random = np.random.default_rng(seed)
        times = np.cumsum(random.uniform(0.05, 0.3, random.integers(1, 8)))
        _, o = mechanism(Pieces(times, random.normal(size=times.size + 1)))
        for tol in (1e-5, 1e-6):
            s = integrate(o, times[-1] + 0.2, scheme, rtol=tol, atol=tol)
            left = max(abs(o.holonomic(t, q)[0]) for t, q in zip(s.t, s.q, strict=True))
            assert left <= 1e-4 * tol, (seed, tol)


def test_contact_that_is_over_within_a_step():
    """A soft stop, hit in free flight: v comes back reversed, whatever the tolerance.

    The forces before and after it are the same; only inside of the step they differ.
    """
    k = 1e4

    def force(t, q, v):
        return -k * np.maximum(0.0, q - 1.0)

    for tol in (1e-3, 1e-5):
        o = Mechanism(force=force, q0=[0.0], v0=[1.0])
        solution = integrate(o, 2.0, rtol=tol, atol=tol)
        assert solution.v[-1, 0] == pytest.approx(-1.0, abs=200.0 * tol)


@EACH
def test_smooth_motions_pay_nothing(scheme, monkeypatch):
    """Forces are looked at along a few grown steps after the start, and never again.

    Counted where it happens: two runs with and without it differ in other things as well (the first
    step is tried longer where nothing limits it). A first step far too small makes steps grow.
    """
    calls = looked = 0

    def force(t, q, v):
        nonlocal calls
        calls += 1
        return -np.sin(q)

    def counted(*arguments):
        nonlocal looked
        before = calls
        found = switching.switch(*arguments)
        looked += calls - before
        return found

    monkeypatch.setattr(adaptive, "switch", counted)
    solution = integrate(
        Mechanism(force=force, q0=[1.0], v0=[0.0]), 20.0, scheme, maxh=np.inf, inith=1e-3
    )
    assert 0 < looked <= 4 * (switching.PARTS + 1)
    assert solution.statistics.nsteps > 100


def test_the_users_limit_vouches_for_the_steps():
    """With maxh steps are not looked at more closely, and the pulse is found by their ends."""
    pieces = Pieces([0.5, 0.6], [0.0, 1.0, 0.0])
    _, o = mechanism(pieces)
    solution = integrate(o, 1.0, maxh=0.02, rtol=1e-4, atol=1e-4)
    assert np.diff(solution.steps).max() <= 0.0201
