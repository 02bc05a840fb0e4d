"""First-order states z' = r(t, q, v, z): a mechanism that has them, written as one that has none.

A state is the velocity of a coordinate zeta that nothing depends on. With

    Q = (q, zeta),    V = (v, z),    mass [M 0; 0 I],    force (f, r),

z' = r are rows of the equations of motion, and whatever is done with a velocity (its update in a
step, Newton's coupling, error estimates, dense output) is done with z. Callbacks are widened here,
and what comes back is made narrow again. Nonholonomic constraints k(t, q, v, z) have the gradient
K = [dk/dv, dk/dz], but react on the mechanism only: reaction = -[G 0]^T lam - [dk/dv 0]^T psi.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from genalpha.model.callbacks import checked_matrix, checked_vector, constant_matrix
from genalpha.model.differences import accurate_jacobian, forward_jacobian
from genalpha.model.given import takes
from genalpha.model.table import TABLE, Callback

if TYPE_CHECKING:
    from genalpha.model.mechanism import Mechanism

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array
Function = Callable[..., Any]

#: Derivatives of r by q, v and z, in this order, beside each other: the shape is (s, 2 n + s).
STATE_TABLE: dict[str, Callback] = {
    x.name: x
    for x in (
        Callback("state_rate", "t q v z", "s"),
        Callback("state_rate_jacobian", "t q v z", "sw", "state_rate", "newton"),
        Callback("state_coupling", "t q v z vdot lam psi", "ns", "", "newton"),
        Callback("nonholonomic_state_jacobian", "t q v z", "ls", "nonholonomic", "jacobian"),
    )
}


def _with_z(callback: Callback) -> Callback:
    """Return a callback of a mechanism with states: those that know v know z, unless g is meant."""
    if callback.name.startswith("holonomic") or " v" not in callback.arguments:
        return callback
    return replace(callback, arguments=callback.arguments.replace(" v", " v z", 1))


#: All callbacks of a mechanism with states.
DRIVEN_TABLE: dict[str, Callback] = {
    **{key: _with_z(x) for key, x in TABLE.items()},
    **STATE_TABLE,
}


def table_of(arguments: Mapping[str, Any]) -> dict[str, Callback]:
    """Return the callbacks that a mechanism with these arguments may have."""
    return TABLE if arguments["z0"] is None else DRIVEN_TABLE


class WideCallbacks:
    """The user's callbacks, checked, and widened for Q and V.

    Parameters
    ----------
    given : mapping
        The user's callbacks and constant matrices by name.
    sizes : (n, s, m, l)
        Numbers of coordinates, states, holonomic and nonholonomic constraints.
    is_sparse : bool
    """

    def __init__(
        self, given: Mapping[str, Any], sizes: tuple[int, int, int, int], is_sparse: bool
    ) -> None:
        self.n, self.s, self.m, self.l = sizes
        self.is_sparse = is_sparse
        self.own = {key: self._checked(key, x) for key, x in given.items() if x is not None}
        self.constant = {key for key, x in given.items() if x is not None and not callable(x)}
        self._identity = np.eye(0 if is_sparse else self.n + self.s)

    def _checked(self, key: str, value: Any) -> Function:
        n, s, m, l = self.n, self.s, self.m, self.l  # noqa: E741
        letters = {"n": n, "s": s, "m": m, "l": l, "c": m + l, "w": 2 * n + s}
        shape = tuple(letters[x] for x in DRIVEN_TABLE[key].shape)
        if len(shape) == 1:
            return checked_vector(value, key, shape[0])
        if not callable(value):
            return constant_matrix(value, key, shape, self.is_sparse)  # type: ignore[arg-type]
        return checked_matrix(value, key, shape, self.is_sparse)  # type: ignore[arg-type]

    @property
    def calls(self) -> dict[str, int]:
        """How often each callback was called so far, by name."""
        return {key: x.calls for key, x in self.own.items() if hasattr(x, "calls")}

    def arguments(self) -> dict[str, Any]:
        """Return what a mechanism of Q and V is made of."""
        own, made = self.own, dict[str, Any]()
        for key in own.keys() & {
            "holonomic",
            "holonomic_jacobian",
            "holonomic_rate",
            "holonomic_acceleration",
            "nonholonomic",
            "nonholonomic_gradient",
            "nonholonomic_acceleration",
        }:
            made[key] = self._widened(key)
        made["mass"] = self.mass() if self._constant_mass() else lambda t, Q: self.mass(t, Q)
        made["force"] = self.force
        if "nonholonomic_jacobian" in own:
            made["nonholonomic_jacobian"] = self.nonholonomic_jacobian
        if {"stiffness", "damping"} <= own.keys():
            made["stiffness"], made["damping"] = self.stiffness, self.damping
        if "reaction" in own:
            made["reaction"] = self.reaction
            if "reaction_jacobian" in own:
                made["reaction_jacobian"] = self.reaction_jacobian
        return made

    def split(self, V: Array) -> tuple[Array, Array]:
        """Return v and z."""
        return V[: self.n], V[self.n :]

    def _constant_mass(self) -> bool:
        return "mass" not in self.own or "mass" in self.constant

    def mass(self, *arguments: Any) -> Matrix:
        """Return [M 0; 0 I]."""
        n, s = self.n, self.s
        if "mass" not in self.own:
            return sparse.eye_array(n + s, format="csc") if self.is_sparse else np.eye(n + s)
        M = self.own["mass"](*arguments[:1], *(x[:n] for x in arguments[1:]))
        if self.is_sparse:
            return sparse.csc_array(
                (
                    np.append(M.data, np.ones(s)),
                    np.append(M.indices, n + np.arange(s)),
                    np.append(M.indptr, M.indptr[-1] + 1 + np.arange(s)),
                ),
                shape=(n + s, n + s),
            )
        wide = self._identity.copy()
        wide[:n, :n] = M
        return wide

    def force(self, t: float, Q: Array, V: Array) -> Array:
        """Return (f, r)."""
        n = self.n
        state = t, Q[:n], *self.split(V)
        found = np.empty(n + self.s)
        found[:n], found[n:] = self.own["force"](*state), self.own["state_rate"](*state)
        return found

    def _widened(self, key: str) -> Any:
        """Return a callback of constraints; matrices get columns of zeros."""
        function, n = self.own[key], self.n
        takes_z, is_matrix = "z" in DRIVEN_TABLE[key].arguments.split(), TABLE[key].is_matrix

        if key in self.constant:
            return self._with_zeros(function())

        def asked(t: float, Q: Array, V: Array | None = None) -> Any:
            if V is None:
                return function(t, Q[:n])
            return function(t, Q[:n], V[:n], V[n:]) if takes_z else function(t, Q[:n], V[:n])

        return (lambda *state: self._with_zeros(asked(*state))) if is_matrix else asked

    def _with_zeros(self, matrix: Matrix) -> Matrix:
        """Return [A 0]."""
        rows, columns = matrix.shape
        if not self.is_sparse:
            wide = np.zeros((rows, columns + self.s))
            wide[:, :columns] = matrix
            return wide
        indptr = np.append(matrix.indptr, np.full(self.s, matrix.indptr[-1]))
        return sparse.csc_array(
            (matrix.data, matrix.indices, indptr), shape=(rows, columns + self.s)
        )

    def nonholonomic_jacobian(self, t: float, Q: Array, V: Array) -> Matrix:
        """Return [dk/dv, dk/dz]."""
        q, (v, z) = Q[: self.n], self.split(V)
        of_v, known = self.own["nonholonomic_jacobian"](t, q, v, z), self.own["nonholonomic"]
        if "nonholonomic_state_jacobian" in self.own:
            of_z = self.own["nonholonomic_state_jacobian"](t, q, v, z)
        else:
            of_z = accurate_jacobian(lambda x: known(t, q, v, x), z)
        if self.is_sparse:
            return sparse.hstack([of_v, of_z], format="csc")
        return np.hstack([of_v, of_z])

    def _zeros(self, rows: int, columns: int) -> Matrix:
        shape = rows, columns
        return sparse.csc_array(shape) if self.is_sparse else np.zeros(shape)

    def _blocks(self, top_left: Matrix, top_right: Matrix, left: Matrix, right: Matrix) -> Matrix:
        if self.is_sparse:
            return sparse.block_array([[top_left, top_right], [left, right]], format="csc")
        n, found = self.n, np.empty((self.n + self.s, self.n + self.s))
        found[:n, :n], found[:n, n:], found[n:, :n], found[n:, n:] = (
            top_left,
            top_right,
            left,
            right,
        )
        return found

    def stiffness(
        self, t: float, Q: Array, V: Array, Vdot: Array, lam: Array, psi: Array
    ) -> Matrix:
        """Return [Kt 0; -r_q 0]."""
        n, s, (v, z) = self.n, self.s, self.split(V)
        Kt = self.own["stiffness"](t, Q[:n], v, z, Vdot[:n], lam, psi)
        r_q = self._rate_by(t, Q[:n], v, z)[:, :n]
        return self._blocks(Kt, self._zeros(n, s), -r_q, self._zeros(s, s))

    def damping(self, t: float, Q: Array, V: Array, Vdot: Array, lam: Array, psi: Array) -> Matrix:
        """Return [Ct Cz; -r_v -r_z], where Cz is the derivative of the imbalance by z."""
        n, (v, z) = self.n, self.split(V)
        q, rest = Q[:n], (Vdot[:n], lam, psi)
        Ct, r = self.own["damping"](t, q, v, z, *rest), self._rate_by(t, q, v, z)
        return self._blocks(Ct, self._coupling(t, q, v, z, *rest), -r[:, n : 2 * n], -r[:, 2 * n :])

    def _rate_by(self, t: float, q: Array, v: Array, z: Array) -> Matrix:
        """Return the derivatives of r by q, v, z, given or differenced."""
        known = self.own.get("state_rate_jacobian")
        if known is not None:
            return known(t, q, v, z)
        n, rate = self.n, self.own["state_rate"]

        def of(x: Array) -> Array:
            return np.asarray(rate(t, x[:n], x[n : 2 * n], x[2 * n :]))

        x = np.concatenate([q, v, z])
        found = forward_jacobian(of, x, of(x))
        return sparse.csc_array(found) if self.is_sparse else found

    def _coupling(self, t: float, q: Array, v: Array, z: Array, *rest: Array) -> Matrix:
        """Return the derivative of M vdot - f - reaction by z, given or differenced."""
        known = self.own.get("state_coupling")
        if known is not None:
            return known(t, q, v, z, *rest)
        force, reaction = self.own["force"], self.own.get("reaction")

        def of(x: Array) -> Array:
            found = -force(t, q, v, x)
            return found if reaction is None else found - reaction(t, q, v, x, *rest[1:])

        found = forward_jacobian(of, z, of(z))
        return sparse.csc_array(found) if self.is_sparse else found

    def reaction(self, t: float, Q: Array, V: Array, lam: Array, psi: Array) -> Array:
        """Return the user's reaction, which does not act on states."""
        n = self.n
        value = self.own["reaction"](t, Q[:n], *self.split(V), lam, psi)
        return np.append(value, np.zeros(self.s))

    def reaction_jacobian(self, t: float, Q: Array, V: Array, lam: Array, psi: Array) -> Matrix:
        """Return its derivative by (lam, psi)."""
        value = self.own["reaction_jacobian"](t, Q[: self.n], *self.split(V), lam, psi)
        zeros = self._zeros(self.s, value.shape[1])
        return sparse.vstack([value, zeros], format="csc") if self.is_sparse else np.vstack(
            [value, zeros]
        )  # fmt: skip


class MechanicalReaction:
    """The default reaction of constraints that know z: it acts along dk/dv, not along dk/dz."""

    def __init__(self, wide: Mechanism) -> None:
        self.wide = wide

    def __call__(self, t: float, Q: Array, V: Array, lam: Array, psi: Array) -> Array:
        """Return -[G 0]^T lam - [dk/dv 0]^T psi."""
        o = self.wide
        found = -(o.nonholonomic_jacobian(t, Q, V).T @ psi)
        found[o.n_q - o.n_states :] = 0.0
        return found - o.holonomic_jacobian(t, Q).T @ lam if o.n_lam else found

    def jacobian(self, t: float, Q: Array, V: Array, lam: Array, psi: Array) -> Matrix:
        """Return its derivative by (lam, psi)."""
        o = self.wide
        k, s, K = o.n_q - o.n_states, o.n_states, o.nonholonomic_jacobian(t, Q, V)
        G = o.holonomic_jacobian(t, Q)
        if o.is_sparse:
            K = sparse.hstack([K[:, :k], sparse.csc_array((o.n_psi, s))])
            return -sparse.csc_array(sparse.vstack([G, K]).T)
        K = K.copy()
        K[:, k:] = 0.0
        return -np.vstack([G, K]).T


class Narrowed:
    """A callback of a mechanism with states, for its users: asked of the widened one.

    Parameters
    ----------
    wide : Mechanism
        With Q and V.
    name : str
        Of the callback.
    """

    def __init__(self, wide: Mechanism, name: str) -> None:
        self.wide, self.name = wide, name
        self._names = DRIVEN_TABLE[name].arguments.split()

    def __call__(self, *arguments: Any) -> Any:
        """Return what the callback returns, given or differenced."""
        o, s = self.wide, self.wide.n_states
        n = o.n_q - s
        given = dict(zip(self._names, arguments, strict=True))
        wide = {key: value for key, value in given.items() if key in ("t", "lam", "psi")}
        wide["q"] = np.append(given.get("q", np.zeros(n)), np.zeros(s))
        wide["v"] = np.append(given.get("v", np.zeros(n)), given.get("z", np.zeros(s)))
        wide["vdot"] = np.append(given.get("vdot", np.zeros(n)), np.zeros(s))
        for key in ("lam", "psi"):
            wide.setdefault(key, np.zeros(getattr(o, f"n_{key}")))
        return self._of(n, wide)

    def _of(self, n: int, state: Mapping[str, Any]) -> Any:
        o, name = self.wide, self.name

        def ask(key: str) -> Any:
            return getattr(o, key)(*(state[x] for x in TABLE[key].arguments.split()))

        if name == "state_rate":
            return ask("force")[n:]
        if name == "state_rate_jacobian":
            of_q, of_v = -ask("stiffness")[n:, :n], -ask("damping")[n:]
            return (sparse.hstack if o.is_sparse else np.hstack)([of_q, of_v])
        if name == "state_coupling":
            return ask("damping")[:n, n:]
        if name == "nonholonomic_state_jacobian":
            return ask("nonholonomic_jacobian")[:, n:]
        value, shape = ask(name), TABLE[name].shape
        if shape[0] == "n":
            value = value[:n]
        return value[:, :n] if shape[1:] == "n" else value


def takes_z(function: Function) -> bool:
    """Tell whether a function of (t, q, v) wants z as well: it needs four arguments, or says "z".

    A fourth argument with a default, as in ``lambda t, q, v, i=i: ...``, is something else.
    """
    if not takes(function, 3):
        return True
    try:
        names = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # functions of C do not say
        return False
    return len(names) > 3 and names[3].name == "z" and names[3].kind is not names[3].KEYWORD_ONLY


def with_z(function: Function, n: int) -> Function:
    """Return a function of (t, q, v) or of (t, q, v, z) as one of (t, Q, V)."""
    if takes_z(function):
        return lambda t, Q, V: function(t, Q[:n], V[:n], V[n:])
    return lambda t, Q, V: function(t, Q[:n], V[:n])
