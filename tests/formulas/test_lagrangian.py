"""Mechanisms from Lagrangians: every derivative right, slips named, parameters adjustable."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from genalpha import Mechanism
from genalpha.errors import InvalidOptionError
from genalpha.formulas import libraries
from genalpha.kernels import Native

sp = pytest.importorskip("sympy", reason="needs the extra [symbolic]")
from sympy.physics.mechanics import dynamicsymbols  # noqa: E402

BACKENDS = [
    pytest.param("c", marks=pytest.mark.skipif(not libraries.compiler(), reason="no C compiler")),
    "numba",
    "python",
]
x, y = dynamicsymbols("x y")
m, l, g = sp.symbols("m l g")  # noqa: E741
T = m * (x.diff() ** 2 + y.diff() ** 2) / 2
ROD = x**2 + y**2 - l**2
VALUES = {"m": 2.0, "l": 1.0, "g": 9.81}


def pendulum(**changes):
    given = {"holonomic": [ROD], "q0": [l, 0], "parameters": VALUES, **changes}
    return Mechanism.from_lagrangian(T - m * g * y, [x, y], **given)


def odd_one(backend="auto"):
    """A mechanism with everything: moving constraints, forces, damping, gyroscopic terms."""
    t, (a, b, c) = dynamicsymbols._t, dynamicsymbols("a b c")
    k = sp.symbols("k")
    L = (
        (1 + sp.cos(b) ** 2) * a.diff() ** 2 / 2
        + b.diff() ** 2 * sp.exp(-a) / 2
        + c.diff() ** 2
        + a.diff() * b.diff() * sp.sin(c) / 3
        + sp.sin(t) * a * c.diff()
        - k * a**2 * b / 2
    )
    return Mechanism.from_lagrangian(
        L, [a, b, c],
        holonomic=[a * sp.cos(b) + sp.sin(2 * t) * c - sp.Rational(1, 5)],
        nonholonomic=[sp.Eq(b.diff() * sp.cos(a) + c * c.diff(), sp.sin(t))],
        forces={b: -sp.tanh(b.diff()) * a}, dissipation=k * a.diff() ** 2 * b**2,
        parameters={k: 1.7}, q0=[0.2, 0.0, 0.3], backend=backend,
    )  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_derivative_is_right(backend):
    """Compared with differences of the functions themselves, and with other backends."""
    if backend == "numba":
        pytest.importorskip("numba", reason="needs the extra [numba]")
    o, plain = odd_one(backend), odd_one("python")
    assert isinstance(o.force, Native) == (backend != "python")
    checked = o.check_derivatives(rtol=1e-6, distance=0.3)
    assert set(checked) >= {"stiffness", "damping", "holonomic_jacobian", "nonholonomic_gradient"}
    r = np.random.default_rng(3)
    state = 0.4, *r.standard_normal((3, 3)), r.standard_normal(1), r.standard_normal(1)
    for name in ("stiffness", "damping"):
        np.testing.assert_allclose(
            getattr(o, name)(*state), getattr(plain, name)(*state), rtol=1e-12, atol=1e-14
        )
    assert o.energy(*state[:3]) == pytest.approx(plain.energy(*state[:3]), rel=1e-13)


def test_lagrange_equations_hold_along_any_motion():
    """d/dt dL/dv - dL/dq, worked out by SymPy along a given motion, is M vdot - f."""
    o, t = odd_one(), dynamicsymbols._t
    a, b, c = dynamicsymbols("a b c")
    k = 1.7
    L = (
        (1 + sp.cos(b) ** 2) * a.diff() ** 2 / 2 + b.diff() ** 2 * sp.exp(-a) / 2 + c.diff() ** 2
        + a.diff() * b.diff() * sp.sin(c) / 3 + sp.sin(t) * a * c.diff() - k * a**2 * b / 2
    )  # fmt: skip
    motion = {a: sp.sin(t) / 2, b: t**2 / 3, c: sp.cos(3 * t)}
    rows = []
    for z in (a, b, c):
        extra = sp.tanh(b.diff()) * a if z == b else 0
        extra += 2 * k * a.diff() * b**2 if z == a else 0
        rows.append(L.diff(z.diff()).diff(t) - L.diff(z) + extra)
    for time in (0.1, 0.7):
        expected = [float(row.subs(motion).doit().subs(t, time)) for row in rows]
        q, v, vdot = (
            np.array([float(f.diff(t, order).subs(t, time)) for f in motion.values()])
            for order in (0, 1, 2)
        )
        found = o.imbalance(time, q, v, vdot, np.zeros(1), np.zeros(1))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_constants_are_matrices_and_names_are_kept():
    o = pendulum()
    np.testing.assert_array_equal(o.constant_mass, 2.0 * np.eye(2))
    np.testing.assert_array_equal(o.damping(0.0, *5 * [np.zeros(2)]), np.zeros((2, 2)))
    assert o.coordinate_names == ["x", "y"]
    assert o.energy(0.0, np.array([0.6, -0.8]), np.array([1.0, 2.0])) == pytest.approx(
        5.0 - 2.0 * 9.81 * 0.8
    )


def test_with_parameters():
    o = pendulum()
    longer = o.with_parameters(l=1.2, m=3.0)
    assert longer.parameters == {"m": 3.0, "l": 1.2, "g": 9.81} and o.parameters == VALUES
    np.testing.assert_array_equal(longer.q0, [1.2, 0.0])  # the start is a formula
    np.testing.assert_array_equal(longer.constant_mass, 3.0 * np.eye(2))
    q = np.array([1.2, 0.5])
    assert longer.holonomic(0.0, q)[0] == pytest.approx(0.25)
    assert o.holonomic(0.0, q)[0] == pytest.approx(0.69)
    np.testing.assert_allclose(longer.reaction(0.0, q, q, np.ones(1), np.zeros(0)), [-2.4, -1.0])
    moved = o.replace(v0=[0.0, 1.0], name="moved").with_parameters({"l": 2.0})
    assert moved.name == "moved" and moved.v0.tolist() == [0.0, 1.0] and moved.q0[0] == 2.0
    with pytest.raises(InvalidOptionError, match="k is no parameter; there are: m, l, g"):
        o.with_parameters(k=1.0)
    with pytest.raises(InvalidOptionError, match=r"l = 'long'; expected a finite number"):
        o.with_parameters(l="long")
    plain = Mechanism(force=lambda t, q, v: -q, q0=[1.0], v0=[0.0])
    assert plain.parameters == {}
    with pytest.raises(InvalidOptionError, match="only mechanisms from formulas"):
        plain.with_parameters(l=1.0)


@pytest.mark.parametrize("change", [None, {"t0": 1.0}])
def test_pickling(change):
    o = pendulum().with_parameters(l=1.5)
    o = o.replace(**change) if change else o
    again = pickle.loads(pickle.dumps(o))
    assert again.parameters == o.parameters and again.t0 == o.t0
    assert again.with_parameters(l=2.0).q0[0] == 2.0
    np.testing.assert_array_equal(again.q0, o.q0)


def test_sparse_where_it_pays():
    n = 130
    xs = dynamicsymbols(f"x:{n}")
    k = sp.symbols("k")
    L = sum(z.diff() ** 2 / 2 for z in xs) - k * sum(
        (a - b) ** 4 for a, b in zip(xs[1:], xs[:-1], strict=True)
    )
    o = Mechanism.from_lagrangian(L, xs, parameters={k: 2.0}, q0=np.arange(float(n)) ** 1.5)
    assert o.is_sparse
    v, none = np.zeros(n), np.zeros(0)
    Kt = o.stiffness(0.0, o.q0, v, v, none, none)
    assert Kt.nnz == 3 * n - 2
    once, again = (o.stiffness.now(0.0, o.q0, v, v, none, none) for _ in range(2))
    assert once is again  # a conversion at each call would cost more than the values
    dense = np.array(
        [(o.force(0.0, o.q0 - h, v) - o.force(0.0, o.q0 + h, v)) / 2e-6 for h in 1e-6 * np.eye(n)]
    )
    np.testing.assert_allclose(Kt.toarray(), dense.T, atol=1e-5 * abs(Kt).max())


def test_jumps_are_left_out_of_derivatives():
    o = Mechanism.from_lagrangian(
        x.diff() ** 2 / 2, [x], forces=[-sp.sign(x.diff()) - sp.Heaviside(x) + sp.Abs(x)], q0=[0.5]
    )
    assert o.force(0.0, np.array([0.5]), np.array([-2.0]))[0] == 0.5
    assert o.force(0.0, np.array([-1.0]), np.array([0.0]))[0] == 1.0
    args = 0.0, np.array([0.5]), np.zeros(1), np.zeros(1), np.zeros(0), np.zeros(0)
    assert o.stiffness(*args).item() == -1.0 and o.damping(*args).item() == 0.0


F = sp.Function("F")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": {"m": 1.0, "l": 1.0}}, r"lagrangian has g, without a value: give paramet"),
        ({"parameters": {**VALUES, "k": "soft"}}, r"parameters\[k\] = 'soft'; expected a finite"),
        ({"holonomic": [x.diff() - 1]}, r"holonomic\[0\] .* has dx/dt; it may depend on t q only"),
        ({"nonholonomic": [y.diff(dynamicsymbols._t, 2)]}, r"has d2y/dt2; it may depend on t q v"),
        ({"holonomic": [x - F(y)]}, r"holonomic\[0\] has F\(q\[1\]\), which is neither"),
        ({"q0": [1.0]}, r"q0 has 1 entries; the coordinates are 2"),
        ({"q0": {x: 1.0, m: 2.0}}, r"q0 has the key m, which is no coordinate"),
        ({"forces": [1]}, r"forces has 1 entries; the coordinates are 2"),
        ({"q0": [x, 0]}, r"q0\[0\] = x\(t\) has x; it may depend on"),
        ({"backend": "fortran"}, r"backend = 'fortran'; expected one of 'auto', 'c', 'numba'"),
        ({"forces": [sp.zeta(x), 0]}, r"force cannot be written as code"),
    ],
)
def test_slips_are_named(changes, words):
    with pytest.raises(InvalidOptionError, match=words):
        pendulum(**changes)


def test_wrong_coordinates_and_lagrangians_are_named():
    with pytest.raises(InvalidOptionError, match="coordinates = m; expected functions of time"):
        Mechanism.from_lagrangian(m, [m], q0=[0])
    with pytest.raises(InvalidOptionError, match="not quadratic in the velocities"):
        Mechanism.from_lagrangian(-sp.sqrt(1 - x.diff() ** 2), [x], q0=[0])
    with pytest.raises(InvalidOptionError, match="at least one function of time"):
        Mechanism.from_lagrangian(m, [], q0=[])


@pytest.mark.skipif(not libraries.compiler(), reason="no C compiler")
def test_compiled_once(tmp_path, monkeypatch):
    """The second process finds what the first one has compiled; a folder may be read-only."""
    monkeypatch.setenv("GENALPHA_CACHE", str(tmp_path))
    libraries._of_c.cache_clear()
    pendulum()
    (made,) = (tmp_path / "formulas").glob("*.so")
    stamp = made.stat().st_mtime_ns
    libraries._of_c.cache_clear()
    pendulum()
    assert [x.name for x in (tmp_path / "formulas").iterdir()] == [made.name]
    assert made.stat().st_mtime_ns == stamp
    libraries._of_c.cache_clear()
    monkeypatch.setenv("GENALPHA_CACHE", str(made))  # a file: no folder can be made there
    assert pendulum().n_lam == 1
    libraries._of_c.cache_clear()
