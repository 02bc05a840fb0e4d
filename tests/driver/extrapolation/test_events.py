"""Events in a motion to a wanted error: times, impacts, ends, other mechanisms, errors carried."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from genalpha import Mechanism, integrate
from genalpha.driver.extrapolation import WantedErrorWarning, over_jump
from genalpha.errors import RestingContactError
from genalpha.numerics.interpolation import Knot

G = 9.81


def event(function, **attributes):
    """Return an event function with attributes."""

    def value(t, q, v):
        return function(t, q, v)

    for name, x in attributes.items():
        setattr(value, name, x)
    return value


def pendulum(**extra):
    return Mechanism(
        force=lambda t, q, v: np.array([0.0, -G]),
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: 0.5 * (q @ q - 1.0),
        holonomic_jacobian=lambda t, q: q[None].copy(),
        holonomic_rate=lambda t, q, v: np.array([q @ v]),
        holonomic_acceleration=lambda t, q, v: np.array([v @ v]),
        **extra,
    )


def against_a_wall(restitution=0.7):
    return event(lambda t, q, v: q[0] + 0.3, direction=-1, impact=lambda t, q, v: -restitution * v)


@pytest.fixture(scope="module")
def truth():
    """The pendulum against a wall by SciPy's DOP853, as an angle, restarted at every impact."""
    from scipy.integrate import solve_ivp

    def wall(t, y):
        return np.sin(y[0]) + 0.3

    wall.terminal, wall.direction = True, -1
    t, y, times, pieces = 0.0, [0.5 * np.pi, 0.0], [], []
    while t < 4.0:
        found = solve_ivp(
            lambda t, y: [y[1], -G * np.sin(y[0])],
            (t, 4.0),
            y,
            "DOP853",
            rtol=1e-13,
            atol=1e-14,
            events=wall,
            dense_output=True,
        )
        t, y = found.t[-1], [found.y[0, -1], -0.7 * found.y[1, -1]]
        pieces.append((t, found.sol))
        if found.status == 1:
            times.append(t)
    return np.array(times), pieces


def exact(pieces, times):
    rows = []
    for t in times:
        angle, rate = next(sol for end, sol in pieces if t <= end)(t)
        rows.append(
            [[np.sin(angle), -np.cos(angle)], np.array([np.cos(angle), np.sin(angle)]) * rate]
        )
    return np.array(rows)


@pytest.mark.parametrize(
    ("scheme", "wanted"), [(None, 1e-3), (None, 1e-5), (None, 1e-7), ("GenAlphaSOI2", 1e-4)]
)
def test_impacts(truth, scheme, wanted):
    """Times of impacts and the motion after them have the wanted error; estimates say so."""
    times = np.linspace(0.0, 4.0, 23)
    solution = integrate(
        pendulum(), 4.0, scheme, error=wanted, events=against_a_wall(), t_eval=times
    )
    (found,) = solution.t_events
    assert found.size == truth[0].size == 3
    assert np.abs(found - truth[0]).max() <= 4.0 * wanted
    assert np.abs(solution.q_events[0][:, 0] + 0.3).max() < 1e-12
    rows = exact(truth[1], times)
    for kind, x in (("q", rows[:, 0]), ("v", rows[:, 1])):
        error, scale = np.abs(getattr(solution, kind) - x), np.abs(x).max()
        estimate = getattr(solution.error, kind)
        assert error.max() <= wanted * scale
        assert estimate.max() <= wanted * scale * (1.0 + 1e-9)
        later = times > truth[0][-1]
        assert error.max() <= 10.0 * estimate.max()
        assert error[later].max() <= 10.0 * estimate[later].max()
    assert solution.windows.size >= 5
    assert len(solution.impulses) == 3


def test_before_and_after_an_impact():
    solution = integrate(pendulum(), 1.0, error=1e-6, events=against_a_wall())
    t = float(solution.t_events[0][0])
    before, after = solution(t, side="before"), solution(t)
    assert np.allclose(after.v, -0.7 * before.v, rtol=1e-9)
    assert np.array_equal(after.q, before.q)
    assert np.count_nonzero(solution.t == t) == 2


def test_backward_in_time():
    solution = integrate(
        pendulum(), -1.0, error=1e-6, events=event(lambda t, q, v: q[0], terminal=True)
    )
    forward = integrate(
        pendulum(), 1.0, error=1e-6, events=event(lambda t, q, v: q[0], terminal=True)
    )
    assert solution.t[-1] == solution.t_events[0][0]
    assert solution.t[-1] == pytest.approx(-forward.t[-1], rel=1e-6)


def test_ends_and_directions():
    """The run ends with the second falling zero; rising ones do not count, others go on."""
    first = event(lambda t, q, v: q[0], direction=-1, terminal=2)
    second = event(lambda t, q, v: v[1])
    solution = integrate(
        pendulum(), 10.0, error=1e-6, events=[first, second], t_eval=[0.0, 1.0, 9.0]
    )
    assert len(solution.t_events[0]) == 2
    assert solution.t_events[0][-1] == solution.steps[-1]
    quarter = solution.t_events[0][0]  # then a period between the zeros of the same direction
    assert solution.t_events[0][1] == pytest.approx(5.0 * quarter, rel=1e-6)
    assert np.allclose(solution.t_events[1][:5], quarter * np.arange(1, 6), rtol=1e-5)
    assert np.array_equal(solution.t, [0.0, 1.0])


def test_a_mechanism_that_follows():
    """The thread tears: from then on a parabola; multipliers are no more."""
    free = Mechanism(force=lambda t, q, v: np.array([0.0, -G]), q0=[0.0, 0.0], v0=[0.0, 0.0])
    tears = event(lambda t, q, v: q[0], direction=-1, impact=lambda t, q, v: free)
    solution = integrate(pendulum(), 1.0, error=1e-7, events=tears)
    (t,) = solution.t_events[0]
    speed = -np.sqrt(2.0 * G)
    late = solution.t > t
    rest = solution.t[late] - t
    parabola = np.column_stack([speed * rest, -1.0 - 0.5 * G * rest**2])
    error = np.abs(solution.q[late] - parabola)
    assert late.sum() > 3
    assert error.max() <= 1e-7 * np.abs(solution.q).max()
    assert np.isnan(solution.lam[late]).all()
    assert not np.isnan(solution.lam[solution.t < t]).any()
    assert np.isnan(solution.error.lam[late]).all()
    assert solution.points()[-1][0].n_lam == 0


def test_an_impact_that_counts():
    """Impacts that are no functions of their arguments are called once each, in order."""
    calls = []

    def impact(t, q, v):
        calls.append(t)
        return -v if len(calls) < 2 else np.zeros(2)

    stops = event(lambda t, q, v: q[0] + 0.3, direction=-1, impact=impact)
    solution = integrate(pendulum(), 3.0, error=1e-5, events=stops)
    times = solution.t_events[0]
    assert np.array_equal(calls[: times.size], times)
    speeds = [np.abs(solution(t).v).max() for t in times]
    assert speeds[0] > 1.0
    assert speeds[1] == 0.0


def test_a_body_that_comes_to_rest_is_told():
    drop = Mechanism(force=lambda t, q, v: np.array([-G]), q0=[1.0], v0=[0.0])
    floor = event(lambda t, q, v: q[0], impact=lambda t, q, v: 0.0 * v)
    with pytest.raises(RestingContactError):
        integrate(drop, 1.0, error=1e-5, events=floor)


def circles():
    """A point that flies to and fro between two circles: small errors grow sixfold each time."""
    free = Mechanism(force=lambda t, q, v: np.zeros(2), q0=[0.0, 1e-7], v0=[1.0, 0.0], name="disks")

    def hit(centre):
        def impact(t, q, v):
            n = (q - centre) / np.linalg.norm(q - centre)
            return v - 2.0 * (n @ v) * n

        return event(lambda t, q, v: (q - centre) @ (q - centre) - 1.0, direction=-1, impact=impact)

    centres = [np.array([2.0, 0.0]), np.array([-2.0, 0.0])]
    return free, [hit(centre) for centre in centres], centres


def flight(t_final, centres, q, v):
    """Where the point is, ray by ray."""
    t = 0.0
    while True:
        hits = []
        for centre in centres:
            b, c = (q - centre) @ v, (q - centre) @ (q - centre) - 1.0
            if b < 0.0 and b * b > c and c > 1e-12:
                hits.append((-b - np.sqrt(b * b - c), tuple(centre)))
        if not hits or t + min(hits)[0] > t_final:
            return q + (t_final - t) * v
        wait, centre = min(hits)
        q, t = q + wait * v, t + wait
        n = q - np.array(centre)
        v = v - 2.0 * (n @ v) * n / (n @ n)


@pytest.mark.parametrize(("impacts", "reached"), [(4, True), (10, False)])
def test_impacts_that_make_errors_grow(impacts, reached):
    """The estimate grows with them, and is a bound; where it is too large, that is said."""
    free, events, centres = circles()
    end = 2.0 * impacts
    if reached:
        solution = integrate(free, end, error=1e-6, events=events)
    else:
        with pytest.warns(WantedErrorWarning, match="small errors grow quickly"):
            solution = integrate(free, end, error=1e-9, events=events, maxsteps=2000)
    q = flight(end, centres, free.q0, free.v0)
    assert not reached or sum(x.size for x in solution.t_events) == impacts
    assert np.abs(solution.q[-1] - q).max() <= solution.error.q[-1].max()
    early = solution.t < 0.9
    assert solution.error.q[-1].max() > 30.0 * solution.error.q[early].max()


def test_what_is_not_reached_is_warned_of():
    swings = event(lambda t, q, v: q[0] + 0.3, direction=-1, impact=lambda t, q, v: -0.9 * v)
    with pytest.warns(WantedErrorWarning, match="holds until t = "):
        integrate(pendulum(), 5.0, error=1e-9, events=swings, maxsteps=200)


def test_an_error_over_a_jump_that_cannot_be_asked_again():
    """A ball under gravity that bounces from a circle, and another one that is a little off."""
    centre, g, e = np.array([0.3, -1.0]), np.array([0.0, -G]), 0.8

    def value(t, q, v):
        return (q - centre) @ (q - centre) - 1.0

    def bounced(q, v):
        n = (q - centre) / np.linalg.norm(q - centre)
        return v - (1.0 + e) * (n @ v) * n

    def fallen(q, v, t):
        return q + t * v + 0.5 * t * t * g, v + t * g

    q = centre + np.array([np.sin(0.4), np.cos(0.4)])
    v, none = np.array([0.5, -3.0]), np.zeros(0)
    off = np.array([2e-7, -1e-7]), np.array([3e-7, 4e-7])
    before = Knot(0.0, q, v, g, none, none)
    after = Knot(0.0, q, bounced(q, v), g, none, none)
    start = q + off[0], v + off[1]
    hit = brentq(lambda t: value(t, *fallen(*start, t)), -1e-5, 1e-5, xtol=1e-16)
    there = fallen(*start, hit)
    ahead = fallen(there[0], bounced(*there), 1e-3 - hit)
    true = [x - y for x, y in zip(ahead, fallen(q, after.v, 1e-3), strict=True)]
    dq, dv = over_jump(value, before, after, off)
    for one, other in zip((dq + 1e-3 * dv, dv), true, strict=True):
        assert np.abs(one - other).max() <= 0.01 * np.abs(other).max()


@pytest.mark.parametrize("later", [0.0, 1e-15, -1e-15, 1e-12, -1e-12])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_impact_at_the_end(sign, later):
    """A ball that falls for just as long as is asked for, but for rounding; forward and backward.

    At the end, it has bounced, unless that is clearly earlier than the impact.
    """
    ball = Mechanism(force=lambda t, q, v: np.array([-9.81]), q0=[4.905], v0=[0.0])
    floor = event(lambda t, q, v: q[0], direction=-1, impact=lambda t, q, v: -0.8 * v)
    t_final = sign * (1.0 + later)
    solution = integrate(ball, t_final, error=1e-8, events=floor)
    bounced = later > -1e-13
    assert solution.t[-1] == t_final
    assert solution.t_events[0].size == bounced
    assert abs(solution.v[-1, 0] - sign * (7.848 if bounced else -9.81)) < 1e-8
    assert abs(solution.q[-1, 0]) < 1e-10
    if bounced:
        assert abs(solution.t_events[0][0] - sign) < 1e-13
