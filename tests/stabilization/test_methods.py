"""Euler (5.1) and Runge-Kutta (5.4) to (5.7): orders, variants, options."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism
from genalpha.driver.sizes import Grid
from genalpha.errors import CallbackError, InvalidOptionError
from genalpha.stabilization.gains import Gains

GAINS = Gains.baumgarte(5.0)
CASES = [
    ("StabilizedEuler", {}, 1.0),
    ("StabilizedRK2", {"sigma": 1.0}, 2.0),
    ("StabilizedRK2", {"sigma": 0.5}, 2.0),
    ("StabilizedRK2", {"alpha": 2.0 / 3.0}, 2.0),
]


def errors(run, o, scheme, options, steps, t_final):
    """Largest errors of q, v and the multipliers at five times up to t_final."""
    s = run(o, t_final, scheme, (t_final - o.t0) / steps, gains=GAINS, **options)
    found = np.zeros(3)
    for i in range(steps // 5, steps + 1, steps // 5):
        exact = o.reference.motion(float(s.t[i]))
        multipliers = np.append(s.lam[i] - exact.lam, s.psi[i] - exact.psi)
        new = [np.abs(x).max() for x in (s.q[i] - exact.q, s.v[i] - exact.v, multipliers)]
        found = np.maximum(found, new)
    return found


@pytest.mark.parametrize(("scheme", "options", "order"), CASES)
@pytest.mark.parametrize(
    ("name", "t_final", "steps"),
    [
        ("assimulo_pendulum", 1.0, 400),
        ("driven_pendulum", 1.0, 400),
        ("slider_crank", 0.02, 100),
        ("chaplygin_sleigh", 1.0, 200),
    ],
)
def test_order(run, mechanism_called, name, t_final, steps, scheme, options, order):
    o = mechanism_called(name)
    coarse = errors(run, o, scheme, options, steps, t_final)
    fine = errors(run, o, scheme, options, 2 * steps, t_final)
    measured = np.log2(coarse / fine)
    assert fine.max() > 1e-12  # an order is measured, not rounding
    assert measured == pytest.approx(order, abs=0.15)


def ball(mass=None):
    """Unconstrained, nonlinear in everything."""
    return Mechanism(
        mass=mass,
        force=lambda t, q, v: np.array([np.sin(q[1]) - 0.1 * v[0], t - q[0] * v[1]]),
        q0=[1.0, 0.3],
        v0=[0.2, -0.4],
    )


def test_unconstrained_they_equal_the_classical_methods_exactly(run):
    o, h, steps = ball(), 1.0 / 64.0, 50

    def f(t, x):
        return np.concatenate([x[2:], o.force(t, x[:2], x[2:])])

    def heun(t, x):
        return x + 0.5 * h * (f(t, x) + f(t + h, x + h * f(t, x)))

    methods = {
        ("StabilizedEuler", None): lambda t, x: x + h * f(t, x),
        ("StabilizedRK2", 1.0): lambda t, x: x + h * f(t + 0.5 * h, x + 0.5 * h * f(t, x)),
        ("StabilizedRK2", 0.5): heun,
    }
    for (scheme, sigma), method in methods.items():
        t, x = 0.0, np.concatenate([o.q0, o.v0])
        for i in range(steps):
            x, t = method(t, x), (i + 1) * h
        s = run(o, steps * h, scheme, h, **({} if sigma is None else {"sigma": sigma}))
        assert np.array_equal(np.concatenate([s.q[-1], s.v[-1]]), x)
        assert s.deviation.measured.size == 0


def test_a_mass_matrix_changes_the_motion_as_it_should(run):
    mass = np.array([[2.0, 0.3], [0.3, 1.0]])
    s = run(ball(mass), 0.1, "StabilizedEuler", 0.1)
    o = ball(mass)
    vdot = np.linalg.solve(mass, o.force(0.0, o.q0, o.v0))
    assert s.v[-1] == pytest.approx(o.v0 + 0.1 * vdot, rel=1e-14)
    assert np.array_equal(s.q[-1], o.q0 + 0.1 * o.v0)


def test_work_is_one_evaluation_per_stage(run, mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    for scheme, stages in (("StabilizedEuler", 1), ("StabilizedRK2", 2)):
        counters = run(o, 0.1, scheme, 1e-3, gains=GAINS).statistics
        assert counters.nsteps == 100
        assert counters.nfcns == stages * 100 + 1


def test_multipliers_are_those_of_the_mechanism_not_of_the_pull(
    run, mechanism_called, off_constraints
):
    """Off the constraints by 1e-4, harsh gains push with an acceleration of 100."""
    o = off_constraints(mechanism_called("assimulo_pendulum"), [1e-4, 0.0])
    s = run(o, 1e-3, "StabilizedEuler", 1e-3, gains=Gains.baumgarte(1000.0))
    assert s.lam[0] == pytest.approx(o.reference.motion(0.0).lam, abs=0.01)


def equal_steps(t, end, h):
    """Return sizes and ends of the steps of a grid."""
    grid, found = Grid(h, t, end), []
    while t != end:
        found.append(grid.following(t))
        grid.count()
        t = found[-1][1]
    return found


def test_steps_end_exactly_and_are_equal_where_they_can_be():
    steps = list(equal_steps(0.0, 1.0, 0.1))
    assert len(steps) == 10
    assert {size for size, _ in steps} == {0.1}
    assert steps[-1][1] == 1.0
    sizes, ends = zip(*equal_steps(1.0, 2.0, 0.3), strict=True)
    assert sizes == pytest.approx([0.3, 0.3, 0.3, 0.1])
    assert ends[-1] == 2.0
    assert [s for s, _ in equal_steps(0.0, 1.0, 0.999)] == [1.0]  # no step of a thousandth
    assert [s for s, _ in equal_steps(0.0, 1.0, 5.0)] == [1.0]


def test_given_step_sizes(run, mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    h = [0.01, 0.02] * 10
    s = run(o, sum(h), "StabilizedRK2", h, gains=GAINS)
    assert np.diff(s.t) == pytest.approx(h)
    assert np.all(s.deviation.measured <= s.deviation.guaranteed)


def test_all_faults_at_once(run, mechanism_called):
    with pytest.raises(InvalidOptionError) as caught:
        run(
            mechanism_called("assimulo_pendulum"), 1.0, "StabilizedRK2", 1e-3,
            gains="strong", eps=-1.0, sigma=-1.0, order=3,
        )  # fmt: skip
    text = str(caught.value)
    for word in ("'order'", "'strong'", "eps = -1.0", "sigma = -1.0"):
        assert word in text
    assert len(caught.value.faults) == 4
    with pytest.raises(InvalidOptionError, match="eps is for gains='auto'"):
        run(mechanism_called("assimulo_pendulum"), 1.0, "StabilizedRK2", 1e-3, gains=GAINS, eps=1.0)


def test_sigma_or_alpha(run, mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    with pytest.raises(InvalidOptionError, match="alpha and sigma are given; give one of them"):
        run(o, 1.0, "StabilizedRK2", 1e-3, gains=GAINS, sigma=1.0, alpha=1.0)
    with pytest.raises(InvalidOptionError, match="unknown option 'sigma'; StabilizedEuler has"):
        run(o, 1.0, "StabilizedEuler", 1e-3, gains=GAINS, sigma=1.0)
    ends = [
        run(o, 0.01, "StabilizedRK2", 1e-3, gains=GAINS, **way).q[-1]
        for way in ({"sigma": 0.5}, {"alpha": 1.0}, {})
    ]
    assert np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])


@pytest.mark.parametrize(
    ("t_final", "h", "word"),
    [(-1.0, 1e-3, "forward"), (1.0, None, "h = None"), (1.0, -0.1, "h = -0.1"), (1, [0.3], "add")],
)
def test_times_and_steps_are_checked(run, mechanism_called, t_final, h, word):
    with pytest.raises(InvalidOptionError, match=word):
        run(mechanism_called("assimulo_pendulum"), t_final, "StabilizedRK2", h, gains=GAINS)


def test_gains_too_harsh_for_the_step_are_refused(run, mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    with pytest.raises(InvalidOptionError, match=r"too large for the gains.* factor 1\.5"):
        run(o, 1.0, "StabilizedEuler", 0.01, gains=Gains.baumgarte(250.0))  # root 1 - 2.5


def test_what_was_computed_before_a_failure_is_kept(run, mechanism_called):
    o = mechanism_called("assimulo_pendulum")

    def force(t, q, v):
        return np.array([0.0, np.nan if t > 0.5 else -9.81])

    with pytest.raises(CallbackError, match=r"not finite at t = 0\.50[0-9]*") as caught:
        run(o.replace(force=force), 1.0, "StabilizedRK2", 0.01, gains=GAINS)
    assert caught.value.solution.t[-1] == pytest.approx(0.5, abs=0.011)
    assert np.isfinite(caught.value.solution.q).all()
