"""Switches: handed to every formulation by every solver, and turning constraints on and off."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from assimulo.problem import Implicit_Problem, Overdetermined_Problem

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, Mechanism
from genalpha.errors import InconsistentStartError, UnsupportedProblemError

pytestmark = pytest.mark.needs_assimulo

CLASSES = (GenAlphaI3, GenAlphaSOI2, HHTI2)
GRAVITY = 9.81
#: When a pendulum of length 1 that starts level passes a tenth of its length (DOP853, 1e-12).
PASSES = 0.56932755


def peers():
    """Every formulation with solvers that can have it."""
    from assimulo.solvers import LSODAR, ODASSL, Dopri5, Radau5DAE, Radau5ODE, RodasODE

    from genalpha.assimulo import IDA

    pairs = {
        "ind3": CLASSES,
        "ind2": (ODASSL, GenAlphaSOI2),
        "ind1": (Radau5DAE, IDA),
        "ggl2": (GenAlphaI3,),
        "ovstab2": (ODASSL, HHTI2),
        "ovstab1": (GenAlphaI3,),
        "ode": (Dopri5, Radau5ODE, LSODAR, RodasODE, GenAlphaSOI2),
        "stabilized": (Dopri5,),
    }
    return [(form, cls) for form, classes in pairs.items() for cls in classes]


def level_pendulum():
    return Mechanism(
        force=lambda t, q, v: np.array([0.0, -GRAVITY]),
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: np.array([q @ q - 1.0]),
        holonomic_jacobian=lambda t, q: 2.0 * q[None, :],
    )


@pytest.mark.parametrize(("form", "cls"), peers(), ids=lambda x: getattr(x, "__name__", x))
def test_every_formulation_takes_switches_of_real_solvers(form, cls):
    """With events and switches, Assimulo's solvers hand `sw` to res and rhs."""
    options = {"h": 0.01, "t_final": 1.0} if form == "stabilized" else {}
    problem = level_pendulum().problem(form, **options)
    problem.sw0, seen = [True], []
    if form in ("ode", "stabilized"):
        problem.state_events = lambda t, y, sw: np.array([y[0] - 0.1])
    else:
        problem.state_events = lambda t, y, yd, sw: np.array([y[0] - 0.1])

    def handle(solver, info):
        seen.append(solver.t)
        solver.sw = [False]

    problem.handle_event = handle
    solver = cls(problem)
    solver.verbosity = 50
    with contextlib.redirect_stdout(io.StringIO()):
        t = solver.simulate(1.0)[0]
    assert t[-1] == pytest.approx(1.0)
    if cls.__name__ != "ODASSL":  # which knows no events
        assert seen == [pytest.approx(PASSES, abs=5e-5)]
        assert solver.sw == [False]


def on_a_string(off=lambda y, yd: y[4], overdetermined=False):
    """A mass on a string that may be off: the residual of a user."""

    def res(t, y, yd, sw):
        q, v, lam = y[:2], y[2:4], y[4]
        motion = yd[2:4] + 2.0 * q * lam + [0.0, GRAVITY]
        g = q @ q - 1.0 if sw[0] else off(y, yd)
        rates = [2.0 * q @ v if sw[0] else lam] if overdetermined else []
        return np.array([*(yd[:2] - v), *motion, *rates, g])

    return res


def problem_of(res, y0, sw0, events, kind=Implicit_Problem):
    problem = kind(res, [*y0, 0.0], [*y0[2:], 0.0, -GRAVITY, 0.0], sw0=[sw0])
    problem.state_events = lambda t, y, yd, sw: np.array([events(t, y, sw)])
    problem.seen = []

    def handle(solver, info):
        problem.seen.append((solver.t, solver.y.copy()))
        solver.sw = [not solver.sw[0]]

    problem.handle_event = handle
    return problem


def run(cls, problem, end, **options):
    solver = cls(problem)
    solver.verbosity, solver.rtol, solver.atol = 50, 1e-6, 1e-8
    for key, value in options.items():
        setattr(solver, key, value)
    return solver.simulate(end)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(("h", "factor"), [(None, 1.0), (2e-3, -2000.0)])
def test_a_string_that_is_cut(cls, h, factor):
    """Then it falls freely, and its multiplier is 0."""
    problem = problem_of(
        on_a_string(lambda y, yd: factor * y[4]),
        [1.0, 0.0, 0.0, 0.0],
        True,
        lambda t, y, sw: y[1] + 0.8 if sw[0] else 1.0,
    )
    t, y, _ = run(cls, problem, 1.0, h=h)
    ((cut, at),) = problem.seen
    speed = np.sqrt(2.0 * GRAVITY * 0.8)
    assert at[:4] == pytest.approx([0.6, -0.8, -0.8 * speed, -0.6 * speed], abs=2e-4)
    s = 1.0 - cut
    q = at[:2] + s * at[2:4] - [0.0, 0.5 * GRAVITY * s**2]
    assert y[-1][:2] == pytest.approx(q, abs=1e-9)
    free = np.array(t) > cut
    assert not y[free, 4].any()
    assert np.abs(y[~free, 4]).max() > 1.0


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("overdetermined", [False, True])
def test_a_string_that_becomes_taut(cls, overdetermined):
    """A start without the constraint; when it comes, the velocity loses what it forbids."""
    kind = Overdetermined_Problem if overdetermined else Implicit_Problem
    problem = problem_of(
        on_a_string(overdetermined=overdetermined),
        [0.0, 0.0, 1.0, 0.0],
        False,
        lambda t, y, sw: 1.0 if sw[0] else 1.0 - y[:2] @ y[:2],
        kind,
    )
    t, y, _ = run(cls, problem, 0.8)
    ((taut, at),) = problem.seen
    exact = np.sqrt(2.0 * (np.sqrt(1.0 + GRAVITY**2) - 1.0)) / GRAVITY
    assert taut == pytest.approx(exact, abs=1e-9)
    after = y[np.array(t) > taut]
    assert np.abs((after[:, :2] ** 2).sum(axis=1) - 1.0).max() <= 1e-7
    tangent = np.array([-at[1], at[0]])
    energy = 0.5 * (tangent @ at[2:4]) ** 2 + GRAVITY * at[1]
    left = 0.5 * (after[:, 2:4] ** 2).sum(axis=1) + GRAVITY * after[:, 1]
    assert left == pytest.approx(np.full(len(after), energy), abs=2e-3)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_clutch_that_closes(cls):
    """A nonholonomic constraint: momentum is kept, then both turn together."""

    def res(t, y, yd, sw):
        w, psi = y[2:4], y[4]
        return np.array(
            [*(yd[:2] - w), yd[2] + psi - 1.0, 2.0 * yd[3] - psi, w[0] - w[1] if sw[0] else psi]
        )

    problem = problem_of(res, [0.0, 0.0, 0.0, 0.0], False, lambda t, y, sw: t - 1.0)
    problem.yd0 = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    _, y, _ = run(cls, problem, 2.0)
    assert y[-1] == pytest.approx([1.0, 0.5, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], abs=1e-6)


def test_what_is_not_off_is_refused():
    off = on_a_string(lambda y, yd: 0.0)
    problem = problem_of(off, [1.0, 0.0, 0.0, 0.0], True, lambda t, y, sw: t - 0.1)
    with pytest.raises(UnsupportedProblemError, match=r"`g if sw\[0\] else lam`.*row 4 of res"):
        run(GenAlphaSOI2, problem, 0.2)


def test_a_new_constraint_moves_no_position():
    problem = problem_of(on_a_string(), [1.0, 0.0, 0.0, 0.0], False, lambda t, y, sw: t - 0.1)
    with pytest.raises(InconsistentStartError, match="position level"):
        run(GenAlphaSOI2, problem, 0.2)
