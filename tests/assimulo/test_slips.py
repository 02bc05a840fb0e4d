"""Slips of those who come from Assimulo, or to it: what they are told to write."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, integrate
from genalpha.errors import InvalidOptionError

pytestmark = pytest.mark.needs_assimulo


def pendulum() -> Mechanism:
    return Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81]), q0=[1.0, 0.0], v0=[0.0, 0.0],
        holonomic=lambda t, q: q @ q - 1.0,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_a_mechanism_instead_of_a_problem(name: str) -> None:
    import genalpha

    with pytest.raises(InvalidOptionError) as caught:
        getattr(genalpha, name)(pendulum())
    assert f"write {name}(mechanism.problem('ind3'))" in str(caught.value)


def test_a_problem_instead_of_a_mechanism() -> None:
    with pytest.raises(InvalidOptionError) as caught:
        integrate(pendulum().problem("ind3"), 1.0)
    assert "GenAlphaSOI2(problem).simulate(1.0)" in str(caught.value)


def test_an_unknown_form() -> None:
    with pytest.raises(InvalidOptionError) as caught:
        pendulum().problem("index3")
    for form in ("ind3", "ind2", "ind1", "ggl2", "ovstab2", "ovstab1", "ode", "stabilized"):
        assert repr(form) in str(caught.value)
