"""`integrate` to a wanted error: the estimate against the true error, and where it fails."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from genalpha import Mechanism, integrate
from genalpha.driver.extrapolation import WantedErrorWarning, control
from genalpha.driver.extrapolation.trial import Trial, multiplier_errors
from genalpha.driver.options import RESULT, Options
from genalpha.errors import ConvergenceError, InvalidOptionError
from tests.driver.support import mechanism, pendulum

KINDS = ("q", "v", "lam", "psi")


def true_errors(o, solution):
    """Largest true error and largest estimate of each kind, relative to its largest value."""
    exact = [o.reference.motion(t) for t in solution.t]
    found = {}
    for kind in KINDS:
        x = getattr(solution, kind)
        if x.size:
            error = np.abs(x - np.array([getattr(motion, kind) for motion in exact])).max()
            scale = np.abs(x).max()
            found[kind] = error / scale, getattr(solution.error, kind).max() / scale
    return found


CASES = [
    ("simple_pendulum", "GenAlphaI3", 1.0),
    ("simple_pendulum", "HHTI2", 1.0),
    ("spherical_pendulum", "GenAlphaSOI2", 1.0),
    ("driven_pendulum", "GenAlphaSOI2", 1.0),
    ("rolling_disk", "GenAlphaSOI2", 0.8),
    ("rolling_disk", "HHTI2", 0.8),
    ("jay_negrut_test", "GenAlphaI3", 1.0),
    ("jay_test", "GenAlphaSOI2", 1.0),
    ("hht_test", "GenAlphaSOI2", 1.0),
    ("simple_pendulum", None, 1.0),
    ("driven_pendulum", None, 1.0),
    ("four_bar", None, 0.5),
    ("rolling_disk", None, 0.8),
    ("slider_crank", None, 0.1),
]


@pytest.mark.parametrize("wanted", [1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize(("name", "scheme", "t_final"), CASES)
def test_the_true_error_is_the_wanted_one_and_the_estimate_says_so(name, scheme, t_final, wanted):
    o = mechanism(name)
    solution = integrate(o, t_final, scheme, error=wanted)
    for kind, (error, estimate) in true_errors(o, solution).items():
        assert error <= wanted, kind
        assert estimate <= wanted * (1.0 + 1e-9), kind
        assert error <= 10.0 * estimate + 1e-13, (kind, error, estimate)


def test_between_the_steps_and_at_wanted_times():
    o = mechanism("simple_pendulum")
    times = np.linspace(0.0, 1.0, 41)
    solution = integrate(o, 1.0, error=1e-7, t_eval=times)
    assert np.array_equal(solution.t, times)
    for kind, (error, estimate) in true_errors(o, solution).items():
        assert error <= min(1e-7, 3.0 * estimate), kind
    dense = solution(times)
    assert np.array_equal(dense.q, solution.q)
    columns = sum(column.used for column in solution.statistics.columns)
    assert columns >= 3
    assert solution.order == 2 * columns  # HHTI2 is symmetric; how many columns is chosen by work
    assert solution.a is solution.vdot


def test_the_result_is_on_the_constraints():
    o = mechanism("simple_pendulum")
    solution = integrate(o, 1.0, "GenAlphaI3", error=1e-4, t_eval=[0.0, 0.31, 1.0])
    for t, q, v in zip(solution.t, solution.q, solution.v, strict=True):
        assert np.abs(o.holonomic(t, q)).max() < 1e-14
        assert np.abs(o.holonomic_rate(t, q, v)).max() < 1e-13


def test_backward_in_time():
    o = mechanism("simple_pendulum")
    solution = integrate(o, -0.7, error=1e-6)
    assert solution.t[-1] == -0.7
    for kind, (error, estimate) in true_errors(o, solution).items():
        assert error <= 1e-6, kind
        assert error <= 10.0 * estimate, kind


def test_statistics_tell_the_columns():
    solution = integrate(mechanism("simple_pendulum"), 1.0, error=1e-6)
    columns = solution.statistics.columns
    used = [column.steps for column in columns if column.used]
    base = solution.steps.size - 1
    assert used == [k * base for k in range(1, len(used) + 1)]
    assert solution.order == 2 * len(used)  # HHTI2 is symmetric
    assert all(column.counters.nsteps == column.steps for column in columns)
    assert solution.statistics.nsteps > sum(column.steps for column in columns)


def test_only_what_is_wanted_is_controlled():
    o = mechanism("simple_pendulum")
    cheap = integrate(o, 1.0, error={"q": 1e-8, "v": 1e-3})
    dear = integrate(o, 1.0, error=1e-8)
    assert cheap.statistics.nsteps <= dear.statistics.nsteps
    assert true_errors(o, cheap)["q"][0] <= 1e-8


def holds_until(caught):
    return float(re.search(r"holds until t = ([\d.]+) only", str(caught[0].message))[1])


def test_a_jumping_force_is_told_or_resolved():
    """The true error is within the estimate, whether or not the wanted one is reached.

    Nothing is wrong before the jump. What is wrong at the first point after it is told earlier, by
    two points or more, because the largest of five neighbours counts, in the coarser extrapolation
    with which it is compared (16 steps at least), too.
    """

    def force(t, q, v):
        return np.array([1.0 if t < 0.5123 else -1.0])

    o = Mechanism(force=force, q0=[0.0], v0=[0.0], name="switched")
    with pytest.warns(WantedErrorWarning, match=r"holds until.*a callback jumps") as caught:
        solution = integrate(o, 1.0, error=1e-9, maxsteps=3000)
    after = int(np.searchsorted(solution.steps, 0.5123))
    until = holds_until(caught)
    assert 0.5123 - 3.0 / 16.0 < until < solution.steps[after - 3] + 1e-5
    assert solution.error.q[solution.steps < until + 1e-5].max() < 1e-14
    end = 0.5 * 0.5123**2 + 0.5123 * 0.4877 - 0.5 * 0.4877**2
    assert abs(solution.q[-1, 0] - end) <= solution.error.q[-1, 0]


def test_an_oscillation_that_steps_do_not_resolve():
    """A bead on a stiff spring that is thrown along: 300 oscillations, 2000 steps allowed."""
    stiff = 2000.0**2
    o = Mechanism(
        force=lambda t, q, v: np.array([0.0, -stiff * q[1]]), q0=[0.0, 0.1], v0=[1.0, 0.0]
    )
    with pytest.warns(WantedErrorWarning, match="holds until"):
        solution = integrate(o, 1.0, error=1e-6, maxsteps=2000, rtol=1.0, atol=1.0)
    true = 0.1 * np.cos(2000.0 * solution.t)
    error = np.abs(solution.q[:, 1] - true)
    assert error.max() > 1e-3
    assert error.max() <= 3.0 * solution.error.q[:, 1].max()


def double_pendulum(start):
    """Two equal masses on threads of length 1, in coordinates; and the same in angles."""

    def between(q):
        return q[2:] - q[:2]

    def jacobian(t, q):
        d = between(q)
        return np.array([[*q[:2], 0.0, 0.0], [*-d, *d]])

    def stiffness(t, q, v, vdot, lam, psi):
        one, two = lam
        return np.kron([[one + two, -two], [-two, two]], np.eye(2))

    def rates(t, y):
        a, b, u, w = y
        sine, cosine = np.sin(a - b), np.cos(a - b)
        below = 2.0 - cosine**2
        du = -sine * (w * w + u * u * cosine) - 9.81 * (2.0 * np.sin(a) - np.sin(b) * cosine)
        dw = sine * (2.0 * u * u + w * w * cosine) + 19.62 * (np.sin(a) * cosine - np.sin(b))
        return [u, w, du / below, dw / below]

    def position(y):
        one = np.array([np.sin(y[0]), -np.cos(y[0])])
        return np.concatenate([one, one + np.array([np.sin(y[1]), -np.cos(y[1])])])

    o = Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81, 0.0, -9.81]),
        q0=position(start),
        v0=np.zeros(4),
        holonomic=lambda t, q: 0.5 * np.array([q[:2] @ q[:2] - 1.0, between(q) @ between(q) - 1.0]),
        holonomic_jacobian=jacobian,
        holonomic_rate=lambda t, q, v: jacobian(t, q) @ v,
        holonomic_acceleration=lambda t, q, v: np.array([v[:2] @ v[:2], between(v) @ between(v)]),
        stiffness=stiffness,
        damping=lambda t, q, v, vdot, lam, psi: np.zeros((4, 4)),
        name="double pendulum",
    )
    return o, rates, position


@cache
def chaos(angles):
    """Return a chaotic motion, its true errors, the time of its claim, and what was said."""
    start = [*angles, 0.0, 0.0]
    o, rates, position = double_pendulum(start)
    truth = solve_ivp(rates, (0.0, 9.0), start, "DOP853", rtol=1e-13, atol=1e-13, dense_output=True)
    with pytest.warns(WantedErrorWarning) as caught:
        solution = integrate(o, 9.0, error=1e-3, maxsteps=3000)
    true = np.abs(solution.q - position(truth.sol(solution.t)).T).max(axis=1)
    return solution, true, holds_until(caught), str(caught[0].message)


CHAOS = ((2.0, 2.5), (1.9, 2.5), (2.4, 1.0), (2.2, 1.0))


def test_chaos():
    """Errors grow a thousandfold in some seconds: until when the wanted one holds is told.

    Until then, the true error is mostly below the wanted one, and no more than thirty times it:
    of 84 starts of this kind, it was above it with two, up to 8 times. Why no more is claimed is
    one reason of three, which one is chance: all are true. (Now and then it is what Newton's
    iteration leaves.)
    """
    claimed, reasons = [], 0
    for angles in CHAOS:
        solution, true, until, said = chaos(angles)
        assert "holds until" in said
        reason = "small errors grow quickly|may be chaotic|is chaotic|raise maxsteps"
        reasons += bool(re.search(reason, said))
        assert until < 8.9
        count = int(np.searchsorted(solution.t, until + 1e-5))
        claimed.append(true[:count].max() / (1e-3 * np.abs(solution.q).max()))
    assert max(claimed) <= 30.0
    assert np.median(claimed) <= 1.0
    assert reasons >= len(CHAOS) - 1


def test_estimates_on_chaos():
    """Before t = 8, in the mean over times, the true error is no more than ten times the estimate.

    Not at every time: one start in seven has an error there that is more than ten times the
    estimate, up to a hundred times, and which one is chance.
    """
    for angles in CHAOS:
        solution, true, _, _ = chaos(angles)
        estimate = np.maximum.accumulate(solution.error.q.max(axis=1))
        early = (solution.t > 0.0) & (solution.t < 8.0)
        assert np.exp(np.mean(np.log(true[early] / estimate[early]))) <= 10.0


def test_claims_on_chaos_are_not_too_cautious():
    """In the mean, just after the claim ends the error is no less than a thirtieth of the wanted.

    At the end of the motion it is more than wanted.

    Of thirty, three are the caution with which errors are carried on, three the constant of the
    estimate beside its median, and the rest is that the direction counts in which they grow more.
    """
    reached, last = [], []
    for angles in CHAOS:
        solution, true, until, _ = chaos(angles)
        count = int(np.searchsorted(solution.t, until + 1e-5))
        wanted = 1e-3 * np.abs(solution.q).max()
        reached.append(true[: count + 1].max() / wanted)
        last.append(true[-1] / wanted)
    assert np.exp(np.mean(np.log(last))) > 1.0
    assert np.exp(np.mean(np.log(reached))) >= 1.0 / 30.0


def test_chaos_within_a_small_budget():
    """Columns are so far apart that their extrapolation is near no point of the constraints."""
    start = [2.38985564, 1.88421653, 0.0, 0.0]
    o, rates, position = double_pendulum(start)
    truth = solve_ivp(rates, (0.0, 5.0), start, "DOP853", rtol=1e-12, atol=1e-12, dense_output=True)
    with pytest.warns(WantedErrorWarning, match="holds until") as caught:
        solution = integrate(
            o, 5.0, "GenAlphaI3", error=1e-5, maxsteps=300, t_eval=np.linspace(0.0, 5.0, 50)
        )
    # so near as `project_position` promises, also of points far off, where chaos has begun
    missed = [o.holonomic(t, q) for t, q in zip(solution.t, solution.q, strict=True)]
    assert np.abs(missed).max() < 1e-11
    true = np.abs(solution.q - position(truth.sol(solution.t)).T).max(axis=1)
    assert (true <= 3.0 * np.maximum.accumulate(solution.error.q.max(axis=1)) + 1e-12).all()
    before = solution.t <= holds_until(caught)
    assert true[before].max() <= 1e-5 * np.abs(solution.q).max()


def test_a_long_motion_reaches_its_error():
    """Over 25 periods there are several windows, and Newton's accuracy follows their shares."""
    o = mechanism("simple_pendulum")
    solution = integrate(o, 30.0, error=1e-4)
    assert solution.windows.size > 2
    for kind, (error, estimate) in true_errors(o, solution).items():
        assert error <= min(1e-4, 3.0 * estimate), kind


def test_an_error_of_a_callback_passes():
    def force(t, q, v):
        if t > 0.5:
            raise RuntimeError("broken")
        return np.zeros(1)

    with pytest.raises(RuntimeError, match="broken") as caught:
        integrate(Mechanism(force=force, q0=[0.0], v0=[1.0]), 1.0, error=1e-3)
    assert caught.value.solution is None


def faults(**options):
    with pytest.raises(InvalidOptionError) as caught:
        integrate(pendulum(), 1.0, **options)
    return caught.value.faults


def test_what_cannot_be_had_together():
    (fault,) = faults(error=1e-6, h=0.1)
    assert fault == "error and h = 0.1 are given; give one of them"
    (fault,) = faults(error=1e-6, progress=True)
    assert fault.startswith("error and progress are given")


@pytest.mark.parametrize("error", [-1.0, 0.0, 1.0, "small", {}, {"a": 1e-3}, {"q": -1.0}])
def test_wanted_errors_that_are_refused(error):
    (fault,) = faults(error=error)
    assert fault.startswith(f"error = {error!r}; expected a number in [1e-13, 0.1] or a dict")


def test_the_declaration_takes_its_own_examples():
    for option in RESULT:
        good, bad = option.kind.examples(None)
        for value in good:
            assert not Options("GenAlphaI3", **{option.name: value}).faults
        for value in bad:
            assert Options("GenAlphaI3", **{option.name: value}).faults


def test_states_are_measured_by_themselves():
    """A state of 1e7 beside positions and velocities of 1, which are as exact as wanted."""
    o = Mechanism(
        force=lambda t, q, v, z: -q,
        q0=[1.0],
        v0=[0.0],
        z0=[1e7],
        state_rate=lambda t, q, v, z: np.array([-1e7 * np.sin(t)]),
        name="oscillator with a large state",
    )
    solution = integrate(o, 20.0, error=1e-6)
    cosine, sine = np.cos(solution.t)[:, None], np.sin(solution.t)[:, None]
    for kind, x, size in (("q", cosine, 1.0), ("v", -sine, 1.0), ("z", 1e7 * cosine, 1e7)):
        error = np.abs(getattr(solution, kind) - x).max() / size
        estimate = getattr(solution.error, kind).max() / size
        assert error <= 1e-6, kind
        assert estimate <= 1e-6 * (1.0 + 1e-9), kind
        assert error <= 10.0 * estimate, kind
    loose = integrate(o, 20.0, error={"z": 1e-6, "q": 1e-2})
    assert loose.statistics.nsteps < solution.statistics.nsteps


def test_zero_crossings_of_velocity_errors_do_not_blow_up_those_of_multipliers():
    """What errors of q do to multipliers does not depend on how small those of v are just there."""
    o = mechanism("simple_pendulum")
    times = np.linspace(0.1, 0.9, 9)
    exact = [o.reference.motion(t) for t in times]
    motion = tuple(np.array([getattr(x, kind) for x in exact]) for kind in "qv")
    dq, dv = np.full_like(motion[0], 1e-4), np.full_like(motion[1], 1e-4)
    bounds, chosen = (np.abs(dq), np.abs(dv)), np.arange(times.size)
    usual, _ = multiplier_errors(o, times, motion, (dq, dv), bounds, chosen)
    dv[4] = 1e-12
    crossing, _ = multiplier_errors(o, times, motion, (dq, dv), bounds, chosen)
    assert 0.5 * usual.max() <= crossing.max() <= 2.0 * usual.max()


def test_finer_steps_that_fail_are_named(monkeypatch):
    """What there is before they do is kept, and maxsteps is not blamed."""
    bases: list[int] = []

    def failing(o, runs, base, columns, accuracy):
        bases.append(base)
        if base > bases[0] or columns > 3:
            raise ConvergenceError("nothing converges any more")
        return Trial(o, runs, base, columns, accuracy)

    monkeypatch.setattr(control, "Trial", failing)
    with pytest.warns(WantedErrorWarning, match=r"finer steps fail \(nothing converges") as caught:
        solution = integrate(mechanism("simple_pendulum"), 1.0, error=1e-9)
    assert "maxsteps" not in str(caught[0].message).split("allows, ")[1]
    assert solution.t[-1] == 1.0
    assert solution.error.q.max() > 1e-9
