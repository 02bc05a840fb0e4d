"""The common slips of a new user: each is an error that says what to write instead."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from genalpha import Mechanism, integrate
from genalpha.driver.options import STABILIZED
from genalpha.errors import (
    CallbackError,
    GenAlphaError,
    InconsistentStartError,
    InvalidOptionError,
    RedundantConstraintsError,
    StepLimitError,
    UnsupportedProblemError,
)
from genalpha.schemes import SCHEMES


def weight(t, q, v):
    return np.array([0.0, -9.81])


def rod(t, q):
    return np.array([q @ q - 1.0])


def pendulum(**changes: Any) -> Mechanism:
    return Mechanism(
        **{"force": weight, "holonomic": rod, "q0": [1.0, 0.0], "v0": [0.0, 0.0], **changes}
    )


def told(kind: type[Exception], action: Callable[[], Any]) -> str:
    with pytest.raises(kind) as caught:
        action()
    return str(caught.value)


def test_a_problem_instead_of_a_mechanism() -> None:
    class Problem:
        y0 = np.zeros(5)

        def res(self, t, y, yd):
            return yd

    text = told(InvalidOptionError, lambda: integrate(Problem(), 1.0))
    assert "expected a genalpha Mechanism: integrate(mechanism, 1.0)" in text
    assert "GenAlphaSOI2(problem).simulate(1.0)" in text


def test_arguments_in_the_wrong_order() -> None:
    text = told(InvalidOptionError, lambda: integrate(1.0, pendulum()))
    assert "a genalpha Mechanism, first: integrate(mechanism, t_final)" in text


@pytest.mark.parametrize(
    ("name", "callback", "takes", "wanted"),
    [
        ("force", lambda t, q: q, "(t, q)", "t, q, v"),
        ("holonomic", lambda q: q @ q - 1.0, "(q)", "t, q"),
        ("holonomic_jacobian", lambda t, q, v: 2.0 * q, "(t, q, v)", "t, q"),
        ("mass", lambda q: np.eye(2), "(q)", "t, q"),
        ("stiffness", lambda t, q, v: np.eye(2), "(t, q, v)", "t, q, v, vdot, lam, psi"),
    ],
)
def test_a_callback_with_the_wrong_number_of_arguments(name, callback, takes, wanted) -> None:
    text = told(InvalidOptionError, lambda: pendulum(**{name: callback}))
    assert (
        f"{name} takes {takes}, but is called with ({wanted}): write def {name}({wanted})" in text
    )


def test_an_event_or_impact_with_the_wrong_number_of_arguments() -> None:
    def floor(t, q, v):
        return q[1]

    floor.impact = lambda v: -v
    text = told(InvalidOptionError, lambda: integrate(pendulum(), 1.0, events=[lambda t: t, floor]))
    assert "events[0] takes (t), but is called with (t, q, v): write def event(t, q, v)" in text
    assert "events[1].impact takes (v), but is called with (t, q, v): write def impact(t" in text


def test_long_values_are_cut_where_one_sees_it() -> None:
    text = told(InvalidOptionError, lambda: integrate(list(range(100)), 1.0))
    assert re.search(r"mechanism = \[0, 1, .{40,60}\.\.\.; expected", text)


def test_an_energy_that_was_not_given() -> None:
    o = pendulum()
    assert not o.energy
    text = told(UnsupportedProblemError, lambda: o.energy(0.0, o.q0, o.v0))
    assert "mechanism.replace(energy=...)" in text
    told(UnsupportedProblemError, lambda: integrate(o, 0.1).energy())
    assert o.replace(energy=lambda t, q, v: 3.0).energy(0.0, o.q0, o.v0) == 3.0
    assert not pickle.loads(pickle.dumps(o)).energy


@pytest.mark.parametrize("differenced", [True, False])
def test_a_constraint_without_a_gradient(differenced: bool) -> None:
    given = {} if differenced else {"holonomic_jacobian": lambda t, q: np.array([[2 * q[0], 0.0]])}
    o = pendulum(
        holonomic=lambda t, q: q[0] ** 2, q0=[0.0, 0.0], constraint_names=["wall"], **given
    )
    text = told(RedundantConstraintsError, lambda: integrate(o, 1.0))
    assert "the gradient of wall is zero at t = 0" in text
    assert "write x - a instead of (x - a)**2" in text
    assert "depend" not in text and "least" not in text


def test_constraints_that_contradict_each_other() -> None:
    """In their accelerations, velocities or positions; none of them is merely redundant."""
    o = pendulum(
        holonomic=lambda t, q: np.array([q[0] - 1.0, q[0] - 1.0 - t**2]),
        constraint_names=["wall", "moving wall"],
    )
    text = told(RedundantConstraintsError, lambda: integrate(o, 1.0))
    assert "moving wall contradicts the other constraints" in text and "least" not in text
    for faster in (
        lambda t, q: [q[0] - 1.0, q[0] - 1.0 - t],
        lambda t, q: [q[0] - 1.0, q[0] - 2.0],
    ):
        apart = pendulum(holonomic=lambda t, q, g=faster: np.array(g(t, q)))
        text = told(InconsistentStartError, lambda o=apart: integrate(o, 1.0))
        assert "g[1]" in text and "least" not in text
        told(GenAlphaError, lambda o=apart: integrate(o, 1.0, repair=True))


def test_constraints_that_are_merely_redundant() -> None:
    o = pendulum(holonomic=lambda t, q: np.array([q @ q - 1.0, 2.0 * (q @ q) - 2.0]))
    text = told(RedundantConstraintsError, lambda: integrate(o, 1.0))
    assert "depend on the others" in text and "redundant='least'" in text
    integrate(o.replace(redundant="least"), 0.1)


def test_tolerances_that_nobody_can_keep() -> None:
    text = told(StepLimitError, lambda: integrate(pendulum(), 1.0, rtol=1e-14, atol=1e-14))
    assert "Raise maxsteps, or the tolerances" in text or "raise rtol and atol" in text
    assert "take GenAlphaSOI2" not in text


def test_an_unknown_scheme() -> None:
    for scheme in ("SOI2", 1e-3):
        text = told(InvalidOptionError, lambda s=scheme: integrate(pendulum(), 1.0, s))
        assert all(repr(name) in text for name in (*SCHEMES, *STABILIZED))


@pytest.mark.parametrize("callable_mass", [True, False])
def test_a_mass_matrix_that_is_not_symmetric(callable_mass: bool) -> None:
    M = np.array([[1.0, 0.5], [0.0, 1.0]])
    text = told(InvalidOptionError, lambda: pendulum(mass=(lambda t, q: M) if callable_mass else M))
    assert re.search(r"mass\[0, 1\] = 0\.5 and mass\[1, 0\] = 0; expected a symmetric", text)


def test_complex_values() -> None:
    text = told(CallbackError, lambda: pendulum(force=lambda t, q, v: 1j * weight(t, q, v)))
    assert text.startswith("force returned") and "imaginary" in text
    text = told(InvalidOptionError, lambda: pendulum(q0=[1.0, 1j]))
    assert "q0 is [1.0, 1j]" in text and "imaginary" in text


def test_a_callback_that_changes_its_arguments() -> None:
    def force(t, q, v):
        v *= 2.0
        return weight(t, q, v)

    def holonomic(t, q):
        q[0] -= 1.0
        return q @ q

    for changes in ({"force": force}, {"holonomic": holonomic}):
        text = told(CallbackError, lambda c=changes: pendulum(**c))
        assert text.startswith(f"{next(iter(changes))} changes its arguments")
        assert "q = q.copy()" in text
