"""Whatever a callback returns, and when: the error names it, the time, and what is right."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse

from genalpha import Mechanism, integrate
from genalpha.errors import CallbackError
from genalpha.schemes import SCHEMES

#: What cannot be a right answer, made from the right one.
NONSENSE = {
    "text": lambda x: "x",
    "nothing": lambda x: None,
    "a function": lambda x: len,
    "a date": lambda x: np.datetime64("2020-01-01"),
    "imaginary": lambda x: np.asarray(x) + 1j,
    "longer": lambda x: np.zeros(np.size(x) + 1),
    "empty": lambda x: np.zeros(0),
    "ragged": lambda x: [[1.0], [1.0, 2.0]],
    "masked": lambda x: np.ma.masked_all(np.shape(x)),
    "sparse and longer": lambda x: sparse.csc_array(np.ones((7, 7))),
    "nan": lambda x: np.full(np.shape(x), np.nan),
    "infinite": lambda x: np.full(np.shape(x), -np.inf),
}
CALLBACKS = {
    "mass": lambda t, q: np.eye(2),
    "force": lambda t, q, v: np.array([0.0, -9.81]),
    "holonomic": lambda t, q: np.array([0.5 * (q @ q - 1.0)]),
    "holonomic_jacobian": lambda t, q: q[None, :],
    "holonomic_rate": lambda t, q, v: np.array([q @ v]),
    "holonomic_acceleration": lambda t, q, v: np.array([v @ v]),
    "stiffness": lambda t, q, v, vdot, lam, psi: np.sum(lam) * np.eye(2),
    "damping": lambda t, q, v, vdot, lam, psi: np.zeros((2, 2)),
}
ROLLING = {
    "nonholonomic": lambda t, q, v: np.array([v[0] - q[1] * v[1]]),
    "nonholonomic_jacobian": lambda t, q, v: np.array([[1.0, -q[1]]]),
    "force": CALLBACKS["force"],
}


class Wrong:
    """A callback that is wrong from some time on."""

    def __init__(self, right, made, begins):
        self.right, self.made, self.begins = right, made, begins
        self.shown = 0

    def __call__(self, t, *state):
        value = self.right(t, *state)
        if t < self.begins:
            return value
        self.shown += 1
        return self.made(value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, about infinite values
@pytest.mark.parametrize("made", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize(
    ("callbacks", "name"),
    [*((CALLBACKS, name) for name in CALLBACKS), *((ROLLING, name) for name in ROLLING)],
)
@pytest.mark.parametrize("begins", [-1.0, 0.3])
def test_the_callback_and_the_time_are_named(callbacks, name, made, begins):
    scheme = list(SCHEMES)[(len(name) + int(begins)) % 3]
    wrong = Wrong(callbacks[name], made, begins)
    q0, v0 = ([1.0, 0.0], [0.0, 0.0]) if "holonomic" in callbacks else ([0.0, 0.0], [0.0, 1.0])
    try:
        o = Mechanism(**{**callbacks, name: wrong}, q0=q0, v0=v0)
        integrate(o, 1.0, scheme, h=0.02)
    except CallbackError as error:
        text = str(error)
    else:
        assert not wrong.shown  # nobody needs it any more
        return
    # at the start, what constraints return says how many there are: others do not fit then
    related = "|holonomic_acceleration|nonholonomic_jacobian" if begins < 0.0 else ""
    assert re.search(rf"\b({name}{related})\b", text), text
    when = re.search(r"\bt = ([\d.]+)", text)
    assert when, text
    assert abs(float(when[1].rstrip(".")) - max(begins, 0.0)) <= 0.05
    assert "expected" in text or "returned" in text
