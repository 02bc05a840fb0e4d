"""Events of `integrate`: which there are, when, and what comes after an impact."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from scipy.optimize import brentq

from genalpha import Mechanism, integrate
from genalpha.errors import (
    AccumulatingEventsError,
    CallbackError,
    InconsistentStartError,
    InvalidOptionError,
    RestingContactError,
    StepLimitError,
)
from genalpha.mechanisms import Block, Clutch, Stop, bouncing_pendulum, clutch, rocking_block
from genalpha.schemes import SCHEMES

from .impacts import random_case

FALL = np.sqrt(0.2)  # from 1 m, at 10 m/s^2
FLAT = Mechanism(force=lambda t, q, v: np.zeros(2), q0=[0, 0], v0=[0, 0])
STEPS = ({"h": 0.013}, {"h": 0.3}, {})


def ball(**changes):
    return Mechanism(
        **{"force": lambda t, q, v: np.array([-10.0]), "q0": [1.0], "v0": [0.0], **changes}
    )


def height(impact=None, **attributes):
    """Return an event function of its own."""

    def event(t, q, v):
        return q[0]

    event.__dict__.update(attributes)
    if impact is not None:
        event.impact = impact
    return event


def at(time, **attributes):
    def event(t, q, v):
        return t - time

    event.__dict__.update(attributes)
    return event


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("steps", STEPS)
class TestHandlers:
    """Those of a new user."""

    @pytest.mark.parametrize(
        "impact",
        [lambda t, q, v: -v, lambda t, q, v: (0 * q, abs(v)), lambda t, q, v: (q, abs(v))],
    )
    def test_no_impact_is_lost_or_double(self, scheme, steps, impact):
        s = integrate(ball(), 5.0, scheme, events=height(impact), **steps)
        assert s.t_events[0] == pytest.approx(FALL * np.arange(1, 12, 2), abs=1e-12)
        assert s.q.min() > -1e-13
        assert s.t[-1] == 5.0

    @pytest.mark.parametrize(
        ("rate", "impact"),
        [
            (0.5, lambda t, q, v: -0.5 * v if v[0] < 0 else v),
            (0.8, lambda t, q, v: (0 * q, 0.8 * abs(v))),
            (0.1, lambda t, q, v: -0.1 * v),
        ],
    )
    def test_a_ball_that_comes_to_rest(self, scheme, steps, rate, impact):
        with pytest.raises(AccumulatingEventsError, match=r"accumulate at t = ") as caught:
            integrate(ball(), 10.0, scheme, events=[height(impact)], **steps)
        end = FALL * (1.0 + 2.0 * rate / (1.0 - rate))
        text = str(caught.value)
        assert f"t = {end:.7f}"[:10] in text
        assert f"each wait {rate:.2g} times" in text
        s = caught.value.solution
        waits = 2.0 * FALL * rate ** np.arange(1, len(s.t_events[0]))
        exact = FALL + np.append(0.0, np.cumsum(waits))
        assert s.t_events[0] == pytest.approx(exact, abs=1e-12)
        assert s.q.min() > -1e-13
        assert end - s.t[-1] < 1e-3


class TestRest:
    """A body that an impact has stopped does not fall through the floor."""

    @pytest.mark.parametrize("seed", range(12))
    @pytest.mark.parametrize("restitution", [0.0, 1e-12, 1e-8, 1e-5, 1e-4, 1e-3, 1e-2])
    def test_any_ball(self, seed, restitution):
        rng = np.random.default_rng([seed, 19])
        drop, gravity = 10.0 ** rng.uniform(-3, 3, 2)
        unit = np.sqrt(drop / gravity)
        scheme = list(SCHEMES)[seed % 3]
        steps = {"h": 0.01 * unit} if seed % 2 else {"rtol": 1e-6, "atol": 1e-6 * drop}
        sign = rng.choice([-1.0, 1.0])  # time may run backward
        floor = float(rng.choice([0.0, 0.3, -7.0])) * drop
        o = Mechanism(force=lambda t, q, v: [-gravity], q0=[floor + drop], v0=[0.0])
        event = height(lambda t, q, v: -restitution * v)
        event_at = lambda t, q, v: event(t, q - floor, v)  # noqa: E731
        event_at.impact = event.impact
        with pytest.raises(AccumulatingEventsError, match=r"come.* to rest") as caught:
            integrate(o, sign * 3.0 * unit, scheme, events=event_at, **steps)
        assert "t = " in str(caught.value)
        assert "hands over a mechanism" in str(caught.value)
        s = caught.value.solution
        assert s.q.min() > floor - 1e-9 * drop
        assert abs(s.t_events[0][0]) == pytest.approx(np.sqrt(2.0) * unit, rel=1e-9)

    def test_the_rates_are_told(self):
        with pytest.raises(RestingContactError, match=r"rate from -4\.4\d+ to 0, and yet"):
            integrate(ball(), 1.0, events=height(lambda t, q, v: 0 * v))

    def test_a_curtain_takes_a_part_of_the_speed(self):
        s = integrate(ball(), 1.0, events=height(lambda t, q, v: 0.01 * v))
        assert len(s.t_events[0]) == 1
        assert s.q[-1, 0] < -0.1

    def test_who_hands_over_a_mechanism_has_said_what_follows(self):
        o = ball()
        s = integrate(o, 1.0, events=height(lambda t, q, v: (o, 0 * v)))
        assert s.q[-1, 0] < -0.1

    def test_a_flat_crossing_is_no_stop(self):
        """It comes to zero with slope zero, and an impact changes something else."""
        o = Mechanism(force=lambda t, q, v: [0.0, 0.0], q0=[-1.0, 0.0], v0=[1.0, 1.0])
        event = lambda t, q, v: q[0] ** 3  # noqa: E731
        event.impact = lambda t, q, v: v * [1.0, -1.0]
        s = integrate(o, 2.0, events=event, h=0.03)
        assert s.t_events[0] == pytest.approx([1.0], abs=1e-4)
        assert s.q[-1] == pytest.approx([1.0, 0.0], abs=1e-4)


@pytest.mark.parametrize("steps", [{}, {"h": 0.01}, {"h": 0.05}])
def test_oscillations_within_a_step(steps):
    s = integrate(ball(), 0.05, events=lambda t, q, v: np.sin(1e4 * t), **steps)
    assert s.t_events[0] == pytest.approx(np.pi / 1e4 * np.arange(1, 160), abs=1e-15)


def test_oscillations_of_any_frequency():
    """Up to 200 radians per step, with an offset that makes roots come in pairs."""
    rng = np.random.default_rng(3)
    for _ in range(25):
        omega, phase = 10.0 ** rng.uniform(0, 4), rng.uniform(0, 6)
        level = float(rng.choice([0.0, 0.5, 0.95]))
        s = integrate(
            ball(),
            0.1,
            h=0.02,
            events=lambda t, q, v, w=omega, p=phase, c=level: np.sin(w * t + p) - c,
        )
        fine = np.linspace(0.0, 0.1, 100_001)
        truth = np.sum(np.diff(np.sin(omega * fine + phase) > level))
        assert len(s.t_events[0]) == truth


class TestPlaces:
    def test_neither_at_the_start_nor_behind_the_end(self):
        s = integrate(ball(), 1.0, events=[at(0.0), at(1.0), at(1.0 + 1e-9), at(0.5)], h=0.1)
        assert [list(x) for x in s.t_events] == [[], [1.0], [], [0.5]]

    def test_an_output_point(self):
        s = integrate(ball(), 1.0, events=at(0.3), t_eval=[0.2, 0.3, 0.4])
        assert list(s.t) == [0.2, 0.3, 0.4]
        assert s.t_events[0] == pytest.approx([0.3], abs=1e-15)

    @pytest.mark.parametrize("direction", [1, -1])
    def test_simultaneous(self, direction):
        events = [at(0.31 * direction), lambda t, q, v: 2 * t - 0.62 * direction, at(direction)]
        s = integrate(ball(), 0.5 * direction, events=events)
        assert s.t_events[0] == s.t_events[1] == pytest.approx(0.31 * direction, abs=1e-15)

    def test_simultaneous_impacts_act_one_after_the_other(self):
        first, second = (height(lambda t, q, v: v + 1.0), height(lambda t, q, v: -2.0 * v))
        s = integrate(ball(), 0.5, events=[first, second])
        speed = 10.0 * FALL
        assert s(s.t_events[0][0]).v == pytest.approx(2.0 * (speed - 1.0))
        assert [x.event for x in s.impulses] == [0, 1]

    def test_two_crossings_within_a_step(self):
        s = integrate(ball(), 1.0, h=0.5, events=lambda t, q, v: (t - 0.27) ** 2 - 1e-10)
        assert s.t_events[0] == pytest.approx([0.26999, 0.27001], abs=1e-13)

    def test_grazing(self):
        """Above zero by rounding is no event, exactly zero at most one."""
        above = integrate(ball(), 1.0, h=0.1, events=lambda t, q, v: (t - 0.27) ** 2 + 1e-9)
        touching = integrate(ball(), 1.0, h=0.1, events=lambda t, q, v: (t - 0.27) ** 2)
        assert len(above.t_events[0]) == 0
        assert len(touching.t_events[0]) <= 1

    @pytest.mark.parametrize(("before", "after"), [(1, 1), (1, -1), (-1, 1), (-1, -1)])
    def test_zero_for_a_while(self, before, after):
        def event(t, q, v):
            return before * max(0.3 - t, 0.0) + after * max(t - 0.6, 0.0)

        s = integrate(ball(), 1.0, h=0.07, events=event)
        assert s.t_events[0] == pytest.approx([0.3], abs=1e-12)

    @pytest.mark.parametrize("noise", [1e-13, 1e-11, 1e-9])
    def test_noise_is_no_event(self, noise):
        """As of motions that are put on constraints by differences: seed 17169 of the fuzzing."""

        def event(t, q, v):
            return q[0] - 0.5 + noise * np.sin(1e15 * t)

        for steps in ({}, {"h": 0.05}):
            (times,) = integrate(ball(), 0.4, events=[event], **steps).t_events
            assert times == pytest.approx([np.sqrt(0.1)], abs=1e-6)

    @pytest.mark.parametrize("smooth", [True, False])
    def test_jumps(self, smooth):
        def event(t, q, v):
            return np.sign(t - 0.3) * (1.0 if smooth else 5.0 - 4.0 * (t > 0.55))

        s = integrate(ball(), 1.0, h=0.07, events=event)
        assert s.t_events[0] == pytest.approx([0.3], abs=1e-15)

    @pytest.mark.parametrize("direction", [1, -1])
    def test_direction_and_both_directions_of_time(self, direction):
        o = ball(force=lambda t, q, v: -100.0 * q, q0=[0.3])
        rising, falling, both = height(direction=1), height(direction=-1), height()
        tight = {"rtol": 1e-8, "atol": 1e-8}
        s = integrate(o, direction * 2.0, events=[rising, falling, both], **tight)
        truth = direction * np.pi * (np.arange(6) + 0.5) / 10.0
        assert s.t_events[2] == pytest.approx(truth, abs=1e-5)
        assert np.array_equal(s.t_events[1], s.t_events[2][::2])
        assert np.array_equal(s.t_events[0], s.t_events[2][1::2])

    def test_terminal(self):
        o = ball(force=lambda t, q, v: -100.0 * q, q0=[0.3])
        for terminal, count in ((True, 1), (1, 1), (3, 3), (False, 6), (0, 6)):
            s = integrate(o, 2.0, events=height(terminal=terminal), t_eval=np.linspace(0, 2, 9))
            assert len(s.t_events[0]) == count
            assert s.steps[-1] == (s.t_events[0][-1] if count < 6 else 2.0)
            assert s.t[-1] <= s.steps[-1]
        assert s.q_events[0].shape == s.v_events[0].shape == (6, 1)
        assert abs(s.q_events[0]).max() < 1e-14


class TestAfterImpacts:
    def test_dense_output_knows_both_sides(self):
        s = integrate(ball(), 1.0, events=height(lambda t, q, v: -0.5 * v), h=0.1)
        time = s.t_events[0][0]
        assert s(time).v == pytest.approx(5.0 * FALL)
        assert s(time, side="before").v == pytest.approx(-10.0 * FALL)
        assert s(time - 1e-9).v == pytest.approx(-10.0 * FALL, rel=1e-6)
        assert s(time + 1e-9).v == pytest.approx(5.0 * FALL, rel=1e-6)
        assert list(s.steps).count(time) == 2
        with pytest.raises(ValueError, match="side = 'left'"):
            s(0.5, side="left")

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_velocities_are_moved_along_the_reactions(self, scheme):
        """A shove of a pendulum: only its part along the circle remains, the rod takes the rest."""
        o = bouncing_pendulum()
        shove = np.array([1.0, 2.0])
        event = at(0.2)
        event.impact = lambda t, q, v: v + shove
        s = integrate(o, 0.4, scheme, h=1e-3, events=[event])
        (impulse,) = s.impulses
        q = s.q_events[0][0]
        assert impulse.v_before == pytest.approx(s.v_events[0][0])
        assert abs(q @ impulse.v_after) < 1e-12
        # M (v_after - given) = -G^T lam, with G = q
        assert impulse.v_after - impulse.v_before - shove == pytest.approx(-q * impulse.lam[0])
        assert impulse.lam[0] == pytest.approx(q @ shove)

    def test_the_users_own_reaction_gives_the_direction(self):
        """A bead on the x axis whose reaction acts at 45 degrees."""
        slanted = np.array([[1.0], [1.0]])
        o = Mechanism(
            force=lambda t, q, v: np.zeros(2), q0=[0, 0], v0=[1, 0],
            holonomic=lambda t, q: q[1:], holonomic_jacobian=lambda t, q: np.array([[0.0, 1.0]]),
            reaction=lambda t, q, v, lam, psi: slanted @ lam,
        )  # fmt: skip
        event = at(0.5)
        event.impact = lambda t, q, v: v + [0.0, -2.0]
        s = integrate(o, 1.0, h=0.1, events=event)
        assert s.v[-1] == pytest.approx([3.0, 0.0])
        assert s.impulses[0].lam == pytest.approx([2.0])

    def test_positions_off_the_constraints_are_refused(self):
        event = at(0.2)
        event.impact = lambda t, q, v: (1.1 * q, v)
        with pytest.raises(InconsistentStartError, match="moves the position off constraint rod"):
            integrate(bouncing_pendulum(), 0.4, events=[event])

    @pytest.mark.parametrize("wrong", [np.zeros(2), "no", (1.0, 2.0, 3.0), [np.nan], FLAT])
    def test_impacts_that_return_nonsense(self, wrong):
        with pytest.raises(CallbackError, match=r"events\[0\]\.impact returned") as caught:
            integrate(ball(), 1.0, events=[height(lambda t, q, v: wrong)])
        assert caught.value.solution.t[-1] == pytest.approx(FALL)

    def test_an_impact_at_the_end(self):
        event = at(1.0)
        event.impact = lambda t, q, v: -v
        s = integrate(ball(), 1.0, h=0.1, events=event)
        assert s.v[-1] == pytest.approx(10.0)
        assert s(1.0, "before").v == pytest.approx(-10.0)
        assert s.t[-1] == s.t[-2] == 1.0

    def test_given_step_sizes_go_on(self):
        sizes = [0.1, 0.2] * 4
        event = at(0.45)
        event.impact = lambda t, q, v: v
        s = integrate(ball(), 1.2, h=sizes, events=event)
        assert s.steps == pytest.approx([0, 0.1, 0.3, 0.4, 0.45, 0.45, 0.6, 0.7, 0.9, 1.0, 1.2])


class TestChangingConstraints:
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_rocking_block(self, scheme):
        """Impulses of the new edge give Housner's restitution."""
        block = Block()
        o = rocking_block(block)
        s = integrate(o, 2.0, scheme, h=1e-3, events=[block.event()])
        o.reference.motion(2.0)
        assert len(s.t_events[0]) >= 4
        for x in s.impulses:
            assert x.v_after[2] / x.v_before[2] == pytest.approx(block.restitution, rel=1e-9)
        motion = o.reference.motion(1.9)
        assert s(1.9).q == pytest.approx(motion.q, abs=5e-6)
        assert s(1.9).lam == pytest.approx(motion.lam, abs=5e-4)

    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("steps", [{"h": 0.01}, {}])
    def test_clutch(self, scheme, steps):
        """Its slip is held at zero for a while: no event before it slips again."""
        c = Clutch()
        o = clutch(c)
        s = integrate(o, 4.0, scheme, events=c.events(), t_eval=[0.2, 1.0, 2.9, 3.5], **steps)
        assert s.t_events[0] == pytest.approx([o.reference.motion.stick], abs=1e-4)
        assert s.t_events[1] == pytest.approx([c.release], abs=1e-12)
        assert np.array_equal(np.isnan(s.lam[:, 0]), [True, False, False, True])
        assert s.lam[1:3, 0] == pytest.approx([c.transmitted(1.0), c.transmitted(2.9)])
        assert s.q[-1] == pytest.approx(o.reference.motion(3.5).q, abs=1e-3)

    def test_a_mechanism_far_from_its_constraints_is_refused(self):
        event = at(0.1)
        event.impact = lambda t, q, v: ball(holonomic=lambda t, q: q - 5.0)
        with pytest.raises(InconsistentStartError, match="hands over a mechanism"):
            integrate(ball(), 1.0, events=event)


def bouncing(case):
    """Return a mechanism with at least three exact impacts, its event and its end."""
    if case == "pendulum":
        stop = Stop(restitution=0.9)
        return bouncing_pendulum(stop), stop.event(), 3.7
    return rocking_block(), Block().event(), 1.9


def errors_after_the_last_impact(case, scheme, **steps):
    """Return the number of steps, and the largest errors of q, v and lam."""
    o, event, end = bouncing(case)
    s = integrate(o, end, scheme, events=[event], **steps)
    assert len(s.t_events[0]) >= 3
    last = s.t_events[0][-1]
    # at steps: between them, multipliers are interpolated, with an error that depends on the place
    late = np.flatnonzero(s.t > last + 0.2 * (end - last))
    chosen = late[np.linspace(0, late.size - 1, 40).astype(int)]
    truth = [o.reference.motion(t) for t in s.t[chosen]]
    return s.statistics.nsteps, [
        max(
            np.abs(getattr(s, x)[i] - getattr(b, x)).max()
            for i, b in zip(chosen, truth, strict=True)
        )
        for x in ("q", "v", "lam")
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", ["pendulum", "block"])
class TestOrder:
    """Two, in q, v and lam, wherever in a step the impacts happen."""

    def test_fixed_steps(self, scheme, case):
        # A line through many: lam of the block has transients after impacts, which depend on where
        # in a step these happen. With steps of 5e-4, rounding makes up to 3 % of its error.
        sizes = np.geomspace(7.5e-4, 6e-3, 13)
        # solved to rounding: what the default leaves in lam is seen at the finest steps
        solved = {"newton_accuracy": 1e-14}
        errors = [errors_after_the_last_impact(case, scheme, h=h, **solved)[1] for h in sizes]
        slopes = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
        assert slopes == pytest.approx(2.0, abs=0.03)

    def test_adaptive_steps(self, scheme, case):
        # On the block fine ones: what HHTI2 brings over an impact and what it adds behind it are
        # 9.2 and -7.1 times the inverse square of the number of steps. Their difference is a
        # quarter of them, and so the next term, 5 % of each at 1e-5, a fifth of it (see below).
        runs = [
            errors_after_the_last_impact(case, scheme, rtol=tol, atol=tol)
            for tol in 10.0 ** -(np.arange(0.0, 2.1, 0.5) + (6.0 if case == "pendulum" else 7.0))
        ]
        steps, errors = np.log([n for n, _ in runs]), np.log([x for _, x in runs])
        assert np.polyfit(steps, errors, 1)[0] == pytest.approx(-2.0, abs=0.15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_order_of_a_phase_that_begins_with_an_impact(scheme):
    """The block from its first impact to the second: an error that nothing is taken from."""
    block, o = Block(), rocking_block()
    first, second = (
        brentq(lambda t: o.reference.motion(t).q[2], t - 1e-3, t + 1e-3, xtol=1e-15)
        for t in (0.29008, 1.02212)
    )
    start = o.reference.motion(first + 1e-12)
    phase = block.phase(1 if start.v[2] > 0.0 else -1, t0=first, q0=start.q, v0=start.v)
    errors, steps = [], []
    for tol in 10.0 ** -np.arange(5.0, 8.1, 0.5):
        s = integrate(phase, 1.3, scheme, rtol=tol, atol=tol, events=[block.event()])
        errors.append(abs(s.t_events[0][0] - second))
        steps.append(s.statistics.nsteps)
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(-2.0, abs=0.05)


class TestRestarts:
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_errors_follow_the_tolerance_across_impacts(self, scheme):
        stop = Stop(restitution=0.9)
        o, end = bouncing_pendulum(stop), 3.7
        motion, errors, restarts = o.reference.motion(end), [], []
        for tol in (1e-4, 1e-6, 1e-8):
            s = integrate(o, end, scheme, rtol=tol, atol=tol, events=[stop.event()])
            errors.append(np.abs(s(end).q - motion.q).max())
            sizes = np.diff(s.steps)
            after = [int(np.flatnonzero(s.steps == t)[-1]) for t in s.t_events[0]]
            restarts.append(min(sizes[i] for i in after) / np.median(sizes))
        assert errors[0] > errors[1] > errors[2]
        slope = np.log(errors[2] / errors[0]) / np.log(1e-4)
        assert 0.5 < slope < 0.9, errors  # order 2: tol^(2/3)
        assert min(restarts) > 0.02, "the first steps after an impact are not needlessly tiny"


class TestWhatIsWrong:
    def test_events_are_checked(self):
        terminal, direction, impact = (height() for _ in range(3))
        terminal.terminal, direction.direction, impact.impact = -1, "up", 3.0
        with pytest.raises(InvalidOptionError) as caught:
            integrate(ball(), 1.0, events=["x", terminal, direction, impact])
        assert len(caught.value.faults) == 4

    def test_a_function_that_returns_several_values_or_nan(self):
        with pytest.raises(CallbackError, match=r"events\[0\] returned \[1.0, 2.0\] at t = 0"):
            integrate(ball(), 1.0, events=lambda t, q, v: [1.0, 2.0])
        with pytest.raises(CallbackError, match=r"events\[0\] is nan at t = 0\.[3-5]"):
            integrate(ball(), 1.0, h=0.1, events=lambda t, q, v: 1.0 if t < 0.4 else np.nan)

    def test_a_force_that_jumps_is_named(self):
        """Sliding friction that comes to rest: the steps would crawl for ever."""
        o = ball(force=lambda t, q, v: -3.0 * np.sign(v), q0=[0.0], v0=[1.0])
        with pytest.raises(StepLimitError, match=r"force seems to jump near t = 0\.33") as caught:
            integrate(o, 2.0)
        assert "events" in str(caught.value)
        assert "maxsteps" not in str(caught.value)
        assert len(caught.value.solution.steps) < 20_000

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), KeyError("mine"), ValueError("odd")])
    @pytest.mark.parametrize("scheme", [*SCHEMES, "StabilizedRK2"])
    @pytest.mark.parametrize("output", [{}, {"t_eval": [0.0, 0.3, 0.9]}])
    def test_every_exception_brings_the_results_so_far(self, error, scheme, output):
        def force(t, q, v):
            if t > 0.5:
                raise error
            return np.array([-10.0])

        with pytest.raises(type(error)) as caught:
            integrate(ball(force=force), 1.0, scheme, h=0.05, **output)
        assert caught.value is error
        assert 0.3 <= error.solution.t[-1] <= 0.5
        assert error.solution.steps[-1] == pytest.approx(0.5)

    def test_errors_survive_pickling(self):
        error = InvalidOptionError("integrate", ["a", "b"])
        error.solution = None
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert again.faults == ["a", "b"]

    def test_steps_that_the_time_cannot_see(self):
        with pytest.raises(StepLimitError, match="too small to advance t = 1000"):
            integrate(ball(t0=1000.0), 1001.0, inith=1e-14)


@pytest.mark.parametrize("scheme", ["StabilizedEuler", "StabilizedRK2"])
def test_stabilized_methods_have_events_too(scheme):
    s = integrate(ball(), 1.5, scheme, h=1e-3, events=height(lambda t, q, v: -v))
    tolerance = 5e-3 if scheme == "StabilizedEuler" else 1e-12
    assert s.t_events[0] == pytest.approx(FALL * np.array([1, 3]), abs=tolerance)
    assert s.q.min() > -1e-12
    with pytest.raises(CallbackError, match="another mechanism"):
        integrate(ball(), 1.5, scheme, h=1e-3, events=height(lambda t, q, v: ball()))


@pytest.mark.parametrize("seed", range(int(os.environ.get("GENALPHA_IMPACTS", "200")) // 10))
def test_random_impacts(seed):
    """None lost, none double, at the exact times; GENALPHA_IMPACTS=10000 takes minutes."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, 10)

    def event(t, q, v):
        return case.gap(t, q, v)

    event.impact = case.after
    scheme = str(rng.choice(list(SCHEMES)))
    steps = {} if rng.random() < 0.5 else {"h": float(rng.uniform(0.02, 0.5))}
    s = integrate(case.mechanism, case.end, scheme, events=[event], **steps)
    scale = max(1.0, abs(case.end))
    assert len(s.t_events[0]) == len(case.times)
    assert s.t_events[0] == pytest.approx(case.times, abs=1e-10 * scale, rel=0)
