"""Orders 4 and 5 on the smoothed steps of adaptive runs, in everything that a mechanism has."""

import numpy as np
import pytest

from comparisons.extrapolated_orders import CASES, measured
from genalpha.mechanisms import catalogue


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("simple_pendulum", "GenAlphaI3"),
        ("spherical_pendulum", "GenAlphaSOI2"),
        ("driven_pendulum", "HHTI2"),
        ("jay_negrut_test", "GenAlphaSOI2"),
        ("rolling_disk", "HHTI2"),
        ("chaplygin_sleigh", "GenAlphaI3"),
    ],
)
def test_orders_on_adaptive_grids(name, scheme):
    o = catalogue()[name]()
    for columns, base in zip((3, 4), CASES[name], strict=True):
        orders = measured(o, scheme, "adaptive", base, columns)
        assert {"q", "v", "a"} < set(orders)
        known = [x for x in orders.values() if not np.isnan(x)]
        assert known
        assert min(known) > columns + 1 - 0.5, orders
