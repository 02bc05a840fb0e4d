"""Energies, residuals, reactions and tables of a solution."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from genalpha import Mechanism, integrate
from genalpha.errors import InvalidOptionError, UnsupportedProblemError

from .support import SCHEMES, mechanism, oscillator, pendulum


def test_energy() -> None:
    o = mechanism("simple_pendulum")
    solution = integrate(o, 1.0)
    energy = solution.energy()
    assert energy.shape == solution.t.shape
    assert np.ptp(energy) < 1e-3 * 9.81
    assert solution.energy(0.5) == pytest.approx(o.energy(0.5, *solution(0.5)[1:3]))
    assert solution.energy([0.25, 0.5]).shape == (2,)
    with pytest.raises(UnsupportedProblemError, match="energy=lambda t, q, v"):
        integrate(oscillator(), 0.1).energy()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_residuals_are_those_of_the_mechanism(scheme: str) -> None:
    o = mechanism("four_bar")
    solution = integrate(o, 0.05, scheme, h=0.005)
    found = solution.residuals()
    assert found.position.shape == (11, o.n_lam) and found.names == o.constraint_names
    for i in (0, 5, 10):
        alone = o.residuals(solution.t[i], solution.q[i], solution.v[i], solution.vdot[i])
        assert np.array_equal(found.position[i], alone.position)
        assert np.array_equal(found.velocity[i], alone.velocity)
        assert np.array_equal(found.acceleration[i], alone.acceleration)
    name, t, value = found.worst("velocity")
    i, j = np.unravel_index(np.abs(found.velocity).argmax(), found.velocity.shape)
    assert (name, t, value) == (found.names[j], solution.t[i], found.velocity[i, j])
    assert found.largest("velocity").max() == abs(value)
    assert "velocity" in str(found) and name in str(found)
    with pytest.raises(InvalidOptionError, match="level = 'jerk'"):
        found.largest("jerk")


def test_the_rod_carries_the_weight() -> None:
    """At rest: the rod pulls upwards, against the weight, as strongly."""
    hanging = integrate(pendulum(q0=[0.0, -1.0]), 0.1, h=0.01)
    for which in ("rod", 0, -1):
        assert np.abs(hanging.reaction(which) - [0.0, 9.81]).max() < 1e-9
    assert np.abs(hanging.reaction("rod", 0.055) - [0.0, 9.81]).max() < 1e-9


@pytest.mark.parametrize("name", ["four_bar", "knife_edge", "rolling_disk"])
def test_reactions_add_up_to_what_moves(name: str) -> None:
    """M v' - f is the sum of all reactions."""
    o = mechanism(name)
    solution = integrate(o, 0.05, h=0.005)
    total = sum(solution.reaction(i) for i in range(o.n_lam + o.n_psi))
    for i, (t, q, v, vdot) in enumerate(
        zip(solution.t, solution.q, solution.v, solution.vdot, strict=True)
    ):
        needed = o.mass(t, q) @ vdot - o.force(t, q, v)
        assert np.abs(total[i] - needed).max() < 1e-7 * max(1.0, np.abs(needed).max())


def test_constraints_of_one_name_are_one_joint() -> None:
    o = mechanism("four_bar")
    n = o.n_lam
    joint = o.replace(constraint_names=["joint", "joint", *o.constraint_names[2:]])
    solution = integrate(joint, 0.02, h=0.005)
    both = solution.reaction("joint")
    assert np.allclose(both, solution.reaction(0) + solution.reaction(1), rtol=1e-13, atol=1e-12)
    assert solution.residuals().position.shape == (5, n)


def test_a_reaction_of_the_users_own() -> None:
    """Here it is quadratic in lam: what one constraint does is what would be lost without it."""
    o = pendulum(
        q0=[0.0, -1.0], lam0=[3.0],
        reaction=lambda t, q, v, lam, psi: -q * lam[0] ** 2,
    )  # fmt: skip
    solution = integrate(o, 0.05, h=0.01)
    assert np.abs(solution.reaction("rod") - [0.0, 9.81]).max() < 1e-7


def test_unknown_constraints_are_refused() -> None:
    solution = integrate(pendulum(), 0.1, h=0.01)
    for which in ("rods", 1, -2, True, 0.0, None):
        with pytest.raises(InvalidOptionError, match="expected number or name of one of 0 'rod'"):
            solution.reaction(which)


def released(t, q, v):
    return q[0] - 0.5


def test_each_phase_has_its_own_constraints() -> None:
    """A pendulum whose rod breaks: then there is no force, and no residual to speak of."""
    free = Mechanism(force=lambda t, q, v: np.array([0.0, -9.81]), q0=[0, 0], v0=[0, 0])
    released.impact = lambda t, q, v: free
    released.direction = -1
    solution = integrate(pendulum(), 0.8, events=released)
    (t,) = solution.t_events[0]
    rod, position = solution.reaction("rod"), solution.residuals().position[:, 0]
    before = np.flatnonzero(solution.t == t)[0] + 1
    assert np.abs(rod[1:before]).max(axis=1).min() > 0.0 and not rod[before:].any()
    assert np.isfinite(position[:before]).all() and np.isnan(position[before:]).all()
    assert solution.residuals().largest().max() < 1e-6
    asked = integrate(pendulum(), 0.8, events=released, t_eval=[0.1, t, 0.8])
    assert np.isnan(asked.residuals().position[:, 0]).tolist() == [False, True, True]


def test_coordinate_names() -> None:
    assert pendulum().coordinate_names == ["q[0]", "q[1]"]
    assert pendulum(coordinate_names=("x", "y")).coordinate_names == ["x", "y"]
    for names in (["x"], "xy", ["x", "y", "z"]):
        with pytest.raises(InvalidOptionError, match="expected 2 names"):
            pendulum(coordinate_names=names)


def test_a_frame_has_named_columns() -> None:
    pytest.importorskip("pandas")
    solution = integrate(pendulum(coordinate_names=["x", "y"]), 0.1, h=0.01)
    frame = solution.to_frame()
    assert frame.shape == (11, 7) and frame.index.name == "t"
    assert np.array_equal(frame["q", "x"].to_numpy(), solution.q[:, 0])
    assert np.array_equal(frame["vdot", "y"].to_numpy(), solution.vdot[:, 1])
    assert np.array_equal(frame["lam", "rod"].to_numpy(), solution.lam[:, 0])
    assert solution.to_frame([0.05]).index.tolist() == [0.05]


def test_without_pandas_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        integrate(pendulum(), 0.1, h=0.01).to_frame()
