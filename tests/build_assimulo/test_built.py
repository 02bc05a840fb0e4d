"""The Assimulo that we test against is sound: its own pendulum, and an event through Radau5DAE."""

import numpy as np
import pytest
from assimulo.problem import Implicit_Problem
from assimulo.solvers import ODASSL, Radau5DAE
from assimulo.special_systems import Mechanical_System
from scipy.integrate import solve_ivp

pytestmark = pytest.mark.needs_assimulo

GRAVITY = 13.7503671  # the value of Assimulo's example: the period is close to 2


def pendulum() -> Mechanical_System:
    """The pendulum of assimulo.examples.mech_system_pendulum, which itself imports IDA."""
    return Mechanical_System(
        2,
        lambda t, p, v: np.array([0.0, -GRAVITY]),
        1,
        [1.0, 0.0],
        [0.0, 0.0],
        [0.0],
        [0.0, 0.0],
        [0.0, -GRAVITY],
        GT=lambda p: p.reshape(2, 1),
        constr3=lambda t, y: np.array([y[0] ** 2 + y[1] ** 2 - 1.0]),
        constr2=lambda t, y: np.array([y[0] * y[2] + y[1] * y[3]]),
        constr1=lambda t, y: np.array(
            [y[2] ** 2 + y[3] ** 2 - y[4] * (y[0] ** 2 + y[1] ** 2) - y[1] * GRAVITY]
        ),
    )


def solve(solver_class, formulation, tolerance):
    solver = solver_class(pendulum().generate_problem(formulation))
    solver.verbosity = 50
    solver.atol = solver.rtol = tolerance
    return solver.simulate(2.0, 100)


def exact_state(t):
    """Position and velocity from the angle equation, solved by another code."""
    angle = solve_ivp(
        lambda _, u: [u[1], -GRAVITY * np.sin(u[0])],
        (0.0, 2.0),
        [np.pi / 2, 0.0],
        rtol=1e-12,
        atol=1e-12,
        t_eval=t,
    ).y
    phi, omega = angle
    return np.column_stack([np.sin(phi), -np.cos(phi), omega * np.cos(phi), omega * np.sin(phi)])


@pytest.mark.parametrize(
    ("solver_class", "formulation", "bound"),
    [(Radau5DAE, "ind1", 1e-5), (ODASSL, "ovstab2", 1e-5)],
)
def test_own_pendulum(solver_class, formulation, bound):
    t, y, _ = solve(solver_class, formulation, 1e-8)
    t = np.asarray(t)
    # Row 0 is not compared: ODASSL overwrites its first result row with the last one.
    error = np.abs(y[1:, :4] - exact_state(t)[1:])
    assert t[-1] == 2.0
    assert error.max() < bound


def test_two_solvers_agree():
    radau = solve(Radau5DAE, "ind1", 1e-8)[1]
    odassl = solve(ODASSL, "ovstab2", 1e-8)[1]
    assert np.abs(radau[-1, :4] - odassl[-1, :4]).max() < 1e-5


class Oscillator(Implicit_Problem):
    """x'' = -x with an event at each zero of x, exactly at pi/2 + k pi."""

    def __init__(self):
        super().__init__(y0=[1.0, 0.0], yd0=[0.0, -1.0], sw0=[True])
        self.events = []

    def res(self, t, y, yd, sw):
        return np.array([yd[0] - y[1], yd[1] + y[0]])

    def state_events(self, t, y, yd, sw):
        return np.array([y[0]])

    def handle_event(self, solver, event_info):
        self.events.append((solver.t, event_info[0][0]))


@pytest.mark.parametrize("output_points", [0, 40])
def test_state_event_through_radau5dae(output_points):
    """Fails when Radau5's callback is one argument short (the ``werr`` patch)."""
    problem = Oscillator()
    solver = Radau5DAE(problem)
    solver.verbosity = 50
    solver.atol = solver.rtol = 1e-9
    t, y, _ = solver.simulate(6.0, output_points)
    times, signs = zip(*problem.events, strict=True)
    np.testing.assert_allclose(times, [np.pi / 2, 3 * np.pi / 2], atol=1e-6)
    assert signs == (-1, 1)
    np.testing.assert_allclose(y[:, 0], np.cos(t), atol=1e-6)
