"""Orders of extrapolation: 4 from three runs, 5 from four, in q, v, lam and psi."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.driver import Options, Stepper
from genalpha.driver.extrapolation.columns import Columns, weights
from genalpha.driver.extrapolation.grid import SmoothGrid
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot, Osculating
from genalpha.schemes import SCHEMES
from tests.driver.support import mechanism


def smooth(x):
    return x + np.sin(2.0 * np.pi * x) / (4.0 * np.pi)


def equal(x):
    return x


def columns_of(o, scheme, t_final, grid, symmetric=False):
    chosen = SCHEMES[scheme].symmetric(o) if symmetric else {}
    options = Options(scheme, o, newton_accuracy=1e-13, **chosen)
    start = Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())

    def times(steps):
        t = o.t0 + (t_final - o.t0) * grid(np.arange(steps + 1) / steps)
        t[-1] = t_final
        return t

    return Columns(times, Stepper(o, options), start, symmetric)


def errors_at_end(o, runs, base, columns):
    """Errors of q, v, lam, psi at the end; those of the multipliers that belong to q and v."""
    q, v = (x[-1] for x in runs.extrapolated(base, range(1, columns + 1)))
    t = runs.times(base)[-1]
    exact = o.reference.motion(t)
    _, lam, psi = accelerations(o, t, q, v, exact.lam, exact.psi)
    pairs = ((q, exact.q), (v, exact.v), (lam, exact.lam), (psi, exact.psi))
    return np.array([np.abs(x - y).max() for x, y in pairs if np.size(x)])


@pytest.mark.parametrize("grid", [equal, smooth], ids=["equal", "smooth"])
@pytest.mark.parametrize(
    ("name", "scheme", "bases"),
    [
        # transients of GenAlphaI3 live longer: from 42 steps on, four columns show their order
        ("simple_pendulum", "GenAlphaI3", (60, 50)),
        ("simple_pendulum", "GenAlphaSOI2", (40, 40)),
        ("simple_pendulum", "HHTI2", (30, 30)),
        ("spherical_pendulum", "GenAlphaI3", (60, 30)),
        ("rolling_disk", "GenAlphaSOI2", (30, 30)),
        ("rolling_disk", "HHTI2", (15, 15)),
        ("knife_edge", "GenAlphaI3", (15, 15)),
        ("jay_negrut_test", "GenAlphaSOI2", (24, 24)),
        ("chaplygin_sleigh", "GenAlphaSOI2", (30, 30)),
    ],
)
def test_orders(name, scheme, bases, grid):
    """Errors fall at least as the order says, from one step size to half of it."""
    o = mechanism(name)
    runs = columns_of(o, scheme, o.t0 + 0.8, grid)
    for columns, base in zip((3, 4), bases, strict=True):
        coarse, fine = (errors_at_end(o, runs, n, columns) for n in (base, 2 * base))
        order = np.log2(coarse / fine)
        assert (order > columns + 1 - 0.5).all(), (columns, order, fine)


@pytest.mark.parametrize("grid", [equal, smooth], ids=["equal", "smooth"])
@pytest.mark.parametrize(
    ("name", "scheme", "base"),
    [
        ("simple_pendulum", "HHTI2", 24),
        ("spherical_pendulum", "HHTI2", 20),
        ("driven_pendulum", "HHTI2", 20),
        ("four_bar", "HHTI2", 40),
    ],
)
def test_orders_of_symmetric_schemes(name, scheme, base, grid):
    """Two columns have order 4, three have order 6: there are even powers only."""
    o = mechanism(name)
    runs = columns_of(o, scheme, o.t0 + 0.8, grid, symmetric=True)
    for columns in (2, 3):
        coarse, fine = (errors_at_end(o, runs, n, columns) for n in (base, 2 * base))
        order = np.log2(coarse / fine)
        assert ((order > 2 * columns - 0.6) | (fine < 1e-12)).all(), (columns, order, fine)


def test_no_run_is_made_twice():
    runs = columns_of(mechanism("simple_pendulum"), "GenAlphaI3", 0.5, equal)
    runs.extrapolated(10, (1, 2, 3))
    assert runs.cost(10, (1, 2, 3, 4)) == 40
    assert runs.cost(20, (1, 2, 3)) == 40 + 60
    first = runs.made[20]
    runs.extrapolated(20, (1, 2))
    assert runs.made[20] is first


def test_weights_leave_what_they_should():
    k = np.arange(1, 6)
    w = weights(tuple(k.tolist()))
    assert w.sum() == pytest.approx(1.0)
    for power in (2, 3, 4, 5):
        assert abs(w @ k ** -float(power)) < 1e-13
    assert abs(w @ k**-6.0) > 1e-4


def test_the_grid_grades_only_where_it_pays():
    alike = np.cumsum(np.r_[0.0, np.linspace(1.0, 2.0, 50)])
    assert SmoothGrid(alike).is_equal
    t = np.cumsum(np.r_[0.0, np.geomspace(1e-3, 1e-1, 100)])
    grid = SmoothGrid(-t)  # backward
    assert not grid.is_equal
    h = np.diff(grid.times(200))
    assert (h < 0.0).all()
    assert h.min() / h.max() > 10.0
    assert np.abs(np.diff(np.log(-h))).max() < 0.1
    assert (grid.times(77)[0], grid.times(77)[-1]) == (0.0, -t[-1])
    # the same function of x, whatever the number of steps
    assert np.allclose(grid.times(300)[::3], grid.times(100), rtol=1e-13)


def test_interpolation_with_derivatives_is_exact_for_polynomials():
    p = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0, -1.0, 0.7])
    times = [0.1, 0.4, 1.0]
    x, d = (np.array([[f(t)] for t in times]) for f in (p, p.deriv()))
    for t in (0.0, 0.25, 0.9):
        assert Osculating(np.array(times), x, d).at(t)[0] == pytest.approx(p(t), rel=1e-12)
