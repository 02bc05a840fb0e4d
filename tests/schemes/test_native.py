"""Steps in machine code, put into the papers' equations as printed in the scheme files."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from genalpha.imports import COMPILED
from genalpha.kernels import Native
from genalpha.mechanisms import lagrangians
from tests.schemes.support import steps
from tests.schemes.test_equations import ALLOWED, H

pytest.importorskip("sympy", reason="needs the extra [symbolic]")
pytestmark = pytest.mark.skipif(not COMPILED, reason="there is no compiled code")

SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")
MECHANISMS = ("simple_pendulum", "driven_pendulum", "four_bar", "slider_crank", "rolling_disk")
#: HHTI2 in machine code takes holonomic constraints and a regular mass; that of Andrews' squeezer
#: depends on q, and wants short steps.
OF_HHTI2 = {"simple_pendulum": H, "driven_pendulum": H, "four_bar": H, "andrews_squeezer": 1e-5}


@pytest.mark.parametrize("options", [{}, {"rho_inf": 0.0}, {"alpha": -0.3}, {"start": "plain"}])
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("scheme", SCHEMES[:2])
def test_steps_satisfy_the_printed_equations(scheme, name, options):
    satisfied(name, H, scheme, options)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.0}, {"alpha": -0.3, "b": 0.2}])
@pytest.mark.parametrize("name", OF_HHTI2)
def test_steps_of_hhti2_satisfy_the_printed_equations(name, options):
    satisfied(name, OF_HHTI2[name], "HHTI2", options)


def satisfied(name, h, scheme, options):
    """Take steps in machine code, and put each into the printed equations."""
    o = getattr(lagrangians, name)()
    assert isinstance(o.force, Native)
    (at_work, _, old, _), *_ = steps(o, [h], scheme=scheme, **options)
    native, checked = at_work.native(), set()
    rows = np.empty((1, 1 + 3 * o.n_q + old.kept.size))
    for i in range(1, 15):
        past = at_work.past.equal_rows(h)
        assert len(past) == min(i + 1, 9)
        assert native.run(old, past, rows, o.t0, i, h, 1e9) == 1
        new = native.state()
        at_work.past.replace(new.t, h, native.past_rows())
        np.testing.assert_array_equal(rows[0], np.r_[new.t, new.q, new.v, new.a, new.kept])
        for number, equation in at_work.printed(o, at_work.settings, old, new).items():
            assert equation.residual() < ALLOWED[equation.level], number
            checked.add(number)
        old = new
    assert len(checked) >= 5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_cannot_be_taken_natively(scheme):
    """Callbacks of Python, matrices that are to be renewed always, sparse linear algebra."""
    o = lagrangians.simple_pendulum()
    ((at_work, *_),) = steps(o, [H], scheme=scheme)
    assert at_work.native() is not None
    at_work.newton.mode = "every step"
    assert at_work.native() is None
    python = lagrangians.simple_pendulum().replace(force=lambda t, q, v: np.array([0.0, -9.81]))
    ((at_work, *_),) = steps(python, [H], scheme=scheme)
    assert at_work.native() is None
    if scheme == "GenAlphaI3":
        ((at_work, *_),) = steps(o, [H], scheme=scheme, adjustment="gamma")
        assert at_work.native() is None
    if scheme == "HHTI2":
        ((at_work, *_),) = steps(o, [H], scheme=scheme, variant="midpoint")
        assert at_work.native() is None


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_state_before_a_step_that_fails(scheme):
    """It is that of the last step that was taken, multipliers too."""
    number, numbers, anything = ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p

    @ctypes.CFUNCTYPE(None, number, numbers, numbers, numbers, anything)
    def force(t, q, v, out, data):
        out[0], out[1] = 1e300 if t > 5.5 * H else 0.0, -9.81

    o = lagrangians.simple_pendulum().replace(force=force)
    (at_work, _, old, _), *_ = steps(o, [H], scheme=scheme)
    native, rows = at_work.native(), np.empty((9, 1 + 3 * o.n_q + old.kept.size))
    assert native.run(old, at_work.past.equal_rows(H), rows, o.t0, 1, H, 1e9) == 4
    new = native.state()
    np.testing.assert_array_equal(rows[3], np.r_[new.t, new.q, new.v, new.a, new.kept])
