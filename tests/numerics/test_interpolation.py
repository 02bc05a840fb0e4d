"""Many times at once, as one by one."""

from __future__ import annotations

import numpy as np

from genalpha.numerics.interpolation import Knot, interpolate, interpolate_rows


def test_rows_are_as_one_by_one():
    random = np.random.default_rng(0)
    left = Knot(random.random(6), *(random.standard_normal((6, n)) for n in (3, 3, 3, 2, 1)))
    right = Knot(left.t + 0.3, *(random.standard_normal(x.shape) for x in left[1:]))
    t = left.t + 0.3 * random.random(6)
    found = interpolate_rows(left, right, t)
    for i in range(6):
        ends = (Knot(*(x[i] for x in knot)) for knot in (left, right))
        for x, y in zip(found, interpolate(*ends, t[i]), strict=True):
            np.testing.assert_allclose(x[i], y, rtol=1e-12, atol=1e-13)
