"""Newton's iteration on problems small enough to know everything about them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from genalpha.errors import ConvergenceError
from genalpha.numerics.counters import Counters
from genalpha.numerics.newton import ROUNDING, Newton, Problem


class Iteration(Problem):
    """Unknowns that a function corrects: x -> (new x, sizes of the correction)."""

    def __init__(self, x, correct, setup=lambda x: object()):
        self.unknowns, self._correct, self._setup = x, correct, setup

    def correct(self, solvers):
        self.unknowns, sizes = self._correct(self.unknowns, solvers)
        return sizes

    def setup(self):
        return self._setup(self.unknowns)


def solved(newton, *arguments):
    problem = Iteration(*arguments)
    newton.solve(problem)
    return problem.unknowns


class Equation:
    """F(x) = 0; an iteration matrix is the derivative at the point of its setup."""

    def __init__(self, F, dF, unit=1e-12):
        self.F, self.dF, self.unit = F, dF, unit
        self.setups = self.corrections = 0

    def setup(self, x):
        self.setups += 1
        return self.dF(x)

    def correct(self, x, derivative):
        self.corrections += 1
        d = -self.F(x) / derivative
        return x + d, (abs(d) / self.unit,)

    def solve(self, newton, x):
        return solved(newton, x, self.correct, self.setup)


def square(target=2.0, **options):
    return Equation(lambda x: x * x - target, lambda x: 2 * x, **options)


def test_linear_problem_in_two_corrections():
    """The first correction solves it, the second one sees that nothing is left."""
    problem = Equation(lambda x: 3.0 * x - 6.0, lambda x: 3.0)
    newton = Newton()
    assert problem.solve(newton, 100.0) == 2.0
    assert problem.corrections <= 2
    assert (problem.setups, newton.counters.nniters) == (1, problem.corrections)


def test_linear_problem_later_in_one_correction():
    """Once the rate is known, a small correction needs no second one."""
    problem = Equation(lambda x: 3.0 * x - 6.0, lambda x: 3.0)
    newton = Newton()
    problem.solve(newton, 2.5)
    before = problem.corrections
    assert problem.solve(newton, 2.0 + 1e-11) == pytest.approx(2.0, abs=1e-14)
    assert problem.corrections == before + 1
    assert problem.setups == 1


@pytest.mark.parametrize("slope", [0.5, 0.9, 1.3])
def test_what_is_left_is_known(slope):
    """With a matrix that is wrong, errors fall by a known factor: what is left is predicted.

    Where two corrections in a row may be rounding, it is taken as large as the last one.
    """
    newton, unit = Newton(), 1e-6
    problem = Equation(lambda x: slope * (x - 2.0), lambda x: 1.0, unit)
    off = abs(problem.solve(newton, 2.1) - 2.0) / unit
    assert off <= 1.001 * newton.left <= 20.0 * off
    once = newton.left
    problem.solve(newton, 2.1)
    assert newton.left > once  # added up


def test_modified_newton_keeps_the_matrix():
    newton = Newton()
    x = square().solve(newton, 1.41)
    assert x == pytest.approx(np.sqrt(2.0), abs=1e-12)
    solvers = newton.solvers
    assert solvers is not None
    problem = square(2.001)
    assert problem.solve(newton, x) == pytest.approx(np.sqrt(2.001), abs=1e-12)
    assert problem.setups == 0
    assert newton.solvers is solvers


def test_modes_differ_in_their_setups():
    setups = {}
    for mode in ("auto", "every step", "every iteration"):
        newton, total = Newton(mode), 0
        x = 1.4
        for k in range(10):
            problem = square(2.0 + 1e-4 * k)
            x = problem.solve(newton, x)
            assert x == pytest.approx(np.sqrt(2.0 + 1e-4 * k), abs=1e-11)
            total += problem.setups
        setups[mode] = total
    assert setups["auto"] < setups["every step"] == 10 < setups["every iteration"]


def test_a_matrix_is_renewed_when_its_age_has_cost_as_much_as_a_new_one():
    """x -> f x with f growing from step to step: iterations beyond the fewest add up to 4."""
    newton, needed = Newton(max_iterations=50, setup_cost=4), []
    for factor in (0.01, 0.01, 0.02, 0.04, 0.08, 0.1, 0.1):
        before = newton.counters.nniters

        def correct(x, solvers, factor=factor):
            return factor * x, ((1.0 - factor) * x,)

        solved(newton, 1e9, correct)
        needed.append(newton.counters.nniters - before)
        extra = sum(n - min(needed) for n in needed)
        assert (newton.solvers is None) == (extra >= 4)
        if newton.solvers is None:
            break
    assert 3 <= len(needed) < 7


def test_matrices_that_fail_at_an_age_are_renewed_before():
    """Good in the step of their setup, useless in the next: soon nobody tries them there."""
    newton, setups, corrections = Newton(), [0], [0]

    def solve(step):
        def setup(x):
            setups[0] += 1
            return step

        def correct(x, made_in):
            corrections[0] += 1
            factor = 1e-6 if made_in == step else 0.9
            return factor * x, ((1.0 - factor) * abs(x),)

        solved(newton, 1e3, correct, setup)

    for step in range(50):
        solve(step)
    assert setups[0] == 50
    # two corrections with a new matrix; three in vain with an old one, at most every sixth step
    assert corrections[0] <= 50 * 2 + 3 * 10


def test_slow_contraction_of_small_corrections_is_no_rounding():
    """Corrections near the accuracy wanted that hardly shrink: the matrix is too old."""
    newton, setups = Newton(), [0]

    def solve(step):
        def setup(x):
            setups[0] += 1
            return step

        def correct(x, made_in):
            factor = min(0.8, 0.1 * (step - made_in) + 1e-6)
            return factor * x, ((1.0 - factor) * abs(x),)

        solved(newton, 20.0, correct, setup)

    for step in range(50):
        solve(step)
    assert 5 <= setups[0] <= 25


@settings(derandomize=True, max_examples=200, deadline=None)
@given(factor=st.floats(0.5, 2.0), error=st.floats(0.1, 1e4))
@example(factor=1.2, error=4.0)
def test_an_old_matrix_is_not_taken_for_rounding_where_it_learns(factor, error):
    """Small corrections that do not shrink: with an old matrix, a new one tells what they are."""
    newton = Newton(learns=True)

    def solve(step, of_old):
        def correct(x, made_in):
            r = 0.1 if made_in == step else of_old
            return -r * x, ((1.0 + r) * abs(x),)

        return abs(solved(newton, error, correct, lambda x: step))

    assert solve(0, factor) <= 1.0
    assert solve(1, factor) <= 1.0


def test_broyden_makes_up_for_an_old_matrix():
    """A linear problem of two unknowns with a wrong matrix: solved after 2 n corrections."""
    A, wrong, b = np.array([[2.0, 1.0], [0.0, 3.0]]), np.eye(2) * 3.0, np.array([1.0, 2.0])

    def iterations(accelerate):
        newton = Newton("every step", 60)

        def correct(x, solvers):
            d = np.linalg.solve(wrong, b - A @ x)
            d = newton.accelerated(d, 2, 0.0, 1.0, 0.0) if accelerate else d
            return x + d, (np.linalg.norm(d) / 1e-12,)

        x = solved(newton, np.zeros(2), correct)
        np.testing.assert_allclose(A @ x, b, atol=1e-11)
        return newton.counters.nniters

    assert iterations(True) <= 6 < 20 < iterations(False)


def test_learning_from_step_to_step_saves_iterations_and_matrices():
    """A linear problem whose matrix turns slowly, and whose guess is the last solution."""

    def cost(learns):
        newton, setups = Newton(learns=learns), [0]
        x, worst = np.zeros(3), 0.0
        for t in np.arange(0.0, 3.0, 0.05):
            turn = np.array([[0.0, 1.0, 0.5], [-1.0, 0.0, 0.2], [0.3, -0.2, 0.0]])
            A, b = np.diag([2.0, 3.0, 4.0]) + 0.5 * t * turn, np.array([np.sin(t), 1.0, np.cos(t)])

            def correct(x, solvers, A=A, b=b, t=t):
                d = newton.accelerated(np.linalg.solve(solvers, b - A @ x), 3, 0.0, t, 0.0)
                return x + d, (np.linalg.norm(d) / 1e-8,)

            def setup(x, A=A):
                setups[0] += 1
                return A

            x = solved(newton, x, correct, setup)
            worst = max(worst, float(np.abs(x - np.linalg.solve(A, b)).max()))
        assert worst < 2e-8  # what is believed of the contraction is not always true
        return newton.counters.nniters, setups[0]

    (slow, often), (fast, seldom) = cost(False), cost(True)
    assert fast < 0.9 * slow
    assert seldom < 0.7 * often


def test_a_stale_matrix_that_does_not_converge_is_renewed_at_once():
    newton, easy = Newton(), Equation(lambda x: x - 1.0, lambda x: 1.0)
    easy.solve(newton, 0.0)
    hard = Equation(lambda x: 4.0 * (x - 2.0), lambda x: 4.0)  # with the old matrix: factor -3
    assert hard.solve(newton, 1.0) == pytest.approx(2.0, abs=1e-12)
    assert hard.setups == 1
    assert newton.counters.nnfails == 0


def test_the_last_resort_is_a_matrix_for_every_correction():
    """x^3 = 1 from 10: the matrix of the start contracts by 0.99, Newton's own converges."""
    newton = Newton()
    problem = Equation(lambda x: x**3 - 1.0, lambda x: 3.0 * x * x)
    assert problem.solve(newton, 10.0) == pytest.approx(1.0, abs=1e-12)
    assert problem.setups > 3
    assert newton.counters.nnfails == 0


@pytest.mark.parametrize("mode", ["auto", "every step", "every iteration"])
def test_divergence_raises(mode):
    newton = Newton(mode)
    problem = Equation(lambda x: x * x + 1.0, lambda x: 2.0 * x)  # no real solution
    with pytest.raises(ConvergenceError, match=r"did not converge: after \d+ corrections"):
        problem.solve(newton, 1.3)
    assert newton.counters.nnfails == 1
    assert newton.solvers is None  # nothing of the failure is left for the next step
    assert newton.rate == 1.0


def test_divergence_is_noticed_early():
    """A contraction by 0.9 needs 200 corrections: hopeless after three of the 15."""
    newton = Newton("every step")
    problem = Equation(lambda x: 0.1 * x, lambda x: 1.0)
    with pytest.raises(ConvergenceError):
        problem.solve(newton, 1.0)
    assert problem.corrections == 3


@pytest.mark.parametrize("mode", ["auto", "every step", "every iteration"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_raises(mode, bad):
    problem = Equation(lambda x: bad, lambda x: 1.0)
    with pytest.raises(ConvergenceError):
        problem.solve(Newton(mode), 1.0)
    assert problem.corrections <= 3  # once for every kind of matrix


def test_nan_in_a_later_correction_raises():
    problem = Equation(lambda x: x - 1.0 if x == 0.0 else np.nan, lambda x: 2.0)
    with pytest.raises(ConvergenceError):
        problem.solve(Newton("every step"), 0.0)


def test_max_iterations_is_a_limit():
    problem = Equation(lambda x: 0.5 * x, lambda x: 1.0, unit=1e-6)
    with pytest.raises(ConvergenceError):
        problem.solve(Newton("every step", max_iterations=4), 1.0)
    assert problem.corrections <= 4
    problem.solve(Newton("every step", max_iterations=40), 1.0)


def test_counters_are_shared_and_start_at_zero():
    counters = Counters()
    assert not any(asdict(counters).values())
    newton = Newton(counters=counters)
    square().solve(newton, 1.4)
    assert counters.nniters > 0
    assert newton.counters is counters


def test_every_group_must_converge():
    """One group converges at once, the other slowly: the slow one decides."""
    rates = np.array([0.0, 0.3])

    def correct(x, solvers):
        new = rates * x
        return new, tuple(np.abs(new - x) / 1e-6)

    x = solved(Newton(), np.array([1.0, 1.0]), correct)
    assert np.abs(x).max() < 1e-6 * ROUNDING * 0.3 / 0.7


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    factor=st.floats(-1.5, 1.5),
    error=st.floats(1e-3, 1e15),
    mode=st.sampled_from(["auto", "every step"]),
    limit=st.integers(1, 40),
)
def test_never_returns_unconverged(factor, error, mode, limit):
    """A contraction by any factor, from any distance: what remains is allowed, or it raises.

    Corrections above ROUNDING are judged by their rate. Below it they may be rounding errors, and
    two in a row end the iteration: then r / (1 - r) times ROUNDING remains at most.
    """

    assume(factor != 1.0)  # then there is nothing to correct

    def correct(x, solvers):
        new = factor * x
        return new, (abs(new - x),)

    try:
        x = solved(Newton(mode, limit), error, correct)
    except ConvergenceError:
        return
    r = abs(factor)
    assert r < 1.0 or error * r <= ROUNDING * 1.6
    bound = max(1.0, ROUNDING * r / (1.0 - factor)) if factor < 1.0 else ROUNDING * 3
    assert abs(x) <= bound * (1.0 + 1e-9)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 5), radius=st.floats(0.01, 0.6))
def test_random_linear_contractions(seed, size, radius):
    """x -> B x with symmetric B: converged to what is allowed, whatever the mixture of rates."""
    random = np.random.default_rng(seed)
    Q = np.linalg.qr(random.standard_normal((size, size)))[0]
    eigenvalues = radius * random.uniform(-1.0, 1.0, size)
    B = Q @ np.diag(eigenvalues) @ Q.T

    def correct(x, solvers):
        new = B @ x
        return new, (float(np.linalg.norm(new - x)),)

    start = random.standard_normal(size) * 10.0 ** random.uniform(0, 10)
    try:
        x = solved(Newton("every step", 60), start, correct)
    except ConvergenceError:
        return
    # the rate that is seen may still grow towards the radius: a factor for that
    assert np.linalg.norm(x) <= max(2.0, ROUNDING * radius / (1.0 - radius)) * 1.01
