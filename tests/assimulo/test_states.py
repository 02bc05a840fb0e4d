"""First-order states in Assimulo's problems: all formulations, all solvers, the same motion."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Explicit_Problem, Implicit_Problem
from assimulo.solvers import ODASSL, Dopri5, Radau5DAE
from scipy.integrate import solve_ivp

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, assimulo, integrate
from genalpha.assimulo.layout import layout_of
from genalpha.errors import UnsupportedProblemError
from genalpha.model.differences import accurate_jacobian
from tests.driver.driven import Made

pytestmark = pytest.mark.needs_assimulo

FORMS = [form for form in assimulo.FORMS if form != "ode"]


@pytest.mark.parametrize("form", FORMS)
def test_residual_vanishes_on_the_exact_solution(form):
    made = Made()
    problem, layout = made.mechanism().problem(form), layout_of(made.mechanism(), form)
    assert problem.y0.size == 3 + 3 + 2 + 2 + (form == "ggl2")
    for t in (0.0, 0.3, 0.9):
        y, yd = layout.assemble(made.motion(t))
        np.testing.assert_array_equal(y[6:8], made.motion(t).z)
        assert np.abs(problem.res(t, y, yd)).max() < 1e-9
    assert problem.algvar[:8] == [1] * 8 and not any(problem.algvar[8:])


def test_ode_has_the_rates():
    made = Made()
    problem, layout = made.mechanism().problem("ode"), layout_of(made.mechanism(), "ode")
    y, yd = layout.assemble(made.motion(0.4))
    np.testing.assert_allclose(problem.rhs(0.4, y), yd, atol=1e-9)
    lam, psi = problem.multipliers(0.4, y)
    np.testing.assert_allclose(np.append(lam, psi), np.append(*made.multipliers(0.4)), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_jacobian(form):
    """With all derivatives given (here differenced ones), jac is that of the residual."""
    plain = Made().mechanism()
    given = Made().mechanism(
        stiffness=plain.stiffness, damping=plain.damping, **Made().accelerations()
    )
    assert set(given.check_derivatives()) >= {"holonomic_acceleration", "nonholonomic_acceleration"}
    problem, layout = given.problem(form), layout_of(given, form)
    y, yd = layout.assemble(Made().motion(0.2))
    found = problem.jac(3.0, 0.2, y, yd)
    wanted = accurate_jacobian(lambda x: problem.res(0.2, x, yd), y)
    wanted += 3.0 * accurate_jacobian(lambda x: problem.res(0.2, y, x), yd)
    np.testing.assert_allclose(found, wanted, atol=2e-5)


@pytest.mark.parametrize(
    ("kind", "form"),
    [(Radau5DAE, "ind1"), (Radau5DAE, "ggl2"), (ODASSL, "ovstab2"), (Dopri5, "ode")],
)
def test_peers_have_them(kind, form):
    """Radau5DAE fails on ind1 with constraints, with or without states ("step size too small")."""
    made = Made() if form != "ind1" else Made(False, False)
    solver = kind(made.mechanism(**made.accelerations()).problem(form))
    solver.rtol, solver.atol, solver.verbosity = 1e-7, 1e-8, 50
    y = solver.simulate(1.0)[1][-1]
    exact = made.motion(1.0)
    np.testing.assert_allclose(y[:8], np.concatenate([exact.q, exact.v, exact.z]), atol=1e-4)


@pytest.mark.parametrize("kind", [GenAlphaI3, GenAlphaSOI2, HHTI2])
def test_classes_are_integrate(kind):
    o = Made(nonholonomic=kind is not HHTI2).mechanism()
    solver = kind(o.problem())
    solver.h, solver.verbosity = 0.02, 50
    _, y, yd = solver.simulate(0.5)
    found = integrate(o, 0.5, scheme=kind.__name__, h=0.02)
    np.testing.assert_allclose(y[:, 6:8], found.z, atol=1e-12)
    np.testing.assert_allclose(yd[:, 6:8], found.zdot, atol=1e-10)
    np.testing.assert_allclose(y[:, :3], found.q, atol=1e-12)
    adaptive = kind(o.problem())
    adaptive.rtol, adaptive.verbosity = 1e-5, 50
    adaptive.atol = np.full(o.problem().y0.size, 1e-5)
    last = adaptive.simulate(0.5)[1][-1]
    np.testing.assert_allclose(last[6:8], Made().motion(0.5).z, atol=1e-3)


def test_events_and_make_consistent():
    """Events see y with z; a start is made consistent without moving z."""
    o = Made().mechanism()
    problem = o.problem()
    problem.state_events = lambda t, y, yd, sw: np.array([y[6] - 1.2])
    problem.handle_event = lambda solver, info: None
    solver = GenAlphaSOI2(problem)
    solver.rtol, solver.atol, solver.verbosity = 1e-6, 1e-6, 50
    solver.simulate(1.0)
    assert solver.statistics["nstateevents"] == 1
    problem = o.problem()
    problem.y0[3] += 0.1
    solver = GenAlphaSOI2(problem)
    _, y, yd = solver.make_consistent()
    np.testing.assert_array_equal(y[6:8], o.z0)
    assert np.abs(problem.res(0.0, y, yd)).max() < 1e-8


def test_stabilized_form_is_refused():
    with pytest.raises(UnsupportedProblemError, match="first-order states"):
        Made().mechanism().problem("stabilized")


def shuffled(problem, seed):
    """Return the problem as a plain one, with unknowns and rows in another order, and the order."""
    random = np.random.default_rng(seed)
    order = random.permutation(problem.y0.size)
    rows = random.permutation(problem.y0.size)

    def res(t, y, yd):
        back, back_d = np.zeros(y.size), np.zeros(y.size)
        back[order], back_d[order] = y, yd
        return problem.res(t, back, back_d)[rows]

    return Implicit_Problem(res, problem.y0[order], problem.yd0[order], problem.t0), order


@pytest.mark.parametrize("kind", [GenAlphaI3, GenAlphaSOI2, HHTI2])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_plain_residual_in_any_order(kind, seed):
    """States are recognised wherever they are, and the motion is that of the mechanism."""
    o = Made(nonholonomic=kind is not HHTI2).mechanism()
    plain, order = shuffled(o.problem(), seed)
    solver = kind(plain)
    solver.h, solver.verbosity = 0.05, 50
    _, y, _ = solver.simulate(0.5)
    found = integrate(o, 0.5, scheme=kind.__name__, h=0.05)
    back = np.zeros_like(y)
    back[:, order] = y
    np.testing.assert_allclose(back[:, :3], found.q, atol=1e-6)
    np.testing.assert_allclose(back[:, 6:8], found.z, atol=1e-6)
    # GenAlphaI3's drift at the start comes from a difference of accelerations in a residual
    np.testing.assert_allclose(
        back[:, 8], found.lam[:, 0], atol=1e-2 if kind is GenAlphaI3 else 1e-3
    )


def test_plain_integrator_of_a_position():
    """A row I' = x is a state, not a position whose velocity is x; adaptive steps, and explicit."""

    def rhs(t, y):
        total, x, v, current = y
        return np.array([x, v, -x - 0.2 * total + current, -5.0 * current - v])

    start = np.array([0.0, 1.0, 0.0, 0.1])
    implicit = Implicit_Problem(lambda t, y, yd: yd - rhs(t, y), start, rhs(0.0, start))
    exact = solve_ivp(rhs, (0.0, 2.0), start, rtol=1e-11, atol=1e-11).y[:, -1]
    for problem in (implicit, Explicit_Problem(rhs, start)):
        solver = GenAlphaSOI2(problem)
        solver.rtol, solver.atol, solver.verbosity = 1e-7, 1e-7, 50
        np.testing.assert_allclose(solver.simulate(2.0)[1][-1], exact, atol=2e-4)
