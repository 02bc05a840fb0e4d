"""How a run is begun and watched: intervals, starts off the constraints, progress."""

from __future__ import annotations

import sys
import time
from math import sin

import numpy as np
import pytest

from genalpha import Mechanism, integrate
from genalpha.driver import progress
from genalpha.errors import InconsistentStartError, InvalidOptionError, RepairedStartWarning
from genalpha.numerics import initial_values, redundancy

from .support import SCHEMES, mechanism, pendulum


@pytest.mark.parametrize("scheme", [*SCHEMES, "StabilizedRK2"])
def test_an_interval(scheme: str) -> None:
    """The start is that of the mechanism, whatever the time."""
    early = integrate(pendulum(), 0.2, scheme, h=0.01)
    late = integrate(pendulum(), (5.0, 5.2), scheme, h=0.01)
    assert late.t[0] == 5.0 and late.t[-1] == 5.2
    assert np.abs(late.q - early.q).max() < 1e-9
    assert late.mechanism.t0 == 5.0


def test_an_interval_that_is_none() -> None:
    for interval in ((0.0,), (0.0, 1.0, 2.0), [], ("a", "b")):
        with pytest.raises(InvalidOptionError, match="a time, or a pair"):
            integrate(pendulum(), interval)
    with pytest.raises(InvalidOptionError, match="other than t0 = 1"):
        integrate(pendulum(), (1.0, 1.0))


def test_a_start_off_the_constraints_is_refused_with_the_tolerance() -> None:
    with pytest.raises(InconsistentStartError) as caught:
        integrate(pendulum(q0=[0.7071, -0.7071]), 0.1)
    text = str(caught.value)
    assert "1e-09" in text and "repair=True" in text and "rod" in text


def test_a_start_is_repaired_and_it_says_by_how_much() -> None:
    o = pendulum(q0=[0.7071, -0.7071], v0=[1.0, 0.0], coordinate_names=["x", "y"])
    with pytest.warns(RepairedStartWarning) as caught:
        solution = integrate(o, 0.1, repair=True)
    text = str(caught[0].message)
    root = np.sqrt(0.5)
    assert np.abs(solution.q[0] - [root, -root]).max() < 1e-12
    assert np.abs(solution.v[0] - [0.5, 0.5]).max() < 1e-12
    assert f"position by at most {root - 0.7071:.3e} (x: 0.7071 becomes 0.707106781)" in text
    assert "velocity by at most 5.000e-01" in text
    assert caught[0].filename == __file__


def test_a_good_start_stays_as_it_is() -> None:
    o = mechanism("simple_pendulum")
    solution = integrate(o, 0.1, h=0.01, repair=True)
    assert solution.mechanism is o


def test_what_cannot_be_repaired() -> None:
    impossible = pendulum(holonomic=lambda t, q: [q @ q + 1.0], holonomic_jacobian=None)
    with pytest.raises(InconsistentStartError, match="rod"):
        integrate(impossible, 0.1, repair=True)


def slow(t, q, v):
    time.sleep(2e-3)
    return np.array([0.0, -9.81])


@pytest.mark.parametrize("scheme", ["GenAlphaI3", "StabilizedRK2"])
def test_progress_without_tqdm(scheme: str, capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    integrate(pendulum(slow), 1.0, scheme, h=0.01, progress=True)
    shown = capsys.readouterr()
    lines = shown.err.strip().split("\r")
    shares = [float(line.split(":")[1].split("%")[0]) for line in lines if "%" in line]
    assert len(shares) > 2 and shares == sorted(shares)
    assert lines[-1].startswith("pendulum: 100 %, t = 1 of 1")
    assert shown.err.endswith("\n") and not shown.out


def test_progress_with_tqdm(capsys) -> None:
    pytest.importorskip("tqdm")
    integrate(pendulum(slow), 0.5, h=0.01, progress=True)
    last = capsys.readouterr().err.strip().split("\r")[-1]
    assert last.startswith("pendulum: 100%") and "t = 0.5 of 0.5" in last


def test_progress_costs_nothing_when_it_is_off() -> None:
    keeper = progress.Keeper()
    assert progress.shown(keeper, None, None) is keeper


def test_progress_ends_its_line_when_the_run_fails(capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(Exception, match="steps were not enough"):
        integrate(pendulum(), 1.0, maxsteps=5, progress=True)
    assert capsys.readouterr().err.endswith("\n")


@pytest.mark.parametrize("h", [None, 0.01])
def test_a_start_is_checked_once(monkeypatch: pytest.MonkeyPatch, h: float | None) -> None:
    """The start and the one after an impact: constraints are looked at and ranked once each."""
    counts = {"violation": 0, "rank": 0}

    def counted(holder: object, name: str, key: str) -> None:
        function = getattr(holder, name)

        def wrapped(*arguments: object) -> object:
            counts[key] += 1
            return function(*arguments)

        monkeypatch.setattr(holder, name, wrapped)

    counted(initial_values, "worst_violation", "violation")
    counted(redundancy, "dependent_rows", "rank")

    def gap(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(q[0] - 0.9)

    gap.impact = lambda t, q, v: -0.5 * v  # type: ignore[attr-defined]
    solution = integrate(pendulum(), 0.7, "GenAlphaSOI2", h, events=gap)
    starts = 1 + len(solution.t_events[0])
    assert starts >= 2
    assert counts == {"violation": starts, "rank": starts}


@pytest.mark.parametrize("redundant", ["error", "least"])
@pytest.mark.parametrize(
    "g", [lambda t, q: [q[0], q[0] - 1.0], lambda t, q: [q @ q - 1.0, q[0] - 2.0]]
)
def test_contradicting_constraints_cannot_be_repaired(g, redundant):
    o = Mechanism(
        force=lambda t, q, v: [0.0, -9.81],
        q0=[0.0, 1.0],
        v0=[0.0, 0.0],
        holonomic=g,
        redundant=redundant,
    )
    with pytest.raises(InconsistentStartError, match="contradict each other") as raised:
        integrate(o, 1.0)
    assert "repair=True" not in str(raised.value)


def test_driven_constraints_in_fast_units_start_where_they_are() -> None:
    """Their rates are differenced by time, together with rows of other units: none is refused."""
    random = np.random.default_rng(18)
    for _ in range(400):
        tau = 10.0 ** random.uniform(-3.0, 0.0)
        units = 10.0 ** random.uniform(-2.0, 2.0, 2)
        rows = np.linalg.qr(random.normal(size=(3, 3)))[0]
        swing, pace = random.uniform(-0.4, 0.4, 2), random.uniform(0.5, 3.0, 2)
        t0 = random.choice([-3.0, 0.0, 10.0]) * tau
        v0 = rows.T @ [*(-swing * pace / tau * np.cos(pace * t0 / tau)), random.normal() / tau]

        def g(t, q, rows=rows, units=units, swing=swing, waves=(pace / tau, t0)):
            pace, t0 = waves
            driven = swing * [sin(x * t) - sin(x * t0) for x in pace]  # not for complex numbers
            return units * (rows[:2] @ q + driven)

        o = Mechanism(
            force=lambda t, q, v: np.zeros(3), q0=random.normal() * rows[2], v0=v0,
            holonomic=g, t0=t0,
        )  # fmt: skip
        initial_values.check_start(o, o.t0, o.q0, o.v0)
