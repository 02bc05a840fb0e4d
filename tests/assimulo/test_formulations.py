"""Every formulation of every mechanism: residuals, Jacobians, starts, and what they say."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Explicit_Problem, Implicit_Problem, Overdetermined_Problem
from scipy import sparse

from genalpha import assimulo
from genalpha.assimulo.layout import layout_of
from genalpha.errors import InconsistentStartError, InvalidOptionError
from genalpha.model.differences import accurate_jacobian

pytestmark = pytest.mark.needs_assimulo

IMPLICIT = [form for form in assimulo.FORMS if form != "ode"]
KINDS = {"ovstab2": Overdetermined_Problem, "ovstab1": Overdetermined_Problem}


@pytest.mark.parametrize("form", IMPLICIT)
def test_residual_vanishes_on_the_exact_solution(mechanism, motions, form):
    problem, layout = mechanism.problem(form), layout_of(mechanism, form)
    for t, motion in motions:
        y, yd = layout.assemble(motion)
        size = 1.0 + max(np.abs(y).max(), np.abs(yd).max())
        assert np.abs(problem.res(t, y, yd)).max() <= 1e-10 * size


def test_ode_gives_the_exact_accelerations_and_multipliers(mechanism, motions):
    problem = mechanism.problem("ode")
    for t, motion in motions:
        y, yd = layout_of(mechanism, "ode").assemble(motion)
        lam, psi = problem.multipliers(t, y)
        size = 1.0 + max(np.abs(x).max(initial=0.0) for x in motion)
        assert np.abs(problem.rhs(t, y) - yd).max() <= 1e-10 * size
        assert np.abs(np.concatenate([lam - motion.lam, psi - motion.psi])).max() <= 1e-10 * size


def test_ode_multipliers_of_many_instants_are_those_of_each(pendulum):
    problem = pendulum.problem("ode")
    t = np.array([0.1, 0.2, 0.3])
    motions = [pendulum.reference.motion(x) for x in t]
    lam, psi = problem.multipliers(t, [np.concatenate([m.q, m.v]) for m in motions])
    assert lam == pytest.approx(np.array([m.lam for m in motions]), abs=1e-12)
    assert psi.shape == (3, 0)


def test_ode_starts_nonlinear_reactions_from_the_last_multipliers(pendulum):
    calls = []

    def reaction(t, q, v, lam, psi):
        calls.append(t)
        return -q * (lam + lam**3)

    problem = pendulum.replace(reaction=reaction, stiffness=None, damping=None).problem("ode")
    motion = pendulum.reference.motion(0.4)
    y, work = np.concatenate([motion.q, motion.v]), []
    for _ in range(2):
        calls.clear()
        problem.rhs(0.4, y)
        work.append(len(calls))
    assert work[1] < 0.5 * work[0]


@pytest.mark.parametrize("form", IMPLICIT)
def test_rows_are_independent_of_each_other_off_the_solution(mechanism, form):
    """A residual that vanishes by being empty, or constant, would pass the tests above."""
    problem = mechanism.problem(form)
    random = np.random.default_rng(1)
    y = problem.y0 + 0.1 * random.uniform(0.5, 1.0, problem.y0.size)
    yd = problem.yd0 + 0.1 * random.uniform(0.5, 1.0, problem.y0.size)
    residual = problem.res(mechanism.t0, y, yd)
    o = mechanism
    extra = {"ovstab2": o.n_lam, "ovstab1": 2 * o.n_lam + o.n_psi}.get(form, 0)
    assert residual.size == y.size + extra
    assert (np.abs(residual) > 1e-8).mean() > 0.6


@pytest.mark.parametrize("form", IMPLICIT)
@pytest.mark.parametrize("c", [0.0, 3.0, 1e3])
def test_given_jacobian_agrees_with_differences(mechanism, form, c):
    problem = mechanism.problem(form)
    random = np.random.default_rng(2)
    t = mechanism.t0 + 0.3
    y = problem.y0 + 0.1 * random.uniform(-1.0, 1.0, problem.y0.size)
    yd = problem.yd0 + 0.1 * random.uniform(-1.0, 1.0, problem.y0.size)
    given = problem.jac(c, t, y, yd)
    differenced = accurate_jacobian(lambda x: problem.res(t, x, yd), y)
    differenced = differenced + c * accurate_jacobian(lambda x: problem.res(t, y, x), yd)
    assert given.shape == differenced.shape
    scale = np.maximum(1.0, np.abs(differenced).max(axis=1))[:, None]
    assert (np.abs(given - differenced) / scale).max() <= 2e-6


@pytest.mark.parametrize("form", IMPLICIT)
def test_sparse_mechanisms_have_sparse_jacobians(linkage, sparse_linkage, form):
    problem, dense = sparse_linkage.problem(form), linkage.problem(form)
    random = np.random.default_rng(3)
    y, yd = (x + 0.1 * random.uniform(-1.0, 1.0, x.size) for x in (problem.y0, problem.yd0))
    jacobian = problem.jac(7.0, 0.2, y, yd)
    assert sparse.issparse(jacobian)
    assert jacobian.nnz < 0.4 * np.prod(jacobian.shape)
    wanted = dense.jac(7.0, 0.2, y, yd)
    assert np.abs(jacobian.toarray() - wanted).max() <= 1e-6 * np.abs(wanted).max()


def test_jacobian_is_absent_where_derivatives_are_unknown(pendulum):
    rough = pendulum.replace(holonomic_acceleration=None)
    assert hasattr(rough.problem("ind2"), "jac")
    assert not hasattr(rough.problem("ind1"), "jac")
    assert not hasattr(pendulum.replace(stiffness=None).problem("ind3"), "jac")


@pytest.mark.parametrize("form", list(assimulo.FORMS))
def test_problem_says_what_it_is(mechanism, form):
    problem, n = mechanism.problem(form), mechanism.n_q
    kind = Explicit_Problem if form == "ode" else KINDS.get(form, Implicit_Problem)
    assert isinstance(problem, kind)
    assert problem.mechanism is mechanism
    assert problem.form == form
    assert mechanism.name in problem.name
    assert form in problem.name
    assert problem.t0 == mechanism.t0
    if form != "ode":
        assert problem.algvar == [1] * (2 * n) + [0] * (problem.y0.size - 2 * n)
        assert np.abs(problem.res(problem.t0, problem.y0, problem.yd0)).max() <= 1e-9
    if kind is Overdetermined_Problem:
        assert problem.neq == problem.res(problem.t0, problem.y0, problem.yd0).size


def test_callbacks_cannot_change_the_solvers_arrays(pendulum):
    angry = []

    def vandal(t, q, v):
        if angry:
            q[:] = v[:] = np.nan
        return np.array([0.0, -1.0])

    problem = pendulum.replace(force=vandal).problem("ind2")
    y, yd = problem.y0.copy(), problem.yd0.copy()
    angry.append(True)
    with pytest.raises(ValueError, match="read-only"):
        problem.res(0.0, y, yd)
    assert np.isfinite(y).all()
    assert np.isfinite(yd).all()


@pytest.mark.parametrize("form", list(assimulo.FORMS))
def test_inconsistent_start_names_the_constraint(pendulum, form):
    with pytest.raises(InconsistentStartError, match=r"rod.*position"):
        pendulum.replace(q0=[1.001, 0.0]).problem(form)
    with pytest.raises(InconsistentStartError, match=r"rod.*velocity"):
        pendulum.replace(v0=[0.01, 0.0]).problem(form)


def test_unknown_forms_and_options_are_refused(pendulum):
    with pytest.raises(InvalidOptionError, match=r"'ggl1'.*ovstab1"):
        pendulum.problem("ggl1")
    with pytest.raises(TypeError, match="colour"):
        pendulum.problem("ind3", colour="red")
    assert pendulum.problem("ind3", name="mine").name == "mine"
