"""What the classes take: every formulation, plain problems, Assimulo's Mechanical_System."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Explicit_Problem, Implicit_Problem
from assimulo.special_systems import Mechanical_System

from genalpha import mechanisms
from genalpha.errors import GenAlphaError, UnsupportedProblemError

from .conftest import GRAVITY, jacobian, sparse_jacobian

pytestmark = pytest.mark.needs_assimulo


def mechanical_system():
    """The pendulum of Assimulo's own example."""
    return Mechanical_System(
        2,
        lambda t, p, v: np.array([0.0, -GRAVITY]),
        1,
        [1.0, 0.0],
        [0.0, 0.0],
        [0],
        [0.0, 0.0],
        [0.0, -GRAVITY],
        GT=lambda p: p.reshape(2, 1),
        constr3=lambda t, y: np.array([y[0] ** 2 + y[1] ** 2 - 1.0]),
        constr2=lambda t, y: np.array([y[0] * y[2] + y[1] * y[3]]),
        constr1=lambda t, y: np.array(
            [y[2] ** 2 + y[3] ** 2 - y[4] * (y[0] ** 2 + y[1] ** 2) - y[1] * GRAVITY]
        ),
    )


@pytest.mark.parametrize("form", ["ind3", "ind2", "ind1", "ggl2", "ovstab2", "ovstab1", "ode"])
def test_formulations_of_a_mechanism(make, mechanism, form):
    result = make(mechanism.problem(form), h=2e-3).simulate(0.2, 5)
    expected = mechanism.reference.motion(0.2)
    y = result[1][-1]
    assert len(result) == (2 if form == "ode" else 3)
    assert np.allclose(y[:2], expected.q, atol=1e-5) and np.allclose(y[2:4], expected.v, atol=1e-4)
    if form != "ode":
        assert np.allclose(y[4:5], expected.lam, atol=1e-2)
    if form == "ggl2":
        assert not result[1][:, 5].any(), "mu is zero"


def test_mu_of_a_start_is_ignored(make, mechanism):
    solver = make(mechanism.problem("ggl2"))
    plain = solver.simulate(0.1)[1]
    solver.re_init(0.0, [*mechanism.problem("ggl2").y0[:5], 7.0], np.zeros(6))
    assert np.array_equal(solver.simulate(0.1)[1][1:], plain[1:])


@pytest.mark.parametrize("form", ["ind3", "ind2", "ggl2", "ovstab2", "ovstab1"])
@pytest.mark.parametrize("h", [2e-3, None])
def test_mechanical_system(make, mechanism, form, h):
    solver = make(mechanical_system().generate_problem(form), h=h, suppress_alg=True)
    y = solver.simulate(0.2, 5)[1][-1]
    expected = mechanism.reference.motion(0.2)
    assert np.allclose(y[:2], expected.q, atol=1e-4) and np.allclose(y[2:4], expected.v, atol=1e-3)
    # Assimulo's constraint is not halved, as this mechanism's is not, so lam agrees
    assert np.allclose(y[4], expected.lam, atol=2e-2)


def test_index_1_is_refused_with_the_classes_that_can(solver_class):
    with pytest.raises(UnsupportedProblemError, match="index-1") as caught:
        solver_class(mechanical_system().generate_problem("ind1"))
    for text in ("ind3", "IDA", "Radau5DAE", solver_class.__name__):
        assert text in str(caught.value)


@pytest.mark.parametrize("jac", [jacobian, sparse_jacobian])
def test_plain_problem_with_jacobian(make, plain, mechanism, jac):
    solver = make(plain(jac=jac), h=2e-3)
    y = solver.simulate(0.2, 5)[1][-1]
    assert np.allclose(y[:2], mechanism.reference.motion(0.2).q, atol=1e-5)
    assert solver.statistics["nfcnjacs"] == 0


def test_explicit_problem_with_jacobian(make):
    spring = Explicit_Problem(lambda t, y: np.array([y[1], -4.0 * y[0]]), [1.0, 0.0])
    spring.jac = lambda t, y: np.array([[0.0, 1.0], [-4.0, 0.0]])
    solver = make(spring, h=1e-3)
    assert solver.simulate(1.0)[1][-1, 0] == pytest.approx(np.cos(2.0), abs=1e-5)
    assert solver.statistics["nfcnjacs"] == 0


def test_explicit_problem_with_switches_but_no_state_events(make):
    """The base class would call rhs without the switches."""
    spring = Explicit_Problem(
        lambda t, y, sw: np.array([y[1], -y[0] if sw[0] else 0.0]), [1.0, 0.0], sw0=[True]
    )
    assert make(spring, h=1e-3).simulate(1.0)[1][-1, 0] == pytest.approx(np.cos(1.0), abs=1e-5)


def test_first_order_problems_are_refused(solver_class):
    decay = Implicit_Problem(lambda t, y, yd: yd + y, [1.0], [-1.0])
    with pytest.raises(UnsupportedProblemError, match="IDA"):
        solver_class(decay)
    decay.mechanism = "not one of ours"
    with pytest.raises(UnsupportedProblemError):
        solver_class(decay)


@pytest.mark.parametrize("name", ["rolling_disk", "knife_edge", "driven_pendulum", "four_bar"])
def test_other_mechanisms(make, solver_class, name):
    mechanism = mechanisms.catalogue()[name]()
    both = mechanism.n_lam and mechanism.n_psi
    if solver_class.__name__ == "HHTI2" and both:
        with pytest.raises(GenAlphaError, match="GenAlphaSOI2"):
            make(mechanism.problem("ind3"))
        return
    end = mechanism.t0 + 0.1
    y = make(mechanism.problem("ind3"), h=1e-3).simulate(end, 2)[1][-1]
    expected = mechanism.reference.motion(end)
    assert np.allclose(y[: mechanism.n_q], expected.q, atol=1e-4)


def test_both_kinds_of_constraints(make, solver_class):
    mechanism = mechanisms.catalogue()["jay_negrut_test"]()
    assert mechanism.n_lam and mechanism.n_psi
    if solver_class.__name__ == "HHTI2":
        with pytest.raises(UnsupportedProblemError, match="GenAlphaSOI2"):
            make(mechanism.problem("ind3"))
    else:
        end = mechanism.t0 + 0.1
        y = make(mechanism.problem("ind3"), h=1e-3).simulate(end)[1][-1]
        expected = mechanism.reference.motion(end)
        assert np.allclose(y, [*expected.q, *expected.v, *expected.lam, *expected.psi], atol=1e-2)
