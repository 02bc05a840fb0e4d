"""Arguments and options that no one should give, and that somebody will."""

from __future__ import annotations

import decimal
import fractions
from typing import Any

import numpy as np

from tests.fuzz.models import Random

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 10**400, 0.0, 0.5, -0.5, 1e300, 1e-300, np.nan, np.inf, -np.inf,
    1j, "", "x", "least", b"x", [], [0.1], [0.1, 0.2], [[1.0]], [[1.0, 2.0], [3.0]], (), {},
    {"x": 1}, set(), object(), Ellipsis, lambda: 1.0, lambda *_: None, lambda *_: 1.0,
    lambda *_: "x", np.array([]), np.zeros((2, 2, 2)), np.array(["a"]), np.array([1.0, np.nan]),
    np.array(0.5), np.array([1j]), np.eye(2), np.eye(3), -np.eye(2), np.zeros((2, 2)),
    np.array([None, 1]), np.datetime64("2020-01-01"), decimal.Decimal("0.1"),
    fractions.Fraction(1, 3), range(3), iter([1.0]), np.ma.masked, np.float32(0.5), np.int8(1),
    np.array([1.0, 2.0], dtype=">f8"), "a" * 10_000,
)  # fmt: skip


def draw_value(random: Random) -> Any:
    return VALUES[int(random.integers(len(VALUES)))]
