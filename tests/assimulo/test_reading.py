"""Plain problems read back as mechanisms, and what is said of those that are none."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Explicit_Problem, Implicit_Problem, Overdetermined_Problem
from assimulo.special_systems import Mechanical_System
from scipy import sparse

from genalpha import consistent_initial_values
from genalpha.assimulo import FORMS, Reading, mechanism_from_problem
from genalpha.errors import UnsupportedProblemError
from genalpha.model import Mechanism

pytestmark = pytest.mark.needs_assimulo

GRAVITY = 9.81
READABLE = ("ind3", "ggl2", "ovstab2", "ovstab1")


def assimulos_pendulum(index, mass=None):
    """A pendulum of length 5 as Assimulo's users write it; its lam is half of ours."""

    def rate(t, y):
        return np.array([y[:2] @ y[2:4]])

    def acceleration(t, y):
        # with the accelerations replaced, so that it depends on the multiplier
        return np.array([y[2:4] @ y[2:4] - 2 * y[4] * (y[:2] @ y[:2]) - GRAVITY * y[1]])

    system = Mechanical_System(
        2,
        lambda t, q, v: np.array([0.0, -GRAVITY]),
        1,
        [3.0, -4.0],
        [0.8, 0.6],
        [0.0],
        [0.8, 0.6],
        [0.0, 0.0],
        GT=lambda q: 2.0 * q.reshape(2, 1),
        constr3=lambda t, y: np.array([y[:2] @ y[:2] - 25.0]),
        constr2=rate,
        constr1=acceleration,
        mass_matrix=mass,
    )
    return system.generate_problem(index)


@pytest.mark.parametrize("form", ["ind3", "ind2", "ind1", "ggl2", "ovstab2", "ovstab1"])
def test_own_rows_have_assimulos_order_and_signs(form):
    own = Mechanism(
        force=lambda t, q, v: np.array([0.0, -GRAVITY]),
        q0=[3.0, -4.0],
        v0=[0.8, 0.6],
        holonomic=lambda t, q: q @ q - 25.0,
    ).problem(form)
    theirs = assimulos_pendulum(form)
    y = np.random.default_rng(6).uniform(0.5, 1.5, theirs.y0.size)
    yd = np.concatenate([y[2:4] + 0.1, np.array([0.0, -GRAVITY]) - 2.0 * y[:2] * y[4], 0 * y[4:]])
    # constr2 and constr1 are halves of the derivatives of constr3
    factors = np.array([1, 1, 1, 1, *{"ind3": [1], "ovstab1": [2, 1, 2]}.get(form, [2, 1])])
    found = own.res(0.0, y, yd)
    assert found == pytest.approx(factors[: found.size] * theirs.res(0.0, y, yd), abs=1e-9)
    assert own.y0.size == theirs.y0.size


def plain(own, with_jac=True):
    """The same problem without a word of where it comes from."""
    if own.form == "ode":
        return Explicit_Problem(own.rhs, own.y0, own.t0)
    kind = Overdetermined_Problem if own.form.startswith("ov") else Implicit_Problem
    problem = kind(own.res, own.y0, own.yd0, own.t0)
    if with_jac and hasattr(own, "jac"):
        problem.jac = own.jac
    return problem


@pytest.mark.parametrize("index", READABLE)
@pytest.mark.parametrize("mass", [None, np.array([[2.0, 0.3], [0.3, 1.0]])])
def test_assimulos_mechanical_system(index, mass):
    reading = Reading(assimulos_pendulum(index, mass))
    mechanism, layout = reading.mechanism, reading.layout
    assert (mechanism.n_q, mechanism.n_lam, mechanism.n_psi) == (2, 1, 0)
    assert layout.n_mu == (1 if index == "ggl2" else 0)
    M = np.eye(2) if mass is None else mass
    assert mechanism.mass(0.3, mechanism.q0 + 0.1) == pytest.approx(M, abs=1e-12)
    q, v = np.array([1.0, 2.0]), np.array([-3.0, 0.5])
    vdot, lam, psi = np.array([0.3, 0.7]), np.array([5.0]), np.zeros(0)
    imbalance = M @ vdot - np.array([0.0, -GRAVITY]) + 2.0 * q * lam
    assert mechanism.imbalance(0.3, q, v, vdot, lam, psi) == pytest.approx(imbalance, abs=1e-12)
    assert mechanism.holonomic(0.3, q) == pytest.approx([-20.0])
    assert mechanism.holonomic_rate(0.3, q, v) == pytest.approx([2.0 * (q @ v)])
    assert mechanism.q0 == pytest.approx([3.0, -4.0])
    assert mechanism.v0 == pytest.approx([0.8, 0.6])


def test_multipliers_keep_the_problems_meaning():
    start = consistent_initial_values(mechanism_from_problem(assimulos_pendulum("ind3")))
    # |v|^2 = 1 and length 5: the rod pulls with 1 / 5 + 0.8 g, and 2 * 5 lam is that force
    assert start.lam == pytest.approx([(0.2 + 0.8 * GRAVITY) / 10.0], rel=1e-9)


def test_ind2_is_read_with_nonholonomic_constraints():
    mechanism = mechanism_from_problem(assimulos_pendulum("ind2"))
    assert (mechanism.n_lam, mechanism.n_psi) == (0, 1)
    q, v = np.array([1.0, 2.0]), np.array([-3.0, 0.5])
    assert mechanism.nonholonomic(0.0, q, v) == pytest.approx([q @ v])


def test_ind1_is_refused_with_a_way_out():
    with pytest.raises(UnsupportedProblemError, match=r"row 4.*index-1.*'ind3'"):
        mechanism_from_problem(assimulos_pendulum("ind1"))


@pytest.mark.parametrize("form", list(FORMS))
def test_own_problems_give_back_their_mechanism(mechanism, form):
    reading = Reading(mechanism.problem(form), n_q=mechanism.n_q)
    assert reading.mechanism is mechanism
    assert reading.layout.size == mechanism.problem(form).y0.size
    with pytest.raises(UnsupportedProblemError, match="n_lam"):
        mechanism_from_problem(mechanism.problem(form), n_lam=77)


@pytest.mark.parametrize("form", READABLE)
@pytest.mark.parametrize("with_jac", [False, True])
def test_equations_survive_the_way_there_and_back(mechanism, form, with_jac):
    read = mechanism_from_problem(plain(mechanism.problem(form), with_jac))
    o, random = mechanism, np.random.default_rng(5)
    assert (read.n_q, read.n_lam, read.n_psi) == (o.n_q, o.n_lam, o.n_psi)
    t = o.t0 + 0.4
    q, v = (x + 0.1 * random.uniform(-1.0, 1.0, o.n_q) for x in (o.q0, o.v0))
    vdot = random.uniform(-1.0, 1.0, o.n_q)
    lam, psi = (x + 0.1 for x in o.multiplier_guess())
    full = (t, q, v, vdot, lam, psi)
    for key, arguments, tolerance in (
        ("imbalance", full, 1e-13),
        ("mass", (t, q), 1e-13),
        ("holonomic", (t, q), 1e-14),
        ("nonholonomic", (t, q, v), 1e-14),
        ("holonomic_jacobian", (t, q), 1e-9),
        ("nonholonomic_jacobian", (t, q, v), 1e-9),
        ("reaction_jacobian", (t, q, v, lam, psi), 1e-6),
        ("stiffness", full, 1e-6),
        ("damping", full, 1e-6),
    ):
        wanted, found = getattr(o, key)(*arguments), getattr(read, key)(*arguments)
        size = max(1.0, np.abs(wanted).max(initial=0.0))
        assert np.abs(wanted - found).max(initial=0.0) <= tolerance * size, key
    if with_jac:
        assert {"stiffness", "damping"} <= read.given


def test_explicit_problem_has_no_constraints(pendulum):
    own = pendulum.problem("ode")
    read = mechanism_from_problem(plain(own))
    assert (read.n_q, read.n_lam, read.n_psi) == (2, 0, 0)
    assert read.mass(0.5, read.q0 + 0.1) == pytest.approx(np.eye(2))
    y = np.array([0.6, -0.8, 0.4, 0.3])
    assert read.force(0.0, y[:2], y[2:]) == pytest.approx(own.rhs(0.0, y)[2:])
    spring = Explicit_Problem(lambda t, y: np.array([y[1], -4.0 * y[0]]), [1.0, 0.0])
    spring.jac = lambda t, y: np.array([[0.0, 1.0], [-4.0, 0.0]])
    mechanism = mechanism_from_problem(spring)
    zero = np.zeros(1)
    assert mechanism.stiffness(0.0, zero, zero, zero, zero[:0], zero[:0]) == pytest.approx(4.0)


def test_sparse_jacobians_are_understood(sparse_linkage):
    problem = plain(sparse_linkage.problem("ind3"))
    read = mechanism_from_problem(problem)
    assert sparse.issparse(problem.jac(1.0, 0.0, problem.y0, problem.yd0))
    q = read.q0 + 0.01
    wanted = sparse_linkage.holonomic_jacobian(0.0, q)
    assert abs(read.holonomic_jacobian(0.0, q) - wanted).max() <= 1e-9
    state = 0.0, q, read.v0, np.ones(read.n_q), *(x + 1.0 for x in read.multiplier_guess())
    stiffness = sparse_linkage.stiffness(*state).toarray()
    assert read.stiffness(*state) == pytest.approx(stiffness, abs=1e-9)


def test_signs_and_velocities_written_as_yd():
    """Rows with turned signs, and q' used where others use v."""

    def res(t, y, yd):
        dynamics = np.array([2.0, 3.0]) * yd[2:4] + 0.5 * yd[:2] + 2.0 * y[:2] * y[4]
        dynamics[0] *= -1.0
        return np.concatenate([y[2:4] - yd[:2], dynamics, [y[:2] @ yd[:2]]])

    def jac(c, t, y, yd):
        J = np.zeros((5, 5))
        J[:2, :2], J[:2, 2:4] = -c * np.eye(2), np.eye(2)
        J[2:4, :2] = np.diag([-1.0, 1.0]) * (2.0 * y[4] + 0.5 * c)
        J[2:4, 2:4] = c * np.diag([-2.0, 3.0])
        J[2:4, 4] = [-2.0 * y[0], 2.0 * y[1]]
        J[4, :2] = yd[:2] + c * y[:2]
        return J

    problem = Implicit_Problem(res, [1.0, 0.0, 0.0, 1.0, 0.0], np.zeros(5))
    q, v, vdot, psi = np.array([0.3, 0.4]), np.array([1.0, 2.0]), np.array([5.0, 6.0]), [7.0]
    for derivative in (None, jac):
        if derivative:
            problem.jac = derivative
        o = mechanism_from_problem(problem)
        assert o.mass(0.1, q) == pytest.approx(np.diag([2.0, 3.0]), abs=1e-12)
        assert o.force(0.0, q, v) == pytest.approx(-0.5 * v)
        assert o.reaction(0.0, q, v, np.zeros(0), np.array(psi)) == pytest.approx(-14.0 * q)
        assert o.nonholonomic(0.0, q, v) == pytest.approx([q @ v])
        assert o.nonholonomic_jacobian(0.0, q, v) == pytest.approx(q[None, :], abs=1e-9)
        full = (0.0, q, v, vdot, np.zeros(0), np.array(psi))
        assert o.damping(*full) == pytest.approx(0.5 * np.eye(2), abs=1e-6)
        assert o.stiffness(*full) == pytest.approx(14.0 * np.eye(2), abs=1e-5)


def test_a_rough_jacobian_serves_newton_only(pendulum):
    problem = plain(pendulum.problem("ind3"))
    exact = problem.jac
    problem.jac = lambda *x: exact(*x) * 1.001
    read = mechanism_from_problem(problem)
    assert "stiffness" in read.given
    q = np.array([0.6, -0.8])
    assert read.holonomic_jacobian(0.0, q) == pytest.approx(q[None, :], abs=1e-9)


def test_switches_reach_the_residual():
    def res(t, y, yd, sw):
        return np.array([yd[0] - y[1], yd[1] + (4.0 if sw[0] else 1.0) * y[0]])

    reading = Reading(Implicit_Problem(res, [1.0, 0.0], [0.0, -4.0], sw0=[True]))
    one, zero = np.ones(1), np.zeros(1)
    assert reading.mechanism.force(0.0, one, zero) == pytest.approx([-4.0])
    reading.switches = [False]
    assert reading.mechanism.force(0.0, one, zero) == pytest.approx([-1.0])


def test_a_mass_may_change_with_the_switches():
    def res(t, y, yd, sw):
        return np.array([yd[0] - y[1], (4.0 if sw[0] else 1.0) * yd[1] + y[0]])

    reading = Reading(Implicit_Problem(res, [1.0, 0.0], [0.0, -0.25], sw0=[True]))
    assert reading.mechanism.mass(0.0, np.ones(1)) == pytest.approx(4.0)
    reading.switches = [False]
    assert reading.mechanism.mass(0.0, np.ones(1)) == pytest.approx(1.0)


def test_columns_and_buffers_are_understood():
    """Some return a column, and some the same array every time."""
    good, buffer = assimulos_pendulum("ind3"), np.zeros((5, 1))

    def res(t, y, yd):
        buffer[:, 0] = good.res(t, y, yd)
        return buffer

    mechanism = mechanism_from_problem(Implicit_Problem(res, good.y0, good.yd0))
    assert (mechanism.n_q, mechanism.n_lam) == (2, 1)
    assert mechanism.mass(0.1, mechanism.q0) == pytest.approx(np.eye(2), abs=1e-12)


def test_residual_is_looked_up_when_it_is_needed():
    problem = Implicit_Problem(lambda t, y, yd: yd - y[[1, 0]], [1.0, 0.0], [0.0, 1.0])
    read = mechanism_from_problem(problem)
    problem.res = lambda t, y, yd: [[yd[0] - y[1]], [yd[1] - 9.0 * y[0]]]
    assert read.force(0.0, np.ones(1), np.zeros(1)) == pytest.approx([9.0])


def spoil(row, function, index="ind3"):
    """Assimulo's pendulum with one row replaced."""
    problem = assimulos_pendulum(index)
    good = problem.res

    def res(t, y, yd):
        rows = np.array(good(t, y, yd))
        rows[row] = function(t, y, yd)
        return rows

    return Implicit_Problem(res, problem.y0, problem.yd0)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            spoil(0, lambda t, y, yd: yd[0] - 2.0 * y[2]),
            r"row 0.*yd\[0\] - y\[n\].*y\[2\], yd\[0\]",
        ),
        (
            spoil(1, lambda t, y, yd: yd[1] - y[3] - y[0]),
            r"row 1.*yd\[1\] - y\[3\].*y\[0\], y\[3\]",
        ),
        (spoil(1, lambda t, y, yd: y[3]), r"row 1 .*yd\[1\] - y\[3\].*function of y\[3\]"),
        (spoil(2, lambda t, y, yd: yd[2] ** 2 + y[4]), r"row 2.*affine in yd\[2:4\]"),
        (spoil(3, lambda t, y, yd: yd[3] * (1.0 + y[2] ** 2)), r"row 3.*depends on t and q only"),
        (spoil(3, lambda t, y, yd: y[3] - 1.0), r"row 3.*equation of motion.*y\[3\]"),
        (spoil(3, lambda t, y, yd: yd[3] + yd[4]), r"row 3.*equation of motion.*yd\[4\]"),
        (spoil(4, lambda t, y, yd: t), r"row 4.*positions or velocities.*none of the unknowns"),
        (spoil(4, lambda t, y, yd: y[4] - y[0]), r"row 4.*positions or velocities.*y\[0\], y\[4\]"),
    ],
)
def test_the_row_that_does_not_fit_is_named(problem, message):
    with pytest.raises(UnsupportedProblemError, match=message):
        mechanism_from_problem(problem)


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(UnsupportedProblemError, match=r"n_lam is given as 2, but 1.*rows.*4"):
        mechanism_from_problem(assimulos_pendulum("ind3"), n_lam=2)
    with pytest.raises(UnsupportedProblemError, match=r"row 0.*y\[1\]"):
        mechanism_from_problem(assimulos_pendulum("ind3"), n_q=1)
    with pytest.raises(UnsupportedProblemError, match="too few for n_q = 3"):
        mechanism_from_problem(assimulos_pendulum("ind3"), n_q=3)


def test_a_silent_multiplier_is_named():
    problem = Implicit_Problem(
        lambda t, y, yd: np.array([yd[0] - y[1], yd[1] + y[0], y[0] - 1.0]),
        [1.0, 0.0, 0.0],
        np.zeros(3),
    )
    with pytest.raises(UnsupportedProblemError, match=r"y\[2\].*multiplier"):
        mechanism_from_problem(problem)


def test_missing_rows_are_named():
    short = Implicit_Problem(lambda t, y, yd: yd[:1] - y[1:2], [1.0, 0.0], [0.0, 0.0])
    with pytest.raises(UnsupportedProblemError, match=r"1 rows.*equation of motion in row 1"):
        mechanism_from_problem(short)


def test_a_residual_that_is_not_finite_is_named():
    problem = Implicit_Problem(
        lambda t, y, yd: np.array([yd[0] - y[1], yd[1] if y[0] == 1.0 else np.nan]),
        [1.0, 0.0],
        [0.0, 0.0],
    )
    with pytest.raises(UnsupportedProblemError, match=r"row 1.*not finite"):
        mechanism_from_problem(problem)


def test_sensitivities_are_refused():
    problem = Implicit_Problem(lambda t, y, yd, sw, p: yd, [1.0, 0.0], [0.0, 0.0])
    with pytest.raises(UnsupportedProblemError, match="sensitivities"):
        mechanism_from_problem(problem)
