"""Whatever a callback returns, and when: the error names it, the time, and what is right."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse

from genalpha import Mechanism, integrate
from genalpha.driver.options import options_of
from genalpha.errors import CallbackError, GenAlphaError, StepLimitError
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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize(
    ("kept", "name"),
    [
        *((("mass", "force", "holonomic"), name) for name in ("mass", "force", "holonomic")),
        *((("force", "nonholonomic"), name) for name in ("force", "nonholonomic")),
    ],
)
def test_once_is_enough(kept, name, bad):
    """A callback that fails once only, while it is differenced too: it is named, or it is no harm.

    Called again, it returns what is right, so that nothing but its name can be told.
    """
    callbacks = {key: {**CALLBACKS, **ROLLING}[key] for key in kept}
    q0, v0 = ([1.0, 0.0], [0.0, 0.0]) if "holonomic" in kept else ([0.0, 0.0], [0.0, 1.0])
    right = {scheme: integrate(Mechanism(**callbacks, q0=q0, v0=v0), 0.2, scheme, h=0.02)
             for scheme in SCHEMES}  # fmt: skip
    random = np.random.default_rng([len(kept), len(name)])
    texts, shown = [], 0
    for count in random.choice(np.arange(2, 60), 15, replace=False):
        scheme, once = str(random.choice(list(SCHEMES))), Once(callbacks[name], bad, count)
        try:
            o = Mechanism(**{**callbacks, name: once}, q0=q0, v0=v0)
            found = integrate(o, 0.2, scheme, h=0.02)
        except GenAlphaError as error:
            texts.append(str(error))
        else:
            np.testing.assert_allclose(found.q, right[scheme].q, atol=1e-9)
        shown += once.left <= 0
    assert shown > 5
    for text in texts:
        assert re.search(rf"\b{name}\b", text), text
        assert re.search(r"\bt = [\d.]+|the start", text), text


class Once:
    """A callback that is wrong at one call."""

    def __init__(self, right, bad, count):
        self.right, self.bad, self.left = right, bad, count

    def __call__(self, t, *state):
        self.left -= 1
        value = np.array(self.right(t, *state), dtype=float)
        if not self.left:
            value.flat[0] = self.bad
        return value


@pytest.mark.parametrize("name", ["maxh", "inith"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_steps_that_are_asked_to_be_too_small(scheme, name):
    o = Mechanism(force=lambda t, q, v: -q, q0=[1.0], v0=[0.0], t0=10.0)
    with pytest.raises(StepLimitError, match=rf"t = 10.0: {name} = 1e-300 .* Give a larger {name}"):
        integrate(o, 11.0, scheme, **{name: 1e-300})


EXTREME = (1e300, -1e300, 1e17, 1e-17, 1e-300, 5e-324, 10**400)


@pytest.mark.filterwarnings("ignore")  # of NumPy, and about what some of them mean
@pytest.mark.parametrize("callbacks", [CALLBACKS, ROLLING], ids=["holonomic", "nonholonomic"])
@pytest.mark.parametrize(
    ("scheme", "name"), [(key, x.name) for key in SCHEMES for x in options_of(SCHEMES[key])]
)
def test_extreme_values_of_options_are_named(callbacks, scheme, name):
    """Any option at the ends of what numbers can be: it does no harm, or it is named."""
    q0, v0 = ([1.0, 0.0], [0.0, 0.0]) if "holonomic" in callbacks else ([0.0, 0.0], [0.0, 1.0])
    o, texts = Mechanism(**callbacks, q0=q0, v0=v0), []
    for value in EXTREME:
        for h in (0.02, None):
            try:
                found = integrate(o, 0.2, scheme, **{"h": h, "maxsteps": 2000, name: value})
            except GenAlphaError as error:
                texts.append(str(error))
            else:
                assert np.isfinite(found.q).all()
                assert found.t[-1] == pytest.approx(0.2)
    assert [text for text in texts if not re.search(rf"\b{name}\b", text)] == []
