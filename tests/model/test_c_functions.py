"""C functions as callbacks: same motion as with Python ones, and slips are named."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy import LowLevelCallable

from genalpha import Mechanism
from genalpha.errors import CallbackError, InvalidOptionError
from genalpha.kernels import Native, plain
from genalpha.model.c_functions import signature
from genalpha.model.table import TABLE

NUMBER, NUMBERS, ANY = ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p
LENGTH = 1.3


def in_c(vectors, typed=True):
    """Return a decorator that makes a C function pointer out of a Python function."""
    pointer = NUMBERS if typed else ANY
    return ctypes.CFUNCTYPE(None, NUMBER, *[pointer] * (vectors + 1), ANY)


@in_c(2)
def force(t, q, v, out, data):
    out[0], out[1] = -0.1 * v[0], -9.81 + t


@in_c(1)
def g(t, q, out, data):
    length = ctypes.cast(data, NUMBERS)[0] if data else LENGTH
    out[0] = 0.5 * (q[0] ** 2 + q[1] ** 2 - length**2)


@in_c(1)
def G(t, q, out, data):
    out[0], out[1] = q[0], q[1]


@in_c(5)
def Kt(t, q, v, vdot, lam, psi, out, data):
    out[0], out[1], out[2], out[3] = lam[0], 0.0, 0.0, lam[0]


START = {"q0": [LENGTH, 0.0], "v0": [0.0, 0.5]}
PYTHON = {
    "force": lambda t, q, v: [-0.1 * v[0], -9.81 + t],
    "holonomic": lambda t, q: [0.5 * (q @ q - LENGTH**2)],
    "holonomic_jacobian": lambda t, q: q[None],
    "stiffness": lambda t, q, v, vdot, lam, psi: lam[0] * np.eye(2),
}
IN_C = {"force": force, "holonomic": g, "holonomic_jacobian": G, "stiffness": Kt}


@pytest.mark.parametrize("mixed", [set(IN_C), {"force"}, {"holonomic", "stiffness"}])
def test_same_values_and_freely_mixed(mixed):
    o = Mechanism(**START, **PYTHON)
    c = Mechanism(**START, **PYTHON | {key: IN_C[key] for key in mixed})
    assert (c.n_q, c.n_lam) == (2, 1) and c.given == o.given
    assert {key for key in IN_C if isinstance(getattr(c, key), Native)} == mixed
    r = np.random.default_rng(1)
    q, v, vdot, lam, none = *r.standard_normal((3, 2)), r.standard_normal(1), np.zeros(0)
    for name in ("force", "holonomic_rate", "holonomic_acceleration"):
        np.testing.assert_allclose(getattr(c, name)(0.3, q, v), getattr(o, name)(0.3, q, v))
    for name in ("stiffness", "damping"):
        args = 0.3, q, v, vdot, lam, none
        np.testing.assert_allclose(getattr(c, name)(*args), getattr(o, name)(*args), atol=1e-7)
    np.testing.assert_array_equal(
        c.imbalance(0.3, q, v, vdot, lam, none), o.imbalance(0.3, q, v, vdot, lam, none)
    )
    c.check_derivatives()


def test_user_data_of_a_low_level_callable():
    length = (ctypes.c_double * 1)(2.0)
    data = ctypes.cast(length, ANY)
    text = signature("holonomic")
    c = Mechanism(**START | {"q0": [2.0, 0.0]}, force=force, holonomic=LowLevelCallable(g, data))
    assert c.holonomic(0.0, [2.0, 0.0])[0] == 0.0
    length[0] = 1.0  # read anew at every call
    assert c.holonomic(0.0, [2.0, 0.0])[0] == 1.5
    untyped = LowLevelCallable(in_c(1, typed=False)(ctypes.cast(G, ANY).value), None, text)
    assert Mechanism(**START, force=force, holonomic=g, holonomic_jacobian=untyped).n_lam == 1
    vague = LowLevelCallable(g, None, text.replace("double *", "void *"))  # they are pointers still
    assert Mechanism(**START, force=force, holonomic=vague).n_lam == 1


def test_numba_cfunc():
    numba = pytest.importorskip("numba", reason="needs the extra [numba]")
    number, numbers, data = numba.types.double, "", numba.types.voidptr
    numbers = numba.types.CPointer(number)

    @numba.cfunc(numba.types.void(number, numbers, numbers, numbers, data))
    def pull(t, q, v, out, data):
        out[0], out[1] = -0.1 * v[0], -9.81 + t

    c = Mechanism(**START, **PYTHON | {"force": pull})
    assert isinstance(c.force, Native)
    np.testing.assert_allclose(c.force(1.0, [0.0, 0.0], [2.0, 0.0]), [-0.2, -8.81])


def test_results_stay_what_they_were():
    """A result is in memory of its own as long as somebody holds it, or a view of it."""
    c = Mechanism(**START, **IN_C)
    for call in (c.force, c.force.now):
        first = call(0.0, c.q0, np.array([1.0, 0.0]))
        view = call(0.0, c.q0, np.array([2.0, 0.0]))[:1]
        call(0.0, c.q0, np.array([3.0, 0.0]))
        assert first[0] == pytest.approx(-0.1) and view[0] == pytest.approx(-0.2)
    assert c.calls["force"] == c.force.calls > 6


@pytest.mark.parametrize("kind", [Native, plain.Native])
def test_arguments_are_checked_before_c_reads_them(kind):
    address = ctypes.cast(force, ANY).value
    f = kind(address, 0, (2, 2), (2,), force)
    np.testing.assert_allclose(f(1.0, [1, 2], (0, 4)), [0.0, -8.81])  # any numbers
    np.testing.assert_allclose(f(1.0, np.arange(4.0)[::2], np.zeros(2)), [0.0, -8.81])
    with pytest.raises(ValueError, match="an argument has 3 entries; expected 2"):
        f(1.0, np.zeros(3), np.zeros(2))
    with pytest.raises(TypeError, match="expected t and 2 vectors, got 1"):
        f(1.0, np.zeros(2))
    with pytest.raises(ValueError, match="1 places"):
        f.write(1.0, (np.zeros(2), np.zeros(2)), np.zeros(1))
    with pytest.raises(ValueError, match="no function of 3 vectors"):
        kind(address, 0, (2, 2, 2), (2,), force)


@in_c(2)
def too_much(t, q, v, out, data):
    out[0] = out[1] = out[2] = 0.0


@in_c(2)
def with_a_gap(t, q, v, out, data):
    out[1] = 0.0


@in_c(2)
def nothing(t, q, v, out, data):
    pass


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (too_much, r"force, a C function, wrote 3 numbers; expected 2"),
        (with_a_gap, r"force, a C function: it wrote to out\[1\] but not to out\[0\]"),
        (nothing, r"force, a C function, wrote 0 numbers; expected 2"),
    ],
)
def test_a_wrong_size_is_named(function, words):
    with pytest.raises(CallbackError, match=words):
        Mechanism(**START, force=function)


def test_a_wrong_signature_is_named():
    with pytest.raises(InvalidOptionError, match=r"force is a C function of signature 'void \(dou"):
        Mechanism(**START, force=g)


def test_signatures_of_all_callbacks():
    assert signature("mass") == "void (double, double *, double *, void *)"
    assert signature("force") == "void (double, double *, double *, double *, void *)"
    assert {signature(name).count("double *") for name in TABLE} == {2, 3, 5, 6}
