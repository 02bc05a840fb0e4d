"""A residual is recognised at its start: by few calls, in any order, with any signs and scales."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Implicit_Problem, Overdetermined_Problem

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, integrate
from genalpha.assimulo import mechanism_from_problem
from genalpha.errors import UnsupportedProblemError
from genalpha.mechanisms import catalogue

pytestmark = pytest.mark.needs_assimulo

CATALOGUE = catalogue(states=False)
FORMS = ("ind3", "ovstab2", "ovstab1", "ind2", "ggl2")


def disguised(own, random=None):
    """A plain problem of one of ours: unknowns and rows mixed, every row with a factor of its own.

    Returns it with the times at which it is called, and where its unknowns are.
    """
    times, size = [], own.y0.size
    count = own.res(own.t0, own.y0, own.yd0).size
    order, rows, factors = np.arange(size), np.arange(count), np.ones(count)
    if random is not None:
        # the extra multipliers of "ggl2" must be last
        order = order if own.form == "ggl2" else random.permutation(size)
        rows = random.permutation(count)
        factors = 10.0 ** random.uniform(-2.0, 2.0, count) * random.choice([-1.0, 1.0], count)
    back = np.argsort(order)

    def res(t, y, yd):
        times.append(t)
        return (factors * own.res(t, y[back], yd[back]))[rows]

    kind = Overdetermined_Problem if own.form.startswith("ov") else Implicit_Problem
    return kind(res, own.y0[order], own.yd0[order], own.t0), times, back


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CATALOGUE)
def test_by_few_calls_at_the_start(name, form):
    """At most 2 (n + m) + 10, where m are all multipliers; as written, and disguised."""
    o = CATALOGUE[name]()
    own = o.problem(form)
    sizes = (0, o.n_lam + o.n_psi) if form == "ind2" else (o.n_lam, o.n_psi)
    for random in (None, np.random.default_rng(1), np.random.default_rng(2)):
        problem, times, _ = disguised(own, random)
        found = mechanism_from_problem(problem)
        assert (found.n_q, found.n_lam, found.n_psi) == (o.n_q, *sizes)
        assert len(times) <= 2 * (own.y0.size - o.n_q) + 10
        assert set(times) == {o.t0}


@pytest.mark.parametrize("cls", [GenAlphaI3, GenAlphaSOI2, HHTI2])
@pytest.mark.parametrize("form", ["ind3", "ovstab2", "ggl2"])
@pytest.mark.parametrize("name", ["four_bar", "rolling_disk"])
def test_disguised_is_solved_as_well(cls, form, name):
    o = CATALOGUE[name]()
    problem, _, back = disguised(o.problem(form), np.random.default_rng(3))
    solver = cls(problem)
    solver.verbosity, solver.rtol, solver.atol = 50, 1e-5, 1e-7
    _, y, _ = solver.simulate(0.1)
    wanted, n = integrate(o, 0.1, cls.__name__, rtol=1e-5, atol=1e-7), o.n_q
    q, multipliers = y[-1][back][:n], y[-1][back][2 * n : 2 * n + o.n_lam + o.n_psi]
    assert q == pytest.approx(wanted.q[-1], abs=1e-6)
    right = np.concatenate([wanted.lam[-1], wanted.psi[-1]])
    assert multipliers == pytest.approx(right, abs=2e-3 * np.abs(right).max())


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "rolling_disk"])
def test_index_one_is_refused_at_the_start_too(name):
    problem, times, _ = disguised(CATALOGUE[name]().problem("ind1"))
    with pytest.raises(UnsupportedProblemError, match=r"row \d+ of res: expected"):
        GenAlphaI3(problem)
    assert set(times) == {problem.t0}


def test_a_residual_that_raises_beside_the_start_is_reported_as_what_it_is():
    """Not as something that is not recognised."""
    own = CATALOGUE["simple_pendulum"]().problem("ind3")

    def res(t, y, yd):
        if not np.array_equal(y, own.y0):
            raise ZeroDivisionError("a model of mine")
        return own.res(t, y, yd)

    with pytest.raises(ZeroDivisionError, match="a model of mine"):
        GenAlphaI3(Implicit_Problem(res, own.y0, own.yd0))
