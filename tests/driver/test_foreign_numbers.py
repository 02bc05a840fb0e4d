"""What callbacks may do with our arrays, and what they may return."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from genalpha import Mechanism, integrate
from genalpha.errors import CallbackError, InvalidOptionError
from genalpha.model.callbacks import now
from genalpha.model.states import DRIVEN_TABLE
from tests.model.support import pendulum

GRAVITY = np.array([0.0, -9.81])


def test_callbacks_cannot_change_our_arrays():
    def force(t, q, v):
        q -= 1.0
        return GRAVITY

    o = pendulum()
    with pytest.raises(ValueError, match="read-only"):
        integrate(pendulum(force=force), 0.1, h=0.01)
    kept = []

    def keeps(t, q, v):
        kept.append(q)
        return GRAVITY

    solution = integrate(pendulum(force=keeps), 0.1, h=0.01)
    values = [q.copy() for q in kept]
    assert len({q.tobytes() for q in kept}) > 10  # kept arrays are not written to again
    assert all(np.array_equal(a, b) for a, b in zip(values, kept, strict=True))
    assert solution.q[-1] == pytest.approx(integrate(o, 0.1, h=0.01).q[-1])


def big_endian(x):
    return np.asarray(x).astype(">f8")


def complex_but_real(x):
    return np.asarray(x) + 0j


def strided(x):
    wide = np.zeros(2 * np.size(x))
    wide[::2] = x
    return wide[::2]


def unaligned(x):
    memory = np.zeros(8 * np.size(x) + 1, dtype=np.uint8)
    values = memory[1:].view(float)
    values[:] = x
    return values


@pytest.mark.parametrize("form", [big_endian, complex_but_real, strided, unaligned, list])
def test_numbers_of_any_kind_are_converted(form):
    right = integrate(pendulum(), 0.5, h=0.01).q
    found = integrate(pendulum(force=lambda t, q, v: form(GRAVITY)), 0.5, h=0.01).q
    assert np.array_equal(found, right)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (GRAVITY + 1e-9j, "imaginary"),
        (np.ma.array(GRAVITY, mask=[True, False]), "masked"),
        (["0", "-9.81"], "type <U5"),
        (np.array([0, 1], dtype="m8[s]"), "type timedelta"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(value, why):
    with pytest.raises(CallbackError, match=f"force.*{why}"):
        pendulum(force=lambda t, q, v: value)
    with pytest.raises(InvalidOptionError, match=f"q0.*{why}"):
        pendulum(q0=value)


def test_sparse_matrices_of_any_kind():
    right = sparse.csc_array(np.array([[2.0, 0.5], [0.5, 3.0]]))

    def with_data(data):
        return sparse.csc_array((data, right.indices, right.indptr), shape=(2, 2))

    for data in (strided(right.data), complex_but_real(right.data)):
        o = Mechanism(
            force=lambda t, q, v: GRAVITY,
            q0=[0, 0],
            v0=[0, 0],
            mass=lambda t, q, data=data: with_data(data),
        )
        assert np.array_equal(o.mass(0.0, o.q0).toarray(), right.toarray())
        assert np.array_equal(now(o.mass)(0.0, o.q0).toarray(), right.toarray())
    with pytest.raises(CallbackError, match=r"mass.*imaginary"):
        pendulum(mass=lambda t, q: with_data(right.data + 1j))


def test_calls_are_counted_truly():
    counts = dict.fromkeys(("force", "holonomic", "holonomic_jacobian", "mass"), 0)

    def counted(name, function):
        def call(*arguments):
            counts[name] += 1
            return function(*arguments)

        return call

    o = pendulum(
        mass=counted("mass", lambda t, q: np.eye(2)),
        force=counted("force", lambda t, q, v: GRAVITY),
        holonomic=counted("holonomic", lambda t, q: np.array([q @ q - 1.0])),
        holonomic_jacobian=counted("holonomic_jacobian", lambda t, q: 2.0 * q[None, :]),
    )
    for scheme in ("GenAlphaI3", "GenAlphaSOI2", "HHTI2"):
        before = dict(counts)
        solution = integrate(o, 0.3, scheme)
        assert solution.statistics.calls == {key: counts[key] - before[key] for key in counts}


def test_the_table_knows_all_arguments():
    """Whoever adds a callback declares it."""
    arguments = Mechanism.__init__.__annotations__
    callbacks = {key for key, kind in arguments.items() if "Callback" in str(kind)} | {"mass"}
    assert callbacks - {"quadratic_velocity"} == set(DRIVEN_TABLE)  # that is no callback of a step
