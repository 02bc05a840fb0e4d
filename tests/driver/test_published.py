"""Convergence to published solutions: Andrews' squeezer and the car axis."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import integrate, mechanisms
from genalpha.schemes import SCHEMES


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("name", "t_final", "count"), [("andrews_squeezer", 0.03, 400), ("car_axis", 3.0, 1500)]
)
def test_second_order_in_position_velocity_and_multipliers(name, t_final, count, scheme):
    """At the published final time; the references agree with the published digits."""
    o = getattr(mechanisms, name)()
    truth = o.reference.motion(t_final)
    errors = []
    for steps in (count, 2 * count):
        solution = integrate(o, t_final, scheme, h=t_final / steps)
        pairs = ((solution.q, truth.q), (solution.v, truth.v), (solution.lam, truth.lam))
        errors.append([np.linalg.norm(x[-1] - y) for x, y in pairs])
    order = np.log2(np.divide(*errors))
    assert np.all((order > 1.85) & (order < 2.15)), order
