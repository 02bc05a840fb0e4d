"""Arrays and matrices of the user's: kept, reused or constant, the motion is the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from genalpha import Mechanism, integrate
from tests.driver.support import SCHEMES


class Buffered:
    """Every callback returns the same memory again and again, as careful users write them."""

    def __init__(self, reuse: bool) -> None:
        self._buffers = {} if reuse else None

    def _out(self, key, value):
        value = np.array(value, dtype=float)
        if self._buffers is None:
            return value
        buffer = self._buffers.setdefault(key, np.empty_like(value))
        buffer[:] = value
        return buffer

    def mass(self, t, q):
        x, y = q
        M = [[2 + np.sin(3 * x), 0.2 * y, 0], [0.2 * y, 1.5 + x * x, 0], [0, 0, 1]]
        return self._out("mass", M)[:2, :2]

    def force(self, t, q, v):
        return self._out("force", [-q[0] + v[1] * q[1], -9.81])

    def holonomic(self, t, q):
        return self._out("g", [q @ q - 1.0])

    def jacobian(self, t, q):
        return self._out("G", [2.0 * q])


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_reused_buffers_do_no_harm(scheme, given):
    ends = []
    for reuse in (False, True):
        b = Buffered(reuse)
        o = Mechanism(
            mass=b.mass,
            force=b.force,
            holonomic=b.holonomic,
            holonomic_jacobian=b.jacobian if given else None,
            q0=[1.0, 0.0],
            v0=[0.0, 1.0],
        )
        solution = integrate(o, 0.1, scheme, h=0.01)
        ends.append(np.concatenate([solution.q[-1], solution.lam[-1]]))
    assert np.array_equal(*ends)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array, np.ndarray.tolist])
def test_matrices_may_be_constant(kind):
    """A mass on a rail with a spring: the same motion as with callables, and no call."""
    k, c, rail = np.diag([4.0, 0.0]), 0.1 * np.eye(2), np.array([[0.0, 1.0]])
    given = {"stiffness": k, "damping": c, "holonomic_jacobian": rail}
    common = {
        "force": lambda t, q, v: -k @ q - c @ v,
        "holonomic": lambda t, q: q[1],
        "q0": [1.0, 0.0],
        "v0": [0.0, 0.0],
    }
    constant = Mechanism(**common, **{key: kind(value) for key, value in given.items()})
    callables = Mechanism(**common, **{key: lambda *x, m=m: m for key, m in given.items()})
    for key, value in given.items():
        found = getattr(constant, key)(0.0, constant.q0)
        np.testing.assert_array_equal(found.toarray() if constant.is_sparse else found, value)
        assert found is getattr(constant, key)(1.0, constant.v0)
    motions = [integrate(o, 1.0, h=0.01).q for o in (constant, callables)]
    np.testing.assert_allclose(*motions, atol=1e-12)
    assert constant.replace(q0=[2.0, 0.0]).given == constant.given


@pytest.mark.parametrize("scheme", SCHEMES)
def test_callbacks_may_keep_their_arguments(scheme):
    seen, copies = [], []

    def force(t, q, v):
        seen.append((q, v[:1]))
        copies.append((q.copy(), v[:1].copy()))
        return np.array([0.0, -9.81])

    o = Mechanism(force=force, q0=[1.0, 0.0], v0=[0.0, 0.0], holonomic=lambda t, q: q @ q - 1.0)
    integrate(o, 0.5, scheme, h=0.01)
    assert len(seen) > 50
    for kept, copied in zip(seen, copies, strict=True):
        np.testing.assert_array_equal(kept[0], copied[0])
        np.testing.assert_array_equal(kept[1], copied[1])
