"""Published numbers against the mechanisms' own references, and facts about the papers."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest

from genalpha import mechanisms


def _data(name: str) -> dict:
    folder = resources.files("genalpha.mechanisms") / "references"
    return json.loads((folder / f"{name}.json").read_text())


def test_simple_pendulum_reproduces_the_table() -> None:
    case = _data("simple_pendulum")["cases"]["iftomm_A01"]
    reference = mechanisms.simple_pendulum().reference
    for row in case["table"]:
        motion = reference.motion(float(row["t"]))
        expected = [float(row[key]) for key in ("x", "y", "vx", "vy", "lam")]
        np.testing.assert_allclose(
            np.concatenate([motion.q, motion.v, motion.lam]), expected, rtol=0, atol=1e-12
        )


def test_assimulo_pendulum_reproduces_the_table() -> None:
    case = _data("simple_pendulum")["cases"]["assimulo"]
    reference = mechanisms.assimulo_pendulum().reference
    for row in case["table"]:
        motion = reference.motion(float(row["t"]))
        expected = [float(value) for value in row["y"]]
        np.testing.assert_allclose(
            np.concatenate([motion.q, motion.v, motion.lam]), expected, rtol=0, atol=2e-12
        )


def test_pendulum_that_starts_with_speed_reproduces_published_values() -> None:
    case = _data("simple_pendulum")["cases"]["cash_mebdfdae"]
    pendulum = mechanisms.simple_pendulum(gravity=1.0, angle0=0.5 * np.pi, rate0=1.0)
    motion = pendulum.reference.motion(1.0)
    expected = [float(value) for value in case["own_reference"]["values"]]
    np.testing.assert_allclose(
        np.concatenate([motion.q, motion.v, motion.lam]), expected, rtol=0, atol=1e-14
    )


@pytest.mark.parametrize(("angle0", "rate0"), [(7.0, -0.5), (0.3, 8.0), (2.0, -9.0), (13.5, 0.0)])
def test_elliptic_solution_swings_and_turns_over(angle0: float, rate0: float) -> None:
    pendulum = mechanisms.simple_pendulum(angle0=angle0, rate0=rate0)
    driven = mechanisms.driven_pendulum(horizontal=0.0, vertical=0.0, angle0=angle0, rate0=rate0)
    for t in (0.0, 0.4, 1.7, 3.0):
        exact, integrated = pendulum.reference.motion(t), driven.reference.motion(t)
        for one, other in zip(exact, integrated, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-10)


def test_knife_edge_reproduces_the_table() -> None:
    reference = mechanisms.knife_edge().reference
    for row in _data("knife_edge")["table"]:
        motion = reference.motion(float(row["t"]))
        np.testing.assert_allclose(motion.q, np.array(row["q"], dtype=float), atol=1e-13)
        np.testing.assert_allclose(motion.v, np.array(row["v"], dtype=float), atol=1e-13)
        np.testing.assert_allclose(motion.psi, [float(row["lam"])], atol=1e-13)


def test_printed_rolling_disk_does_not_conserve_energy() -> None:
    """Without -I2 v3 v5 cos q3 in f_4, as printed, the power of all forces is not zero."""
    disk = mechanisms.rolling_disk()
    power = {"lagrangian": 0.0, "printed": 0.0}
    for t in np.linspace(0.1, 10.0, 30):
        q, v, vdot, _, psi = disk.reference.motion(t)
        mass, reaction = disk.mass(t, q), disk.reaction(t, q, v, np.zeros(0), psi)
        lacking = np.zeros(5)
        lacking[3] = 2.0 * v[2] * v[4] * np.cos(q[2])
        for key, force in (
            ("lagrangian", disk.force(t, q, v)),
            ("printed", disk.force(t, q, v) + lacking),
        ):
            # dE/dt along the motion these forces would make from the same (q, v)
            change = np.linalg.solve(mass, force + reaction) - vdot
            power[key] = max(power[key], abs(v @ mass @ change))
    assert power["lagrangian"] < 1e-12
    assert power["printed"] > 1e-5


def _deviation(motion, values: list[str]) -> np.ndarray:
    expected = np.array([float(value) for value in values])
    ours = np.concatenate(motion)
    return np.abs(ours - expected) / np.maximum(np.abs(expected), 1.0)


def test_andrews_reproduces_the_references() -> None:
    data = _data("andrews_squeezer")
    motion = mechanisms.andrews_squeezer().reference.motion(0.03)
    own = _deviation(motion[:4], data["own_reference"]["values"])
    assert own.max() < 1e-10
    published = _deviation(motion[:1], data["published_reference"]["values"][:7])
    assert published.max() < 1e-8
    start = mechanisms.andrews_squeezer().reference.motion(0.0)
    np.testing.assert_allclose(start.vdot, np.array(data["initial"]["acc"], float), atol=1e-8)


def test_andrews_in_absolute_coordinates_is_the_same_mechanism() -> None:
    angles, absolute = mechanisms.andrews_squeezer(), mechanisms.andrews_absolute()
    assert (absolute.n_q, absolute.n_lam) == (31, 30)
    for t in (0.0, 0.004, 0.011):
        relative, own = angles.reference.motion(t), absolute.reference.motion(t)
        _, a2, a3, a4, a5, a6, a7 = relative.vdot
        expected = [relative.vdot[0], relative.vdot[0] + a2, a3, a4 + a5, a5, a6 + a7, a7]
        np.testing.assert_allclose(own.vdot[:7], expected, rtol=1e-9, atol=1e-5)


def test_car_axis_reproduces_the_references() -> None:
    data = _data("car_axis")
    q, v, vdot, lam, _ = mechanisms.car_axis().reference.motion(3.0)
    for key, tolerance in (("own_reference", 1e-11), ("published_reference", 1e-10)):
        assert _deviation((q, v, -lam), data[key]["values"]).max() < tolerance
    assert _deviation((vdot,), data["own_reference"]["acc"]).max() < 1e-9


def test_heavy_top_reproduces_the_tables() -> None:
    data = _data("heavy_top")
    reference = mechanisms.heavy_top().reference
    for row in data["own_reference"]:
        q, v, vdot, lam, _ = reference.motion(float(row["t"]))
        assert _deviation((q[3:], q[:3]), row["euler_parameters"] + row["x"]).max() < 1e-11
        assert _deviation((v[:3], vdot[:3]), row["v"] + row["a"]).max() < 1e-10
        assert _deviation((-lam[:3],), row["reaction_force_on_body"]).max() < 1e-10
    published = np.array(data["published"]["euler_parameters_RK4"], dtype=float)
    np.testing.assert_allclose(reference.motion(0.2).q[3:], published, atol=5e-6)


def test_flexible_pendulum_agrees_with_the_second_way() -> None:
    reference = mechanisms.flexible_pendulum().reference
    for row in _data("beam")["table"]:
        motion = reference.motion(float(row["t"]))
        n = motion.q.size
        assert _deviation((motion.q,), row["values"][:n]).max() < 1e-12
        assert _deviation((motion.v,), row["values"][n:]).max() < 1e-9
