"""Ends that random inputs have found: steps that stand still, failures that hide, events that stay.

Each is tried as a class of faults, on random mechanisms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from genalpha import Mechanism, integrate
from genalpha.errors import CallbackError, GenAlphaError, InvalidOptionError, StepLimitError

SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")
#: Calls of one callback, where some thousands are needed.
MANY = 60_000


class TooManyError(BaseException):
    """It would go on for ever."""


def bounded(function: Any) -> Any:
    """Return a function that does not go on for ever."""
    left = [MANY]

    def called(*arguments: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            raise TooManyError
        return function(*arguments)

    return called


def chain(random: np.random.Generator, **given: Any) -> dict[str, Any]:
    """Return a random double pendulum of points, as arguments."""
    m = np.diag(np.repeat(random.uniform(0.5, 3.0, 2), 2))
    angles, rates = random.uniform(-1.0, 1.0, 2), random.uniform(-2.0, 2.0, 2)
    lengths = random.uniform(0.5, 2.0, 2)
    steps = lengths[:, None] * np.array([np.sin(angles), -np.cos(angles)]).T
    turns = (lengths * rates)[:, None] * np.array([np.cos(angles), np.sin(angles)]).T

    def g(t: float, q: np.ndarray) -> list[float]:
        x, y = q[:2], q[2:] - q[:2]
        return [(x @ x - lengths[0] ** 2) / 2, (y @ y - lengths[1] ** 2) / 2]

    def G(t: float, q: np.ndarray) -> list[np.ndarray]:
        y = q[2:] - q[:2]
        return [np.append(q[:2], [0.0, 0.0]), np.append(-y, y)]

    weight = -9.81 * m @ [0.0, 1.0, 0.0, 1.0]
    return {
        "mass": m,
        "force": lambda t, q, v: weight - 0.1 * v,
        "holonomic": g,
        "holonomic_jacobian": G,
        "q0": np.cumsum(steps, axis=0).ravel(),
        "v0": np.cumsum(turns, axis=0).ravel(),
        **given,
    }


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_impact_that_changes_nothing_adds_no_event(scheme, seed):
    random = np.random.default_rng([seed, 18])
    o = Mechanism(**chain(random))
    weights = random.normal(size=(2, 4))
    options = {"rtol": 1e-5, "atol": 1e-5} if seed % 2 else {"h": 0.01}
    motion = integrate(o, 2.0, scheme, **options)
    values = motion.q @ weights[0] + motion.v @ weights[1]
    level = values.min() + random.uniform(0.3, 0.7) * np.ptp(values)

    def crossing(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(weights[0] @ q + weights[1] @ v) - level

    event = bounded(crossing)
    times = integrate(o, 2.0, scheme, events=[event], **options).t_events[0]
    event.impact = lambda t, q, v: v.copy()
    again = integrate(o, 2.0, scheme, events=[event], **options).t_events[0]
    assert len(times) >= 1
    assert len(again) == len(times)
    assert again == pytest.approx(times, abs=5e-3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["force", "holonomic"])
def test_steps_that_creep_up_to_a_failure_tell_it(name, scheme, seed):
    random = np.random.default_rng([seed, 36681])
    arguments = chain(random)
    if seed % 2:
        del arguments["holonomic_jacobian"]  # then others look ahead in time, and fail before
    function, from_then_on = arguments[name], random.uniform(0.05, 0.5)

    def failing(t: float, *state: np.ndarray) -> Any:
        if t >= from_then_on:
            raise FloatingPointError("too far away")
        return function(t, *state)

    o = Mechanism(**{**arguments, name: bounded(failing)})
    # itself where it comes from a step that was accepted, of which accelerations are worked out
    with pytest.raises((StepLimitError, FloatingPointError), match="too far away"):
        integrate(o, 1.0, scheme, rtol=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(3))
def test_steps_that_stand_still_are_no_hang(seed, scheme):
    random = np.random.default_rng(seed)
    barrier, longest = random.uniform(0.2, 2.0), random.uniform(30.0, 300.0) * 2.2e-16
    latest = [0.0]

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > barrier and t > latest[0] + longest * barrier:
            raise FloatingPointError("one thing at a time")
        latest[0] = max(latest[0], t)
        return -q

    o = Mechanism(force=bounded(force), q0=[1.0], v0=[0.0])
    with pytest.raises(StepLimitError, match=r"(?s)t = .*one thing at a time"):
        integrate(o, 3.0, scheme)


def test_a_failure_that_was_passed_is_forgotten():
    o = chain(np.random.default_rng(1))
    force, failed = o["force"], []

    def failing(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        if t > 0.2 and not failed:
            failed.append(t)
            raise FloatingPointError("once")
        if t > 0.5:
            return np.random.default_rng(int(1e12 * t)).normal(size=4) * 1e3
        return force(t, q, v)

    with pytest.raises(StepLimitError) as caught:
        integrate(Mechanism(**{**o, "force": bounded(failing)}), 1.0, rtol=1e-6, maxsteps=1000)
    assert failed
    assert "once" not in str(caught.value)


@pytest.mark.parametrize("option", ["maxh", "inith"])
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-110])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_steps_that_nothing_can_be_divided_by_are_refused(scheme, size, option):
    o = Mechanism(**chain(np.random.default_rng(2)))
    with pytest.raises(StepLimitError, match=f"{option} = "):
        integrate(o, 1.0, scheme, **{option: size})


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_rate_that_is_not_finite_once_is_not_carried_on(adaptive, scheme, bad):
    arguments = chain(np.random.default_rng(3))
    G = arguments["holonomic_jacobian"]
    told = []
    for number in range(1, 40):
        calls = []

        def rate(t: float, q: np.ndarray, v: np.ndarray, number=number, calls=calls) -> Any:
            calls.append(t)
            found = np.array(G(t, q)) @ v
            return np.full(2, bad) if len(calls) == number else found

        o = Mechanism(**arguments, holonomic_rate=rate)
        try:
            found = integrate(o, 0.1, scheme, **({"rtol": 1e-5} if adaptive else {"h": 0.01}))
        except GenAlphaError as error:
            told.append("holonomic_rate" in str(error))
        else:
            for x in (found.q, found.v, found.vdot, found.lam):
                assert np.isfinite(x).all()
    assert told
    assert all(told)


@pytest.mark.parametrize(
    "options", [{"adjust_steps": False}, {"adjustment": "a"}, {"adjustment": "gamma"}]
)
def test_adaptive_steps_of_i3_adjust_the_drift(options):
    (name,) = options
    o = Mechanism(**chain(np.random.default_rng(4)))
    with pytest.raises(InvalidOptionError, match=rf"{name} = .*adaptive steps.*give h"):
        integrate(o, 0.1, "GenAlphaI3", **options)
    integrate(o, 0.1, "GenAlphaI3", h=0.01, **options)
    free = Mechanism(force=lambda t, q, v: -q, q0=[1.0], v0=[0.0])
    integrate(free, 0.1, "GenAlphaI3", **options)


def test_a_wrong_number_of_values_names_what_says_how_many_are_right():
    arguments = chain(np.random.default_rng(5), holonomic_acceleration=lambda t, q, v: np.zeros(3))
    with pytest.raises(CallbackError, match=r"expected \(2,\), because holonomic returns 2 values"):
        integrate(Mechanism(**arguments), 0.1)
