"""First-order states: order, exactness, units, stiffness, and all that a solution has of q."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from genalpha import Mechanism, consistent_initial_values, integrate
from genalpha.errors import CallbackError, DerivativeError, InvalidOptionError
from genalpha.numerics.coefficients import Coefficients

from .driven import Made

Array = np.ndarray

QUANTITIES = ("q", "v", "z", "vdot", "zdot", "lam", "psi")
#: Schemes, and the kinds of constraints that they take together.
CASES = [
    ("GenAlphaI3", True, True),
    ("GenAlphaSOI2", True, True),
    ("HHTI2", True, False),
    ("HHTI2", False, True),
]


def errors(made: Made, scheme: str, **options: Any) -> tuple[int, dict[str, float]]:
    """Return the number of steps, and the largest error of each quantity."""
    found = integrate(made.mechanism(), 1.0, scheme=scheme, **options)
    exact = [made.motion(t) for t in found.t]
    largest = {}
    for key in QUANTITIES:
        values = getattr(found, key)
        if values.shape[1]:
            largest[key] = float(np.abs(values - [getattr(x, key) for x in exact]).max())
    return found.t.size - 1, largest


@pytest.mark.parametrize("steps", ["fixed", "alternating", "adaptive"])
@pytest.mark.parametrize(("scheme", "holonomic", "nonholonomic"), CASES)
def test_order_two(scheme: str, holonomic: bool, nonholonomic: bool, steps: str) -> None:
    """M(t, q), nonlinear coupling both ways, constraints of both kinds.

    Newton's iteration is to leave nothing: its accuracy follows the tolerance in adaptive runs,
    whose order is that of a line through several.
    """
    made = Made(holonomic, nonholonomic)
    options = {
        "fixed": [{"h": 1.0 / n} for n in (30, 120)],
        "alternating": [{"h": np.tile([2.0 / (3 * n), 4.0 / (3 * n)], n // 2)} for n in (30, 120)],
        "adaptive": [{"rtol": x, "atol": x} for x in 1e-5 * 4.0 ** -np.arange(5)],
    }[steps]
    counts, runs = zip(
        *(errors(made, scheme, newton_accuracy=1e-10, **x) for x in options), strict=True
    )
    for key in runs[0]:
        order = -np.polyfit(np.log(counts), np.log([x[key] for x in runs]), 1)[0]
        assert 1.8 < order < 2.3, (key, order, runs[-1][key])


def first_order_generalized_alpha(
    c: Coefficients, rate: Any, h: float, n: int, z0: float, a0: float
) -> Array:
    """Return z of Jansen, Whiting and Hulbert (2000), section 2, for z' = A(t) z + b(t).

    Their alpha_m, alpha_f weigh the new values: 1 - alpha_m, 1 - alpha_f of ours.
    """
    am, af, gamma = 1.0 - c.alpha_m, 1.0 - c.alpha_f, c.gamma
    t, z, zdot, found = 0.0, z0, a0, [z0]
    old = rate(0.0) @ [z0, 1.0]  # the rate at t_n, whose mean with that at t_n+1 is theirs
    for _ in range(n):
        A, b = rate(t + h)
        # am a1 + (1 - am) a0 = af (A z1 + b) + (1 - af) old, z1 = z + h ((1 - gamma) a0 + gamma a1)
        known = z + h * (1.0 - gamma) * zdot
        right = af * (A * known + b) + (1.0 - af) * old - (1.0 - am) * zdot
        a1 = right / (am - af * A * h * gamma)
        t, z, zdot = t + h, known + h * gamma * a1, a1
        old = A * z + b
        found.append(z)
    return np.array(found)


@pytest.mark.parametrize("decay", [-1.0, -1e5])
@pytest.mark.parametrize(
    ("scheme", "options", "c"),
    [
        ("GenAlphaI3", {"rho_inf": 0.7}, Coefficients.chung_hulbert(0.7)),
        ("GenAlphaSOI2", {"rho_inf": 0.7}, Coefficients.chung_hulbert(0.7)),
        ("HHTI2", {"alpha": -0.2}, Coefficients.hht(-0.2)),
    ],
)
def test_without_coupling(scheme: str, options: Any, c: Coefficients, decay: float) -> None:
    """z is that of the first-order scheme, q and v what they are without z, to rounding."""

    def linear(t: float) -> Array:
        return np.array([decay, np.cos(t)])

    both = Mechanism(
        force=lambda t, q, v, z: np.array([0.0, -9.81]),
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: q @ q - 1.0,
        holonomic_jacobian=lambda t, q: 2.0 * q[None],
        z0=[0.3],
        state_rate=lambda t, q, v, z: np.array([linear(t) @ [z[0], 1.0]]),
    )
    alone = Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81]),
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: q @ q - 1.0,
        holonomic_jacobian=lambda t, q: 2.0 * q[None],
    )
    chosen = {**options, "scheme": scheme, "h": 0.01, "start": "plain", "newton_accuracy": 1e-13}
    found, without = integrate(both, 0.5, **chosen), integrate(alone, 0.5, **chosen)
    wanted = first_order_generalized_alpha(c, linear, 0.01, 50, 0.3, linear(0.0) @ [0.3, 1.0])
    np.testing.assert_allclose(found.z[:, 0], wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())
    for key in ("q", "v", "lam"):
        np.testing.assert_allclose(getattr(found, key), getattr(without, key), atol=1e-10)


def lift(pace: float, **changes: Any) -> Mechanism:
    """Return a mass on a pendulum's arm, lifted by a pressure that follows with 1 / pace."""

    def wanted(t: float, q: Array, v: Array) -> float:
        return 2e7 * (1.0 + 0.3 * np.sin(2.0 * t)) - 4e6 * q[0] - 1e6 * v[0]

    chosen = {
        "force": lambda t, q, v, z: np.array([1e-6 * z[0] - 9.81, -2.0 * q[1]]),
        "q0": [0.6, -0.8],
        "v0": [0.0, 0.0],
        "holonomic": lambda t, q: q @ q - 1.0,
        "z0": [wanted(0.0, np.array([0.6, -0.8]), np.zeros(2))],
        "state_rate": lambda t, q, v, z: np.array([pace * (wanted(t, q, v) - z[0])]),
        "state_names": ["pressure"],
        "name": "lift",
    }
    if not pace:  # quasi-static: the pressure is what it is wanted to be
        chosen["force"] = lambda t, q, v: np.array([1e-6 * wanted(t, q, v) - 9.81, -2.0 * q[1]])
        chosen |= {"z0": None, "state_rate": None, "state_names": None}
    return Mechanism(**chosen | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_stiff_pressure_needs_no_more_steps(scheme: str) -> None:
    """Time constant 1e-6 of the motion, in units far from those of the coordinates."""
    chosen = {"scheme": scheme, "rtol": 1e-5, "atol": 1e-5}
    stiff, quasi_static = (integrate(lift(x), 3.0, **chosen) for x in (1e6, 0.0))
    assert stiff.steps.size <= 1.05 * quasi_static.steps.size + 2
    assert np.abs(stiff.q[-1] - quasi_static.q[-1]).max() < 3e-4
    assert stiff.statistics.nniters < 1.6 * quasi_static.statistics.nniters + 20


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_units_of_states_do_not_matter(scheme: str, unit: float) -> None:
    """With fixed steps, the motion of a mechanism is the same whatever z is measured in."""
    made = Made(True, False)
    o = made.mechanism()
    start = made.motion(0.0)
    scaled = made.mechanism(
        force=lambda t, q, v, z: made.force(t, q, v, z / unit),
        state_rate=lambda t, q, v, z: unit * made.rate(t, q, v, z / unit),
        z0=unit * start.z,
    )
    chosen = {"scheme": scheme, "h": 0.02}
    found, other = integrate(o, 1.0, **chosen), integrate(scaled, 1.0, **chosen)
    np.testing.assert_allclose(other.q, found.q, atol=1e-10)
    np.testing.assert_allclose(other.lam, found.lam, atol=1e-7)
    np.testing.assert_allclose(other.z / unit, found.z, atol=1e-9)


def test_tolerance_of_each_state() -> None:
    """`atol` is for [q, v, z, lam, psi]; a state without tolerance to speak of costs no steps."""
    o = Made(True, False).mechanism()
    size = 3 + 3 + 2 + 1
    few = integrate(o, 1.0, rtol=0.0, atol=np.r_[np.full(6, 1e-4), 1e3, 1e3, 1.0])
    many = integrate(o, 1.0, rtol=0.0, atol=np.r_[np.full(6, 1e-4), 1e-9, 1e-9, 1.0])
    assert many.steps.size > 5 * few.steps.size
    with pytest.raises(InvalidOptionError, match="atol"):
        integrate(o, 1.0, atol=np.full(size + 2, 1e-4))


def test_solution_has_states() -> None:
    """Names, tables, dense output, continuation and pickles, as for q."""
    made = Made(True, False)
    o = made.mechanism(
        state_names=["current", "charge"], energy=lambda t, q, v, z: float(v @ v + z[0])
    )
    found = integrate(o, 0.5, h=0.01)
    assert found.mechanism is o and found.q.shape[1] == 3 and found.a.shape[1] == 3
    assert found.z.shape == found.zdot.shape == (51, 2)
    between = found(0.123)
    np.testing.assert_allclose(between.z, made.motion(0.123).z, atol=1e-4)
    assert between.q.shape == (3,) and found([0.1, 0.2]).z.shape == (2, 2)
    np.testing.assert_allclose(
        found.energy(), [v @ v + z[0] for v, z in zip(found.v, found.z, strict=True)]
    )
    longer = found.continued(1.0)
    whole = integrate(o, 1.0, h=0.01)
    np.testing.assert_allclose(longer.z, whole.z, atol=1e-12)
    assert found.residuals().largest("velocity").max() < 1e-9
    assert found.reaction(0).shape == (51, 3)
    o = Made(True, False).mechanism()
    assert np.array_equal(pickle.loads(pickle.dumps(o)).z0, o.z0)
    again = pickle.loads(pickle.dumps(integrate(o, 0.1, h=0.01)))
    assert again.z.shape == (11, 2) and again.mechanism.n_z == 2


def test_frame_has_states() -> None:
    """Columns of states have their names."""
    pytest.importorskip("pandas")
    o = Made(True, False).mechanism(state_names=["current", "charge"])
    found = integrate(o, 0.1, h=0.01)
    np.testing.assert_array_equal(found.to_frame()["z", "charge"], found.z[:, 1])


def test_events_know_states() -> None:
    """A function of four arguments gets z, one of three does not; an impact may change z."""

    def full(t: float, q: Array, v: Array, z: Array) -> float:
        return z[0] - 1.0

    def emptied(t: float, q: Array, v: Array, z: Array) -> tuple[Array, Array, Array]:
        return q, v, 0.0 * z

    full.impact = emptied  # type: ignore[attr-defined]
    tank = Mechanism(
        force=lambda t, q, v, z: -q, q0=[1.0], v0=[0.0], z0=[0.0],
        state_rate=lambda t, q, v, z: np.ones(1),
    )  # fmt: skip
    found = integrate(tank, 3.5, events=[full, lambda t, q, v: q[0]], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.t_events[0], [1.0, 2.0, 3.0], atol=1e-9)
    np.testing.assert_allclose(found.z_events[0], np.ones((3, 1)), atol=1e-9)
    np.testing.assert_allclose(found.t_events[1], [np.pi / 2], atol=1e-5)
    np.testing.assert_allclose(found.z[-1], [0.5], atol=1e-9)
    full.impact = lambda t, q, v: (q, v, [1.0, 2.0])  # type: ignore[attr-defined]
    with pytest.raises(CallbackError, match=r"\(q, v, z\)"):
        integrate(tank, 3.5, events=full)


def test_wanted_error() -> None:
    """Extrapolation knows states as well."""
    made = Made(True, False)
    found = integrate(made.mechanism(), 1.0, error=1e-6)
    exact = np.array([made.motion(t).z for t in found.t])
    assert np.abs(found.z - exact).max() < 1e-6


def test_start_keeps_states() -> None:
    """A velocity off a constraint that knows z is moved, z is not."""
    o = Made(True, True).mechanism(v0=[1.1, 0.0, 0.5])
    start = consistent_initial_values(o)
    np.testing.assert_array_equal(start.z, o.z0)  # type: ignore[attr-defined]
    moved = o.replace(v0=start.v)
    assert np.abs(moved.residuals().velocity).max() < 1e-12
    assert np.abs(o.residuals().velocity).max() > 1e-3
    exact = consistent_initial_values(Made(True, True).mechanism())
    motion = Made(True, True).motion(0.0)
    for key in ("vdot", "lam", "psi", "zdot"):
        np.testing.assert_allclose(getattr(exact, key), getattr(motion, key), atol=1e-9)


def derivatives() -> dict[str, Any]:
    """Return all derivatives of `lift`."""
    return {
        "stiffness": lambda t, q, v, z, vdot, lam, psi: np.diag([2.0 * lam[0], 2.0 + 2.0 * lam[0]]),
        "damping": np.zeros((2, 2)),
        "state_coupling": np.array([[-1e-6], [0.0]]),
        "state_rate_jacobian": 50.0 * np.array([[-4e6, 0.0, -1e6, 0.0, -1.0]]),
        "holonomic_jacobian": lambda t, q: 2.0 * q[None],
    }


def test_derivatives_are_used_and_checked() -> None:
    """Given ones lead to the same motion with fewer calls; wrong ones are named."""
    o, given = lift(50.0), lift(50.0, **derivatives())
    assert set(given.check_derivatives()) >= {"stiffness", "state_coupling", "state_rate_jacobian"}
    found, other = integrate(o, 1.0, h=0.01), integrate(given, 1.0, h=0.01)
    np.testing.assert_allclose(other.q, found.q, atol=1e-9)
    assert other.statistics.calls["force"] < found.statistics.calls["force"]
    assert other.statistics.calls["state_rate"] < found.statistics.calls["state_rate"]
    for key, wrong in (
        ("state_coupling", np.array([[1e-6], [0.0]])),
        ("state_rate_jacobian", 50.0 * np.array([[-4e6, 0.0, 1e6, 0.0, -1.0]])),
    ):
        with pytest.raises(DerivativeError, match=key):
            lift(50.0, **derivatives() | {key: wrong}).check_derivatives()


def test_narrow_callbacks() -> None:
    """All callbacks are methods that take and return what the user means."""
    o, made = Made(True, True).mechanism(), Made(True, True)
    q, v, vdot, z, _ = made.exact(0.3)
    lam, psi = made.multipliers(0.3)
    np.testing.assert_allclose(o.force(0.3, q, v, z), made.force(0.3, q, v, z))
    np.testing.assert_allclose(o.state_rate(0.3, q, v, z), made.rate(0.3, q, v, z))
    np.testing.assert_allclose(o.mass(0.3, q), made.mass(0.3, q))
    np.testing.assert_allclose(o.nonholonomic_jacobian(0.3, q, v, z), made.K(0.3, q, v, z))
    by_z = o.nonholonomic_state_jacobian(0.3, q, v, z)
    np.testing.assert_allclose(by_z, [[-z[1], -z[0] + 0.1]], atol=1e-8)
    reaction = -made.G(0.3, q).T @ lam - made.K(0.3, q, v, z).T @ psi
    np.testing.assert_allclose(o.reaction(0.3, q, v, z, lam, psi), reaction)
    assert o.stiffness(0.3, q, v, z, vdot, lam, psi).shape == (3, 3)
    assert o.state_coupling(0.3, q, v, z, vdot, lam, psi).shape == (3, 2)
    assert o.state_rate_jacobian(0.3, q, v, z).shape == (2, 8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"z0": None}, "state_rate is given but z0"),
        ({"state_rate": None}, "state_rate is None; expected a callable"),
        ({"z0": [np.nan, 1.0]}, r"z0\[0\] is nan"),
        ({"force": lambda t, q, v: q}, r"force takes .* is called with \(t, q, v, z\)"),
        ({"state_names": ["one"]}, "state_names"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], words: str) -> None:
    """Errors speak of what the user has given."""
    with pytest.raises(InvalidOptionError, match=words):
        Made().mechanism(**change)


def test_wrong_sizes_are_named() -> None:
    """So do errors of callbacks."""
    with pytest.raises(
        CallbackError, match=r"state_rate returned shape \(3,\) at t = 0; expected \(2,\)"
    ):
        Made().mechanism(state_rate=lambda t, q, v, z: np.zeros(3))
