"""A run in two parts is the same as one long run."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import ellipk

from genalpha import integrate
from genalpha.errors import InvalidOptionError, UnsupportedProblemError

from .support import SCHEMES, mechanism, oscillator, pendulum


def mark(t, q, v):
    return q[0] + 0.5


def bounce(t, q, v):
    return q[0] + 0.2


bounce.impact = lambda t, q, v: -0.9 * v


@pytest.mark.parametrize("name", ["simple_pendulum", "four_bar", "closed_chain"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_fixed_steps_go_on_exactly(scheme: str, name: str) -> None:
    """The state that is handed over is all that a scheme carries, so only Newton's rest differs."""
    o, options = mechanism(name), {"scheme": scheme, "h": 0.005, "newton_accuracy": 1e-13}
    long = integrate(o, 0.1, **options)
    longer = integrate(o, 0.04, **options).continued(0.1)
    assert np.array_equal(longer.t, long.t) or np.abs(longer.t - long.t).max() < 1e-15
    for key in ("q", "v", "vdot", "a", "lam"):
        values = getattr(long, key)
        scale = max(1.0, np.abs(values).max())
        assert np.abs(getattr(longer, key) - values).max() < 1e-9 * scale, key
    assert longer.statistics.nsteps == 20


@pytest.mark.parametrize("scheme", SCHEMES)
def test_adaptive_steps_go_on(scheme: str) -> None:
    """As accurate as one run, and about as many steps: no new start with small ones."""
    o = mechanism("simple_pendulum")
    long = integrate(o, 2.0, scheme, rtol=1e-6, atol=1e-6)
    half = integrate(o, 1.0, scheme, rtol=1e-6, atol=1e-6)
    longer = half.continued(2.0)
    exact = o.reference.motion(2.0)
    error = np.abs(long.q[-1] - exact.q).max()
    assert np.abs(longer.q[-1] - exact.q).max() < 2.0 * error
    assert (
        np.abs(longer.lam[-1] - exact.lam).max()
        < 2.0 * np.abs(long.lam[-1] - exact.lam).max() + 1e-3
    )
    assert longer.steps.size <= 1.05 * long.steps.size + 3
    assert np.array_equal(longer.steps[: half.steps.size], half.steps)
    assert np.all(np.diff(longer.steps) > 0.0)
    middle = half.steps.size
    sizes = np.diff(longer.steps)
    assert sizes[middle : middle + 3].min() > 0.3 * sizes[middle - 5 : middle - 2].min()


def test_the_first_run_stays_as_it_is() -> None:
    half = integrate(mechanism("simple_pendulum"), 0.5, "GenAlphaI3")
    before = half.q.copy(), half.statistics.nsteps
    one, two = half.continued(1.0), half.continued(1.0)
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(half.q, before[0]) and half.statistics.nsteps == before[1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_goes_on_after_pickling(scheme: str) -> None:
    half = integrate(mechanism("closed_chain"), 0.02, scheme, h=0.005)
    again = pickle.loads(pickle.dumps(half)).continued(0.04)
    assert np.abs(again.q - half.continued(0.04).q).max() < 1e-9


def test_times_asked_for() -> None:
    half = integrate(mechanism("simple_pendulum"), 0.5, t_eval=[0.1, 0.3])
    longer = half.continued(1.0, t_eval=[0.7, 1.0])
    assert longer.t.tolist() == [0.1, 0.3, 0.7, 1.0]
    assert np.allclose(longer(0.9).q, integrate(longer.mechanism, 1.0)(0.9).q, atol=1e-4)
    assert longer.t.size < half.continued(1.0).t.size


def test_events_add_up() -> None:
    o = mechanism("simple_pendulum")
    long = integrate(o, 2.0, events=[mark, bounce])
    longer = integrate(o, 0.9, events=[mark, bounce]).continued(2.0)
    for a, b in zip(long.t_events, longer.t_events, strict=True):
        assert a.size == b.size > 1
        assert np.abs(a - b).max() < 1e-4
    assert len(long.impulses) == len(longer.impulses)


def test_it_goes_on_after_a_terminal_event() -> None:
    def stop(t, q, v):
        return q[0]

    stop.terminal = True
    for scheme in SCHEMES:
        first = integrate(pendulum(), 3.0, scheme, events=stop)
        second = first.continued(3.0)
        assert first.t[-1] < 1.0 and second.t[-1] < 3.0
        assert [x.size for x in second.t_events] == [2]
        quarter = ellipk(0.5) / np.sqrt(9.81)  # of the exact period
        assert second.t_events[0] == pytest.approx([quarter, 3 * quarter], abs=1e-3)


def test_what_a_failed_run_has_left_goes_on() -> None:
    """For example with more steps; GenAlphaI3 has velocities that a start must not have."""
    for scheme in SCHEMES:
        with pytest.raises(Exception, match="steps were not enough") as caught:
            integrate(pendulum(), 1.0, scheme, maxsteps=50)
        solution = caught.value.solution
        assert solution.continued(solution.t[-1] + 1e-3).t[-1] == solution.t[-1] + 1e-3


def test_what_is_refused() -> None:
    solution = integrate(oscillator(), 1.0, h=0.1)
    with pytest.raises(InvalidOptionError, match="beyond its end"):
        solution.continued(0.5)
    with pytest.raises(InvalidOptionError, match="t_eval must be a vector of times in"):
        solution.continued(2.0, t_eval=[0.5])
    with pytest.raises(InvalidOptionError, match=r"t_eval = 'all'.*\n.*t_final = 'end'"):
        solution.continued("end", t_eval="all")
    given = integrate(oscillator(), 0.3, h=[0.1, 0.2])
    with pytest.raises(InvalidOptionError, match="give those of the rest"):
        given.continued(0.6)
    assert given.continued(0.6, h=[0.2, 0.1]).steps == pytest.approx([0, 0.1, 0.3, 0.5, 0.6])
    stabilized = integrate(mechanism("simple_pendulum"), 0.1, "StabilizedRK2", h=1e-2)
    with pytest.raises(UnsupportedProblemError, match="cannot be continued"):
        stabilized.continued(0.2)
