"""Integrated references against the independent 30-digit computation in computed.json."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources

import numpy as np
import pytest

from genalpha import mechanisms
from genalpha.model import Motion

_FOLDER = resources.files("genalpha.mechanisms") / "references"
_CASES = json.loads((_FOLDER / "computed.json").read_text())["cases"]


def _all(motion: Motion) -> np.ndarray:
    return np.concatenate([motion.q, motion.v])


def _columns(*columns: int) -> Callable[[Motion], np.ndarray]:
    return lambda motion: np.concatenate([motion.q[list(columns)], motion.v[list(columns)]])


def _driven(motion: Motion) -> np.ndarray:
    t = 2.0
    x, y = motion.q - np.array([0.2, 0.1]) * np.sin(5.0 * t)
    vx, vy = motion.v - np.array([1.0, 0.5]) * np.cos(5.0 * t)
    return np.array([np.arctan2(x, -y), x * vy - y * vx])


def _spherical(motion: Motion) -> np.ndarray:
    (x, y, z), (vx, vy, vz) = motion.q, motion.v
    out = np.hypot(x, y)
    azimuth, turn = np.arctan2(y, x), (x * vy - y * vx) / out**2
    return np.array([np.arctan2(out, -z), azimuth, vz / out, turn])


#: From our motion to the coordinates and rates of the independent computation.
_MAPS: dict[str, Callable[[Motion], np.ndarray]] = {
    "pendulum_jn": _columns(2),
    "driven_pendulum": _driven,
    "rolling_disk": _all,
    "chaplygin_sleigh": _all,
    "spherical_pendulum": _spherical,
    "four_bar": _columns(2, 5, 8),
    "slider_crank": _columns(2, 5, 7),
    "chain": _columns(*range(2, 15, 3)),
    "closed_chain": _columns(*range(2, 18, 3)),
}


def test_every_computed_case_is_compared() -> None:
    assert set(_MAPS) == set(_CASES)


@pytest.mark.parametrize("name", list(_CASES))
def test_reference_agrees_with_the_second_way(name: str) -> None:
    reference = mechanisms.catalogue()[name]().reference
    for row in _CASES[name]["table"]:
        expected = np.array(row["x"], dtype=float)
        ours = _MAPS[name](reference.motion(float(row["t"])))
        error = ours - expected
        k = len(expected) // 2
        # angles from atan2 are known up to full turns
        error[:k] -= 2.0 * np.pi * np.round(error[:k] / (2.0 * np.pi))
        relative = np.abs(error) / np.maximum(1.0, np.abs(expected))
        assert row["digits"] > reference.digits
        assert relative.max() < 10.0 ** -(reference.digits - 1.0), relative
