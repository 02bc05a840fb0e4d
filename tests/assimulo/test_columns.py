"""What a residual is comes from `jac` where it is right, by few calls; never where it is wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from assimulo.problem import Explicit_Problem, Implicit_Problem, Overdetermined_Problem
from scipy import sparse

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, mechanisms
from genalpha.assimulo import mechanism_from_problem
from genalpha.assimulo.recognition import Recognition
from genalpha.assimulo.residual import Residual
from genalpha.errors import UnsupportedProblemError

pytestmark = pytest.mark.needs_assimulo

CLASSES = (GenAlphaI3, GenAlphaSOI2, HHTI2)
FORMS = ("ind3", "ind2", "ggl2", "ovstab2", "ovstab1")
#: Without `jac`, the constructor makes 17 to 470 calls.
FEW = 14
MADE = {
    "pendulum_jn": mechanisms.pendulum_jn,
    "slider_crank": mechanisms.slider_crank,
    "rolling_disk": mechanisms.rolling_disk,
    "chain": lambda: mechanisms.chain(8),
}


class Counted:
    """A plain problem of one of ours, with calls counted; mixed and scaled at random.

    Parameters
    ----------
    jac : callable(jac, c, t, y, yd), optional
        What becomes of the right `jac`.
    """

    def __init__(self, mechanism, form="ind3", jac=None, random=None, sw0=None):
        own, self.calls = mechanism.problem(form), Counter()
        size, count = own.y0.size, own.res(own.t0, own.y0, own.yd0).size
        order, rows, factors, units = np.arange(size), np.arange(count), 1.0, np.ones(size)
        if random is not None:
            order = order if form == "ggl2" else random.permutation(size)
            rows = random.permutation(count)
            factors = 10.0 ** random.uniform(-1.0, 1.0, count) * random.choice([-1.0, 1.0], count)
            units = 10.0 ** random.uniform(-1.0, 1.0, size)
            n = mechanism.n_q
            units[n : 2 * n] = units[:n]  # a position and its velocity
        self.back = back = np.argsort(order)

        def res(t, y, yd, *sw):
            self.calls["res"] += 1
            return (factors * own.res(t, units * y[back], units * yd[back]))[rows]

        def right(c, t, y, yd):
            J = own.jac(c, t, units * y[back], units * yd[back])
            J = J.toarray() if sparse.issparse(J) else np.asarray(J)
            return (np.reshape(factors * np.ones(count), (-1, 1)) * J * units)[rows][:, order]

        def given(c, t, y, yd, *sw):
            self.calls["jac"] += 1
            return jac(right, c, t, y, yd)

        kind = Overdetermined_Problem if form.startswith("ov") else Implicit_Problem
        start = (own.y0 / units)[order], (own.yd0 / units)[order]
        self.problem = kind(res, *start, own.t0, sw0=sw0) if sw0 else kind(res, *start, own.t0)
        self.res, self.right = res, right
        if jac is not None:
            self.problem.jac = given


def as_it_is(jac, *x):
    return jac(*x)


def as_sparse(jac, *x):
    return sparse.csr_matrix(jac(*x))


def wrong_sign(jac, *x):
    J = jac(*x)
    i = np.abs(J).argmax()
    J.flat[i] = -J.flat[i]
    return J


def wrong_reaction(jac, *x):
    J = jac(*x)
    J[:, -1] *= 1.0 + 1e-9
    return J


def ignores_c(jac, c, *x):
    return jac(1.0, *x)


def transposed(jac, *x):
    J = jac(*x)
    k = min(J.shape)
    J[:k, :k] = J[:k, :k].T.copy()
    return J


def not_a_number(jac, *x):
    J = jac(*x)
    J[-1, 0] = np.nan
    return J


def noisy(jac, c, t, y, yd):
    J = jac(c, t, y, yd)
    return J + 1e-8 * np.random.default_rng(4).uniform(-1.0, 1.0, J.shape) * (1.0 + c * (J != 0.0))


def tiny_everywhere(jac, *x):
    return jac(*x) + 1e-13


def tiny_somewhere(jac, *x):
    """In q' = v, where it would make the multiplier one of "ggl2", and in a row without mass."""
    J = jac(*x)
    J[0, -1] += 2e-14
    J[-1, 0] += 1e-12 * x[0]
    return J


def nothing(jac, *x):
    return np.zeros_like(jac(*x))


def raises(jac, c, t, y, yd):
    raise LookupError("a jac of mine")


def of_no_shape(jac, *x):
    return jac(*x)[:, :-1]


WRONG = (
    wrong_sign,
    wrong_reaction,
    ignores_c,
    transposed,
    not_a_number,
    noisy,
    tiny_everywhere,
    tiny_somewhere,
    nothing,
    raises,
    of_no_shape,
)


def found(plain):
    """Return what is recognised."""
    problem = plain.problem
    start = float(problem.t0), np.array(problem.y0), np.array(problem.yd0)
    return Recognition(Residual(problem), *start).found()


def agree(a, b, G=2e-6):
    """Compare places, patterns and values of two recognitions."""
    for x, y in zip(a.places, b.places, strict=True):
        assert (x is None) == (y is None)
        if x is not None:
            assert np.allclose(x, y, rtol=1e-5)  # factors of rates are of differences
    assert (a.linear, a.uses_rates) == (b.linear, b.uses_rates)
    for x, y in ((a.mass, b.mass), (a.reactions, b.reactions)):
        assert np.array_equal(x != 0.0, y != 0.0)
        assert np.allclose(x, y, rtol=1e-9, atol=1e-12 * np.abs(y).max(initial=0.0))
    assert np.allclose(a.G, b.G, rtol=0.0, atol=G * np.abs(b.G).max(initial=0.0))


@pytest.mark.parametrize("disguised", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MADE)
def test_by_few_calls(name, form, disguised):
    seeds = (1, 2) if disguised else (None,)
    for seed in seeds:
        made = [
            Counted(MADE[name](), form, jac, None if seed is None else np.random.default_rng(seed))
            for jac in (as_it_is, None)
        ]
        with_jac, without = (found(x) for x in made)
        agree(with_jac, without, 1e-4 if disguised else 2e-6)
        assert made[0].calls["jac"] == 2
        if not disguised:  # units may be too small for differences to tell anything
            assert made[0].calls["res"] <= FEW


@pytest.mark.parametrize("cls", CLASSES)
def test_calls_do_not_grow(cls):
    """With sparse `jac` as well."""
    calls = []
    for jac, links in ((as_it_is, 3), (as_it_is, 12), (as_sparse, 12)):
        plain = Counted(mechanisms.chain(links), "ind3", jac)
        cls(plain.problem)
        calls.append((plain.calls["res"], plain.calls["jac"]))
    assert len(set(calls)) == 1 and calls[0][0] <= FEW and calls[0][1] == 2


@pytest.mark.parametrize("jac", WRONG)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MADE)
def test_a_wrong_jac_changes_nothing(name, form, jac):
    plain = Counted(MADE[name](), form, jac)
    agree(found(plain), found(Counted(MADE[name](), form)))
    size = plain.problem.y0.size
    assert plain.calls["res"] <= 2 * (size - MADE[name]().n_q) + 10 and plain.calls["jac"] <= 2


@pytest.mark.parametrize("jac", [wrong_sign, ignores_c, transposed, raises, not_a_number])
@pytest.mark.parametrize("cls", CLASSES)
def test_results_are_the_same(cls, jac):
    """Newton's iteration is not to have a wrong jac, so that usejac is off."""
    ends = []
    for given in (jac, None):
        plain = Counted(mechanisms.pendulum_jn(), "ind3", given)
        solver = cls(plain.problem)
        asked = plain.calls["jac"]
        solver.verbosity, solver.rtol, solver.atol = 50, 1e-5, 1e-7
        if given is not None:
            solver.usejac = False
        ends.append(solver.simulate(0.2)[1][-1])
        statistics = solver.statistics
        assert statistics["nfcns"] + statistics["nfcnjacs"] == plain.calls["res"]
        assert plain.calls["jac"] == asked
    n = mechanisms.pendulum_jn().n_q
    # steps differ by what rounding does to them
    assert np.allclose(ends[0][:n], ends[1][:n], rtol=0.0, atol=1e-5)
    assert np.allclose(ends[0][n : 2 * n], ends[1][n : 2 * n], rtol=0.0, atol=1e-3)


def test_a_jac_that_raises_is_reported_when_it_is_needed():
    plain = Counted(mechanisms.pendulum_jn(), "ind3", raises)
    solver = GenAlphaI3(plain.problem)
    solver.verbosity = 50
    with pytest.raises(LookupError, match="a jac of mine"):
        solver.simulate(0.1)


def test_jac_use_forbids_it_to_the_constructor():
    plain = Counted(mechanisms.pendulum_jn(), "ind3", as_it_is)
    plain.problem.jac_use = False
    GenAlphaI3(plain.problem)
    assert plain.calls["jac"] == 0


def test_with_switches():
    """And a constraint that comes with one: what it is then is asked again, but for usejac."""
    for usejac in (True, False):
        plain = Counted(mechanisms.pendulum_jn(), "ind3", as_it_is, sw0=[True])
        own, right = plain.problem.res, plain.right

        def res(t, y, yd, sw, own=own):
            rows = own(t, y, yd)
            rows[-1] = rows[-1] if sw[0] else y[-1]
            return rows

        def jac(c, t, y, yd, sw, right=right, plain=plain):
            plain.calls["jac"] += 1
            J = right(c, t, y, yd)
            if not sw[0]:
                J[-1] = np.eye(y.size)[-1]
            return J

        plain.problem.res, plain.problem.jac = res, jac
        plain.problem.state_events = lambda t, y, yd, sw: np.array([t - 0.03])
        plain.problem.handle_event = lambda solver, info: setattr(solver, "sw", [not solver.sw[0]])
        solver = GenAlphaI3(plain.problem)
        assert (plain.calls["jac"], plain.calls["res"] <= FEW + 5) == (2, True)
        solver.verbosity, solver.usejac = 50, usejac
        solver.simulate(0.06)
        assert solver.sw == [False]
        statistics = solver.statistics
        assert statistics["nfcns"] + statistics["nfcnjacs"] == plain.calls["res"]
        assert usejac or plain.calls["jac"] == 2


def test_of_a_right_hand_side():
    def rhs(t, y):
        calls["rhs"] += 1
        return np.array([y[1], -4.0 * y[0]])

    calls = Counter()
    spring = Explicit_Problem(rhs, [1.0, 0.0])
    for jac in (None, np.array([[0.0, 1.0], [-4.0, 0.0]]), np.array([[0.0, 2.0], [9.0, 1.0]])):
        if jac is not None:
            spring.jac = lambda t, y, jac=jac: jac
        calls.clear()
        read = mechanism_from_problem(spring)
        assert (read.n_q, read.mass(0.0, read.q0).tolist()) == (1, [[1.0]])
        assert calls["rhs"] <= 12


def test_index_one_is_refused_with_jac_as_well():
    plain = Counted(mechanisms.four_bar(), "ind1", as_it_is)
    with pytest.raises(UnsupportedProblemError, match=r"row \d+ of res: expected"):
        GenAlphaI3(plain.problem)


@pytest.mark.parametrize("jac", [as_it_is, wrong_sign])
def test_with_first_order_states(jac):
    calls = []
    for given in (jac, None):
        plain = Counted(mechanisms.motor_slider_crank(), "ind3", given)
        read = mechanism_from_problem(plain.problem)
        calls.append(plain.calls["res"])
        assert (read.n_q, read.n_states) == (4, 1)  # a state is the velocity of a coordinate
    assert jac is not as_it_is or calls[0] < 0.6 * calls[1]


def without_q_dot(jac, c, *x):
    """Return what forgets q' in the last row."""
    J = jac(c, *x)
    J[-1] = jac(0.0, *x)[-1]
    return J


@pytest.mark.parametrize(("name", "form"), [("rolling_disk", "ind3"), ("chain", "ind2")])
@pytest.mark.parametrize("jac", [as_it_is, wrong_sign, transposed, without_q_dot, noisy])
def test_gradients_of_constraints_on_velocities(name, form, jac):
    calls = []
    for given in (jac, None):
        plain = Counted(MADE[name](), form, given)
        read = mechanism_from_problem(plain.problem)
        q, v = read.q0, read.v0
        calls.append((read.nonholonomic_jacobian(read.t0, q, v), plain.calls["res"]))
    (K, few), (expected, many) = calls
    assert np.allclose(K, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())
    assert jac is not as_it_is or few < 0.5 * many
