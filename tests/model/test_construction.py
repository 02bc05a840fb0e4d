"""Arguments of a mechanism: what is refused and how, what is accepted, copies, names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from genalpha.errors import CallbackError, InvalidOptionError
from genalpha.model import Mechanism
from tests.model.support import distance, pendulum


def test_all_faults_in_one_error():
    with pytest.raises(InvalidOptionError) as caught:
        Mechanism(
            force=3,
            q0=[1.0, np.nan],
            v0=[0.0],
            t0=np.inf,
            holonomic_jacobian=lambda t, q: np.eye(2),
            nonholonomic_gradient="K",
            redundant="most",
            sparsity={"mass": None},
        )
    text = str(caught.value)
    for part in (
        "force is 3",
        "q0[1] is nan",
        "q0 has shape (2,) and v0 (1,)",
        "t0 = inf",
        "holonomic_jacobian is given but holonomic is not",
        "nonholonomic_gradient is 'K'",
        "nonholonomic_gradient is given but nonholonomic is not",
        "redundant = 'most'",
        "unknown key 'mass'",
    ):
        assert part in text
    assert len(caught.value.faults) == 9


@pytest.mark.parametrize("q0", [[], [[1.0, 2.0]], 1.0])
def test_a_start_that_is_no_vector(q0):
    with pytest.raises(InvalidOptionError, match=r"q0 has shape"):
        Mechanism(force=lambda t, q, v: q, q0=q0, v0=q0)


def test_a_start_that_is_no_number():
    with pytest.raises(InvalidOptionError, match=r"q0 is 'here'; expected numbers"):
        Mechanism(force=lambda t, q, v: q, q0="here", v0=[1.0])


def test_multipliers_and_names_must_fit():
    with pytest.raises(InvalidOptionError) as caught:
        pendulum(lam0=[1.0, 2.0], psi0=[1.0], constraint_names=["a", "b"])
    assert len(caught.value.faults) == 3
    assert "lam0 has shape (2,); expected shape (1,)" in str(caught.value)


@pytest.mark.parametrize(
    "shape", [lambda x: x, lambda x: x[:, None], lambda x: x[None, :], lambda x: x.tolist()]
)
def test_rows_columns_and_lists_are_vectors(shape):
    o = pendulum(force=lambda t, q, v: shape(np.array([1.0, 2.0])))
    assert o.force(0.0, o.q0, o.v0).shape == (2,)
    assert o.force(0.0, o.q0, o.v0).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("g", [0.0, np.float64(0.0), [0.0], [[0.0]], np.zeros((1, 1))])
def test_a_number_is_one_constraint(g):
    o = pendulum(holonomic=lambda t, q: g, holonomic_jacobian=lambda t, q: [1.0, 0.0])
    assert o.n_lam == 1
    assert o.holonomic(0.0, o.q0).shape == (1,)
    assert o.holonomic_jacobian(0.0, o.q0).shape == (1, 2)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array])
def test_a_row_is_a_matrix_of_one_row(kind):
    """In a dense and in a sparse mechanism alike."""
    o = pendulum(mass=kind(np.eye(2)), holonomic_jacobian=lambda t, q: 2.0 * q)
    assert o.is_sparse == (kind is sparse.csc_array)
    assert o.holonomic_jacobian(0.0, o.q0).shape == (1, 2)


WRONG = {
    "force": lambda t, q, v: np.zeros(3),
    "holonomic_jacobian": lambda t, q: np.zeros((2, 2)),
    "holonomic_rate": lambda t, q, v: np.zeros(2),
    "holonomic_acceleration": lambda t, q, v: np.zeros(2),
    "stiffness": lambda t, q, v, vdot, lam, psi: np.zeros((2, 3)),
    "damping": lambda t, q, v, vdot, lam, psi: np.zeros(4),
    "reaction": lambda t, q, v, lam, psi: np.zeros((2, 2)),
    "mass": lambda t, q: np.eye(3),
}


@pytest.mark.parametrize("key", WRONG)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_wrong_shapes_are_refused_by_name(key, as_sparse):
    changes = {key: WRONG[key]}
    if as_sparse and key != "mass":
        changes["mass"] = sparse.eye_array(2)
    with pytest.raises(CallbackError, match=rf"^{key} returned shape .*; expected \("):
        pendulum(**changes)


@pytest.mark.parametrize("value", [None, "text", [[1.0], [1.0, 2.0]], sparse.eye_array(1)])
def test_what_is_no_number_is_refused_by_name(value):
    """None, a forgotten `return`, is NaN to NumPy and must not pass for one."""
    with pytest.raises(CallbackError, match="force returned"):
        Mechanism(force=lambda t, q, v: value, q0=[1.0], v0=[0.0])


def test_constant_mass_of_the_wrong_shape():
    with pytest.raises(CallbackError, match=r"mass returned shape \(3, 3\); expected \(2, 2\)"):
        pendulum(mass=np.eye(3))


def test_no_mass_is_the_identity():
    assert distance(pendulum().mass(0.0, np.zeros(2)), np.eye(2)) == 0.0


def test_arguments_are_copied():
    mass, q0, v0 = np.diag([2.0, 3.0]), np.array([1.0, 0.0]), np.zeros(2)
    o = pendulum(mass=mass, q0=q0, v0=v0)
    mass[:], q0[:], v0[:] = 9.0, 9.0, 9.0
    assert distance(o.constant_mass, np.diag([2.0, 3.0])) == 0.0
    assert o.q0.tolist() == [1.0, 0.0]
    assert o.v0.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("key", ["mass", "holonomic_jacobian", "stiffness"])
def test_reused_sparse_buffers_do_no_harm(key):
    buffer = sparse.csc_array(np.array([[1.0, 2.0], [3.0, 4.0]]))[: 1 if "jac" in key else 2]

    def callback(t, q, *rest):
        buffer.data[:] = t
        return buffer

    o = pendulum(**{key: callback})
    state = (o.v0, np.zeros(2), np.zeros(1), np.zeros(0)) if key == "stiffness" else ()
    first = getattr(o, key)(1.0, o.q0, *state)
    getattr(o, key)(2.0, o.q0, *state)
    assert first.data.tolist() == [1.0] * first.nnz


def test_names_and_repr():
    o = pendulum(nonholonomic=lambda t, q, v: v[:1], name="swing")
    assert o.constraint_names == ["g[0]", "k[0]"]
    assert repr(o) == (
        "<Mechanism 'swing': 2 coordinates, 1 holonomic and 1 nonholonomic constraints, dense>"
    )
    named = o.replace(constraint_names=["rod", "skate"], mass=sparse.eye_array(2))
    assert named.constraint_names == ["rod", "skate"]
    assert repr(named).endswith("sparse>")


def test_replace_changes_only_what_it_names():
    o = pendulum(lam0=[3.0], energy=lambda t, q, v: 1.0, name="swing")
    other = o.replace(q0=[0.0, -1.0], t0=2.0)
    assert other.q0.tolist() == [0.0, -1.0]
    assert (other.t0, other.name, other.lam0.tolist()) == (2.0, "swing", [3.0])
    assert other.energy is o.energy
    assert o.q0.tolist() == [1.0, 0.0]
    with pytest.raises(TypeError, match="colour"):
        o.replace(colour="red")
    with pytest.raises(InvalidOptionError, match="q0 has shape"):
        o.replace(q0=[1.0, 2.0, 3.0])


def test_without_constraints_everything_is_empty():
    o = Mechanism(force=lambda t, q, v: -q, q0=[1.0, 2.0], v0=[0.0, 0.0])
    assert (o.n_lam, o.n_psi, o.constraint_names, o.given) == (0, 0, [], frozenset())
    none = np.zeros(0)
    assert o.holonomic_jacobian(0.0, o.q0).shape == (0, 2)
    assert o.nonholonomic_jacobian(0.0, o.q0, o.v0).shape == (0, 2)
    assert o.reaction_jacobian(0.0, o.q0, o.v0, none, none).shape == (2, 0)
    assert o.reaction(0.0, o.q0, o.v0, none, none).tolist() == [0.0, 0.0]
    assert o.imbalance(0.0, o.q0, o.v0, np.ones(2), none, none).tolist() == [2.0, 3.0]


def test_constant_matrices_are_copied_and_cannot_be_written_to():
    G = np.array([[0.0, 1.0]])
    o = Mechanism(
        force=lambda t, q, v: 0.0 * q,
        holonomic=lambda t, q: q[1],
        holonomic_jacobian=G,
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
    )
    G[0, 0] = 7.0
    found = o.holonomic_jacobian(0.0, o.q0)
    np.testing.assert_array_equal(found, [[0.0, 1.0]])
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1.0


def test_constant_matrices_of_the_wrong_kind():
    start = {"q0": [1.0, 0.0], "v0": [0.0, 0.0], "holonomic": lambda t, q: q[1]}
    with pytest.raises(InvalidOptionError, match="a callable or a constant matrix"):
        Mechanism(force=lambda t, q, v: 0.0 * q, holonomic_jacobian="G", **start)
    with pytest.raises(InvalidOptionError, match=r"(?s)force is .*expected a callable"):
        Mechanism(force=np.eye(2), **start)
    with pytest.raises(CallbackError, match=r"holonomic_jacobian returned shape \(1, 3\)"):
        Mechanism(force=lambda t, q, v: 0.0 * q, holonomic_jacobian=np.ones((1, 3)), **start)
