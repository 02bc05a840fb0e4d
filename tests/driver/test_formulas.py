"""Runs of mechanisms from formulas: the same as those of their hand-written twins."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, integrate, mechanisms

sp = pytest.importorskip("sympy", reason="needs the extra [symbolic]")
from sympy.physics.mechanics import (  # noqa: E402
    KanesMethod,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

from genalpha.mechanisms import lagrangians  # noqa: E402


@pytest.mark.parametrize(
    ("name", "t", "h"),
    [("chain", 1.0, 2e-3), ("four_bar", 1.0, 2e-3), ("andrews_squeezer", 0.03, 1e-4)],
)
def test_twins_agree_along_the_run(name, t, h):
    """To 1e-10, relative to the largest coordinate and velocity."""
    options = {"links": 2} if name == "chain" else {}
    o, twin = (getattr(x, name)(**options) for x in (lagrangians, mechanisms))
    for scheme in ("GenAlphaI3", "GenAlphaSOI2"):
        found, expected = (integrate(x, t, scheme, h=h, newton_accuracy=1e-13) for x in (o, twin))
        for key in ("q", "v"):
            x, y = getattr(found, key), getattr(expected, key)
            np.testing.assert_allclose(x, y, atol=1e-10 * np.abs(y).max(), rtol=0.0)


def rolling_disk_by_kane():
    """A disk on a plane: five coordinates, rolling as velocity constraints."""
    q = *_, tilt, heading, roll = dynamicsymbols("x y tilt heading roll")
    u = dynamicsymbols("u1:6")
    m, r, I1, I2, g = sp.symbols("m r I1 I2 g")
    N = ReferenceFrame("N")
    yawed = N.orientnew("Y", "Axis", [heading, N.z])
    leaning = yawed.orientnew("L", "Axis", [-tilt, yawed.x])
    disk = leaning.orientnew("D", "Axis", [roll, leaning.y])
    rates = dict(zip((z.diff() for z in q), u, strict=True))
    centre = Point("centre")
    for frame in (leaning, disk):
        frame.set_ang_vel(N, frame.ang_vel_in(N).subs(rates))
    centre.set_vel(N, u[0] * N.x + u[1] * N.y + (leaning.ang_vel_in(N) ^ (r * leaning.z)))
    body = RigidBody("disk", centre, disk, m, (inertia(leaning, I1, I2, I1), centre))
    # the material point that touches the plane is at rest
    touching = centre.vel(N) + (disk.ang_vel_in(N) ^ (-r * leaning.z))
    slip = [touching & N.x, touching & N.y]
    method = KanesMethod(
        N, list(q), [u[2], u[3], u[4]], kd_eqs=[a - b for a, b in rates.items()],
        u_dependent=[u[0], u[1]], velocity_constraints=slip,
    )  # fmt: skip
    method.kanes_equations([body], [(centre, -m * g * N.z)])
    return method, q


def test_kane_with_rolling_constraints_end_to_end():
    """SymPy's rolling disk by Kane's method, and the same one in a circle, in closed form.

    On a circle with constant tilt (theta from the vertical), heading rate w and spin s about the
    axis, balance of moments about the contact point asks for
    (I2 + m r^2) s w cos + I1 w^2 sin cos = m g r sin, where s = roll' - w sin.
    """
    method, q = rolling_disk_by_kane()
    m, r, I1, I2, g = 2.0, 1.0, 0.5, 1.0, 10.0
    tilt, w = 0.3, 1.1
    sine, cosine = np.sin(tilt), np.cos(tilt)
    s = (m * g * r * sine - I1 * w**2 * sine * cosine) / ((I2 + m * r**2) * w * cosine)
    roll = s + w * sine
    o = Mechanism.from_sympy(
        method, parameters={"m": m, "r": r, "I1": I1, "I2": I2, "g": g},
        q0={q[2]: tilt}, v0={q[0]: r * roll, q[3]: w, q[4]: roll},
    )  # fmt: skip
    assert (o.n_q, o.n_lam, o.n_psi) == (5, 0, 2)
    found = integrate(o, 3.0, "GenAlphaSOI2", h=1e-3)
    x, y, tilts, headings, _ = (found.q[:, o.coordinate_names.index(z.func.__name__)] for z in q)
    radius = r * roll / w
    np.testing.assert_allclose(tilts, tilt, atol=1e-6)
    np.testing.assert_allclose(headings, w * found.t, atol=1e-6)
    np.testing.assert_allclose(x, radius * np.sin(w * found.t), atol=1e-5)
    np.testing.assert_allclose(y, radius * (1.0 - np.cos(w * found.t)), atol=1e-5)
