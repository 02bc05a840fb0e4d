"""Counted is called: for every class, in forms and with options that other tests do not have."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from assimulo.problem import Explicit_Problem, Implicit_Problem, Overdetermined_Problem

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, mechanisms

pytestmark = pytest.mark.needs_assimulo

CLASSES = (GenAlphaI3, GenAlphaSOI2, HHTI2)
OPTIONS = (
    {"usejac": False},
    {"jacobian": "every iteration"},
    {"newton_accuracy": 1e-8},
    {"h": 0.004, "start": "plain"},
)


def counted(solver):
    return solver.statistics["nfcns"] + solver.statistics["nfcnjacs"]


def plain(mechanism, form, calls, with_jac):
    own = mechanism.problem(form)

    def res(t, y, yd, sw):
        calls["res"] += 1
        return own.res(t, y, yd)

    def jac(c, t, y, yd, sw):
        calls["jac"] += 1
        return own.jac(c, t, y, yd)

    kind = Overdetermined_Problem if form.startswith("ov") else Implicit_Problem
    problem = kind(res, own.y0, own.yd0, own.t0, sw0=[True])
    problem.redundant = mechanism.redundant
    if with_jac:
        problem.jac = jac
    return problem


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("form", ["ind3", "ovstab1"])
def test_of_a_residual(cls, options, form):
    """With a switch that changes at an event, and with `jac`."""
    calls = Counter()
    problem = plain(mechanisms.pendulum_jn(), form, calls, with_jac=True)
    problem.state_events = lambda t, y, yd, sw: np.array([t - 0.04])
    problem.handle_event = lambda solver, info: setattr(solver, "sw", [not solver.sw[0]])
    solver = cls(problem)
    solver.verbosity, asked = 50, calls["jac"]
    for key, value in options.items():
        setattr(solver, key, value)
    solver.simulate(0.1)
    assert solver.sw == [False]
    assert counted(solver) == calls["res"]
    assert (calls["jac"] == asked) == (options.get("usejac") is False)


@pytest.mark.parametrize("cls", CLASSES)
def test_of_a_residual_with_rows_left_out(cls):
    calls = Counter()
    solver = cls(plain(mechanisms.n_four_bar(), "ind3", calls, with_jac=False))
    solver.verbosity, solver.rtol = 50, 1e-4
    solver.simulate(0.05)
    assert counted(solver) == calls["res"]


@pytest.mark.parametrize("cls", CLASSES)
def test_of_a_right_hand_side(cls):
    calls = Counter()

    def rhs(t, y):
        calls["rhs"] += 1
        return np.array([y[1], -np.sin(y[0])])

    solver = cls(Explicit_Problem(rhs, [1.0, 0.0]))
    solver.verbosity = 50
    solver.simulate(1.0)
    assert counted(solver) == calls["rhs"]


@pytest.mark.parametrize("cls", CLASSES)
def test_of_a_mechanism(cls, capsys):
    """Its callbacks, run by run; printed with the statistics."""
    calls, made = Counter(), mechanisms.pendulum_jn()
    force, holonomic = made._arguments["force"], made._arguments["holonomic"]

    def f(t, q, v):
        calls["force"] += 1
        return force(t, q, v)

    def g(t, q):
        calls["holonomic"] += 1
        return holonomic(t, q)

    solver = cls(made.replace(force=f, holonomic=g, holonomic_jacobian=None).problem())
    solver.verbosity = 50
    for end in (0.05, 0.1):
        calls.clear()
        solver.simulate(end)
        assert solver.calls["force"] == calls["force"]
        assert solver.calls["holonomic"] == calls["holonomic"]
    solver.print_statistics(50)
    printed = capsys.readouterr().out
    assert f"force {calls['force']}" in printed and f"holonomic {calls['holonomic']}" in printed
