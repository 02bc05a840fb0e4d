"""IDA of scikit-sundae, against which the comparisons run, works here."""

import numpy as np
from sksundae.ida import IDA


def test_ida_solves_a_small_dae():
    """y' = -y, z = y^2 with z algebraic."""

    def residual(t, y, yp, res):
        res[0] = yp[0] + y[0]
        res[1] = y[1] - y[0] ** 2

    solver = IDA(residual, rtol=1e-8, atol=1e-10, algebraic_idx=[1])
    result = solver.solve(np.linspace(0.0, 1.0, 11), np.array([1.0, 1.0]), np.array([-1.0, -2.0]))
    assert result.success
    np.testing.assert_allclose(result.y[:, 0], np.exp(-result.t), atol=1e-6)
    np.testing.assert_allclose(result.y[:, 1], np.exp(-2 * result.t), atol=1e-6)
