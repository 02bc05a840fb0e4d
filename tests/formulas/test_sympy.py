"""SymPy's own methods: LagrangesMethod and KanesMethod, with constraints of both kinds."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism
from genalpha.errors import InvalidOptionError

sp = pytest.importorskip("sympy", reason="needs the extra [symbolic]")
from sympy.physics.mechanics import (  # noqa: E402
    KanesMethod,
    LagrangesMethod,
    Particle,
    Point,
    ReferenceFrame,
    dynamicsymbols,
)

N = ReferenceFrame("N")
m, l, g, c = sp.symbols("m l g c")  # noqa: E741


def particle(*coordinates, speeds=None):
    """A particle in the plane, with its loads: weight and a drag."""
    x, y = coordinates
    origin, point = Point("O"), Point("P")
    origin.set_vel(N, 0)
    point.set_pos(origin, x * N.x + y * N.y)
    u, v = speeds or (x.diff(), y.diff())
    point.set_vel(N, u * N.x + v * N.y)
    loads = [(point, -m * g * N.y - c * point.vel(N))]
    return Particle("ball", point, m), loads


VALUES = {"m": 2.0, "l": 1.0, "g": 9.81, "c": 0.3}


def test_lagranges_method():
    x, y = dynamicsymbols("x y")
    ball, loads = particle(x, y)
    L = ball.kinetic_energy(N)
    method = LagrangesMethod(
        L, [x, y], forcelist=loads, frame=N, hol_coneqs=[x**2 + y**2 - l**2],
        nonhol_coneqs=[x * y.diff() - 1],
    )  # fmt: skip
    o = Mechanism.from_sympy(method, parameters=VALUES, q0=[1, 0], v0=[0, 1])
    assert (o.n_lam, o.n_psi) == (1, 1)
    q, v = np.array([0.3, 0.4]), np.array([1.0, 2.0])
    np.testing.assert_allclose(o.force(0.0, q, v), [-0.3, -0.6 - 19.62])
    np.testing.assert_allclose(o.holonomic(0.0, q), [-0.75])
    np.testing.assert_allclose(o.nonholonomic(0.0, q, v), [-0.4])


def test_kane_with_quasi_velocities():
    """Speeds that turn with the coordinates: the equations are those of the point itself."""
    x, y, u, w = dynamicsymbols("x y u w")
    angle = x * y
    cos, sin = sp.cos(angle), sp.sin(angle)
    kinematic = [u - (cos * x.diff() + sin * y.diff()), w - (cos * y.diff() - sin * x.diff())]
    ball, loads = particle(x, y, speeds=(cos * u - sin * w, sin * u + cos * w))
    method = KanesMethod(N, [x, y], [u, w], kd_eqs=kinematic)
    method.kanes_equations([ball], loads)
    o = Mechanism.from_sympy(method, parameters=VALUES, q0=[0.3, 0.4], v0=[1, 2])
    r = np.random.default_rng(0)
    q, v, vdot = r.standard_normal((3, 2))
    found = o.imbalance(0.0, q, v, vdot, np.zeros(0), np.zeros(0))
    np.testing.assert_allclose(found, 2.0 * vdot + 0.3 * v + [0.0, 19.62], rtol=1e-12)
    state = 0.0, q, v, vdot, np.zeros(0), np.zeros(0)
    np.testing.assert_allclose(o.damping(*state), 0.3 * np.eye(2), atol=1e-13)
    np.testing.assert_allclose(o.stiffness(*state), np.zeros((2, 2)), atol=1e-12)


def test_kane_with_configuration_and_velocity_constraints():
    """The derivative of a configuration constraint, which Kane's method wants, is not kept."""
    x, y, z, u, w, s = dynamicsymbols("x y z u w s")
    ball, loads = particle(x, y, speeds=(u, w))
    other = Point("other")
    other.set_vel(N, s * N.z)
    rod = x**2 + y**2 - l**2
    method = KanesMethod(
        N, [x, z], [u], kd_eqs=[x.diff() - u, z.diff() - s, y.diff() - w],
        q_dependent=[y], configuration_constraints=[rod], u_dependent=[w, s],
        velocity_constraints=[x * u + y * w, s - x * w],
    )  # fmt: skip
    method.kanes_equations([ball, Particle("other", other, m)], loads)
    o = Mechanism.from_sympy(method, parameters=VALUES, q0={x: 0.6, y: 0.8}, v0={x: 0.8, y: -0.6})
    assert (o.n_q, o.n_lam, o.n_psi) == (3, 1, 1)
    order = [o.coordinate_names.index(name) for name in "xyz"]
    q, v = np.zeros(3), np.zeros(3)
    q[order], v[order] = [0.5, 0.25, 0.0], [1.0, 2.0, 3.0]
    assert o.holonomic(0.0, q)[0] == pytest.approx(0.3125 - 1.0)
    assert abs(o.nonholonomic(0.0, q, v)[0]) == pytest.approx(2.0)


def test_speeds_without_a_coordinate_get_one():
    x, y, u, w, spin = dynamicsymbols("x y u w spin")
    ball, loads = particle(x, y, speeds=(u, w))
    wheel = Point("wheel")
    wheel.set_vel(N, spin * N.z)
    method = KanesMethod(N, [x, y], [u, w, spin], kd_eqs=[x.diff() - u, y.diff() - w])
    method.kanes_equations([ball, Particle("wheel", wheel, 3 * m)], loads)
    o = Mechanism.from_sympy(method, parameters=VALUES, q0=[0, 0, 0], v0=[0, 0, 1])
    assert o.coordinate_names == ["x", "y", "integral_of_spin"]
    np.testing.assert_allclose(o.constant_mass, np.diag([2.0, 2.0, 6.0]))


def test_slips_are_named():
    with pytest.raises(InvalidOptionError, match="method is a dict; expected a LagrangesMethod"):
        Mechanism.from_sympy({}, q0=[0])
    x, u = dynamicsymbols("x u")
    method = KanesMethod(N, [x], [u], kd_eqs=[x.diff() - u])
    with pytest.raises(InvalidOptionError, match="call kanes_equations"):
        Mechanism.from_sympy(method, q0=[0])
