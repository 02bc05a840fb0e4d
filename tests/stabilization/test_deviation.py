"""Theorems 6 and 7: norms that contract, remainders, bounds, and gains that keep them."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.errors import InvalidOptionError
from genalpha.stabilization.deviation import contracting_norm, step_matrix
from genalpha.stabilization.gains import Gains
from genalpha.stabilization.options import StabilizedOptions
from genalpha.stabilization.system import Recorder, StabilizedSystem

SCHEMES = {"StabilizedEuler": 1, "StabilizedRK2": 2}
MECHANISMS = {
    "assimulo_pendulum": (4e-3, 400),
    "driven_pendulum": (4e-3, 400),
    "slider_crank": (2e-4, 400),
    "andrews_squeezer": (1e-5, 300),
    "knife_edge": (5e-3, 400),
    "rolling_disk": (5e-3, 200),
}


def companion(gains, m=1, l=0):  # noqa: E741
    return gains.sized(m, l).constant


def test_eulers_step_matrix_never_contracts_in_the_maximum_norm():
    """As printed, condition 3) of Theorem 6 can hold for no holonomic constraint."""
    for alpha in np.logspace(-2, 4, 25):
        Phi = step_matrix(companion(Gains.baumgarte(alpha)), 1e-3, 1)
        assert np.linalg.norm(Phi, np.inf) >= 1.0 + 1e-3 - 1e-15
        assert np.linalg.norm(Phi, 2) > 1.0


def test_runge_kutta_can_contract_in_every_norm():
    """A11 = -2 / h makes Phi a multiple of the identity; A10 = -2 / h^2 makes it zero."""
    h = 1e-3
    for a in (0.5, 1.0, 2.0, 3.0):
        Phi = step_matrix(companion(Gains(A10=-a / h**2, A11=-2.0 / h)), h, 2)
        assert Phi == pytest.approx((1.0 - a / 2.0) * np.eye(2), abs=1e-9)


def test_the_step_matrix_of_gains_that_vary_has_their_rate():
    """(5.13): one Runge-Kutta step of alpha' = A~(t) alpha, up to h^3."""

    def A(t):
        return np.array([[0.0, 1.0], [-4.0 - np.sin(3.0 * t), -4.0 * np.cos(t)]])

    t, rate = 0.3, np.array([[0.0, 0.0], [-3.0 * np.cos(0.9), 4.0 * np.sin(0.3)]])
    left = []
    for h in (1e-2, 5e-3):
        exact = np.eye(2) + h * A(t + 0.5 * h) @ (np.eye(2) + 0.5 * h * A(t))
        left.append(np.abs(step_matrix(A(t), h, 2, rate) - exact).max())
    assert np.log2(left[0] / left[1]) == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kappa", [0.001, 0.1, 0.7, 1.0])
def test_the_weighted_norm_contracts(order, kappa):
    h = 1e-3
    A = Gains.baumgarte(kappa / h).sized(3, 2)
    Phi = step_matrix(A.constant, h, order)
    random = np.random.default_rng(3)
    remainders = random.uniform(-1.0, 1.0, (50, 8)) * [h**2, h**3, h**2, h, h, h, h**2, 1.0]
    norm = contracting_norm(Phi, A.pattern(), remainders)
    assert norm.count == 5  # (f_i, f_dot_i) for each of 3, and 2 alone
    q = norm.contraction(Phi)
    assert np.all(q < 1.0)
    for x in random.uniform(-1.0, 1.0, (200, 8)):
        assert np.all(norm.of(Phi @ x) <= q * norm.of(x) * (1.0 + 1e-9))
        assert np.all(np.abs(x) <= norm.reach * norm.of(x)[norm.blocks] * (1.0 + 1e-9))


@pytest.mark.parametrize(
    ("alpha", "ratio", "h", "contracts"),
    [
        (1.0, 1.0, 1e-6, True),  # a double root that rounding splits, next to 1
        (1.0 / 3e-7, 2.0**0.5, 3e-7, False),  # two roots on the unit circle, up to rounding
        (1.0 / 3e-7, 1.0, 3e-7, True),  # nilpotent, with entries of 3e6
    ],
)
def test_norms_at_the_edges(alpha, ratio, h, contracts):
    A = Gains.baumgarte(alpha, ratio * alpha).sized(1, 0)
    Phi = step_matrix(A.constant, h, 1)
    norm = contracting_norm(Phi, A.pattern(), np.array([[1e-10, 1e-4]]))
    assert (norm.contraction(Phi)[0] < 1.0) == contracts


def test_coupled_constraints_are_one_block():
    A = Gains(A10=[[-9.0, 1.0], [0.0, -9.0]], A11=-6.0, A22=-3.0).sized(2, 1)
    norm = contracting_norm(step_matrix(A.constant, 0.01, 1), A.pattern(), np.full((1, 5), 1e-4))
    assert norm.count == 2
    assert len(set(norm.blocks[:4])) == 1


def test_the_remainder_of_eulers_method_is_the_curvature(run, mechanism_called, off_constraints):
    """For f = (|q|^2 - L^2) / 2 it is exactly h^2 |v|^2 / 2, and h^2 v . v' for f_dot."""
    h = 1e-3
    o = off_constraints(mechanism_called("assimulo_pendulum"), [1e-3, 1e-2])
    gains = Gains.baumgarte(20.0)
    s = run(o, 0.3, "StabilizedEuler", h, gains=gains)
    g = s.deviation.values
    Phi = step_matrix(companion(gains), h, 1)
    left = g[1:] - g[:-1] @ Phi.T
    v, vdot = s.v[:-1], np.diff(s.v, axis=0) / h
    assert left[:, 0] == pytest.approx(0.5 * h**2 * (v**2).sum(axis=1), abs=1e-15)
    assert left[:, 1] == pytest.approx(h**2 * (v * vdot).sum(axis=1), abs=1e-14)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_promises_are_kept_on_and_off_the_constraints(
    run, mechanism_called, automatic, off_constraints, name, scheme
):
    """The bound is fixed before the run; starts lie on the constraints, or off them by eps."""
    h, steps = MECHANISMS[name]
    o = mechanism_called(name)
    t_final = o.t0 + steps * h
    system = automatic(name, scheme, h, t_final)
    promise = system.promise
    random = np.random.default_rng(11)
    edge = promise.edge(random.uniform(-1.0, 1.0, promise.components.size))
    assert promise.norm.of(edge) == pytest.approx(promise.eps)
    for start in (0.0 * edge, (1.0 - 1e-3) * edge):
        moved = off_constraints(o, start)
        s = run(moved, t_final, scheme, h, gains=system.gains)
        assert s.deviation.values[0] == pytest.approx(start, abs=1e-12)
        assert np.all(s.deviation.measured <= promise.components)
        assert np.all(s.deviation.measured <= s.deviation.guaranteed * (1.0 + 1e-9))
        assert np.all(s.deviation.guaranteed <= 1.5 * promise.components)
    # the bound is no giant: within a factor of 20 of what was measured from a consistent start
    consistent = run(o, t_final, scheme, h, gains=system.gains).deviation
    assert np.all(promise.components.max() <= 20.0 * consistent.measured.max())


@pytest.mark.parametrize("name", ["assimulo_pendulum", "slider_crank", "knife_edge"])
def test_without_stabilization_deviations_grow(run, mechanism_called, name):
    h, steps = MECHANISMS[name]
    o = mechanism_called(name)
    t_final = o.t0 + steps * h
    free = run(o, t_final, "StabilizedEuler", h, gains=Gains.none()).deviation
    kept = run(o, t_final, "StabilizedEuler", h).deviation
    first = slice(0, o.n_lam or o.n_psi)
    size = np.abs(free.values[:, first]).max(axis=1)
    assert size[-1] > 1.5 * size[steps // 4]
    assert free.measured[first].max() > 20.0 * kept.measured[first].max()
    assert np.all(np.isinf(free.guaranteed))


def test_a_wish_is_granted_with_the_gentlest_gains(run, mechanism_called):
    o, h = mechanism_called("assimulo_pendulum"), 1e-3
    strict = run(o, 2.0, "StabilizedEuler", h, eps=(1e-3, 0.2))
    loose = run(o, 2.0, "StabilizedEuler", h, eps=(1e-2, 1.0))
    for s, eps in ((strict, [1e-3, 0.2]), (loose, [1e-2, 1.0])):
        assert s.deviation.breach is None
        assert np.all(s.deviation.measured <= s.deviation.promised)
        assert np.all(s.deviation.promised <= np.array(eps) * (1.0 + 1e-12))
        assert np.any(s.deviation.promised > 0.99 * np.array(eps))
    assert loose.gains.A11 > strict.gains.A11  # negative: gentler


def test_one_eps_for_both_levels(run, mechanism_called):
    s = run(mechanism_called("assimulo_pendulum"), 1.0, "StabilizedRK2", 1e-3, eps=1e-3)
    assert np.all(s.deviation.measured <= 1e-3)
    assert s.deviation.breach is None


def test_an_impossible_wish_says_how_far_gains_get(run, mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    with pytest.raises(InvalidOptionError, match=r"no gains guarantee eps = \(1e-08, 1e-08\)"):
        run(o, 1.0, "StabilizedEuler", 1e-2, eps=1e-8)


def test_a_start_outside_the_wish_is_impossible_too(run, mechanism_called, off_constraints):
    o = off_constraints(mechanism_called("assimulo_pendulum"), [1e-2, 0.0])
    with pytest.raises(InvalidOptionError, match=r"a start that is off by 0\.01"):
        run(o, 1.0, "StabilizedRK2", 1e-3, eps=1e-3)


def test_a_broken_promise_is_reported(run, mechanism_called):
    """The pilot motion is that of weak gravity; later it is strong, and nobody said so."""
    o = mechanism_called("assimulo_pendulum")
    calls = {"strong": False}

    def force(t, q, v):
        return np.array([0.0, -1000.0 if calls["strong"] and t > 0.5 else -1.0])

    late = o.replace(force=force)
    options = StabilizedOptions("StabilizedEuler")
    system = StabilizedSystem(late, options, 1e-3, 1.0)
    calls["strong"] = True
    recorder, x = Recorder(system.perturbation, 1, system.promise), system.x0
    for i in range(1000):
        now = system.evaluate(1e-3 * i, x)
        recorder.add(1e-3 * i, 1e-3 if i else 0.0, x, now.deviation)
        x = x + 1e-3 * now.xdot
    found = recorder.result()
    assert found.breach == pytest.approx(0.5, abs=0.1)
    assert np.any(found.measured > found.promised)


@pytest.mark.parametrize(("times", "breach"), [(0.99, None), (1.01, 7.0)])
def test_a_start_off_by_more_than_eps_breaks_the_promise(automatic, times, breach):
    system = automatic("assimulo_pendulum", "StabilizedEuler", 4e-3, 1.6)
    recorder = Recorder(system.perturbation, 1, system.promise)
    start = times * system.promise.edge(np.array([1.0, -1.0]))
    recorder.add(7.0, 0.0, system.x0, start)
    Phi = step_matrix(system.perturbation.constant, 4e-3, 1)
    recorder.add(7.004, 4e-3, system.x0, Phi @ start)
    assert recorder.result().breach == breach


@pytest.mark.parametrize("scheme", SCHEMES)
def test_gains_that_vary_are_bounded_step_by_step(run, mechanism_called, scheme):
    """Theorem 7 with A~': stiffer where the pendulum is fast."""

    def rate(q, v):
        return 20.0 + v @ v

    gains = Gains(
        A10=lambda t, q, v: -(rate(q, v) ** 2) * np.eye(1),
        A11=lambda t, q, v: -2.0 * rate(q, v) * np.eye(1),
    )
    found = run(mechanism_called("assimulo_pendulum"), 1.0, scheme, 2e-3, gains=gains).deviation
    assert np.all(np.isfinite(found.guaranteed))
    assert np.all(found.measured <= found.guaranteed)
    assert np.all(found.guaranteed <= 50.0 * found.measured)


def test_bounds_are_of_the_order_that_the_theorems_say(run, mechanism_called):
    """Constant gains: h for Euler, h^2 for Runge-Kutta, in f and in f_dot."""
    o, gains = mechanism_called("assimulo_pendulum"), Gains.baumgarte(10.0)
    for scheme, order in SCHEMES.items():
        bounds = [run(o, 1.0, scheme, h, gains=gains).deviation.guaranteed for h in (2e-3, 1e-3)]
        assert np.log2(bounds[0] / bounds[1]) == pytest.approx(order, abs=0.2)
