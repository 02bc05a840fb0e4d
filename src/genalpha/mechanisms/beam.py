"""A flexible pendulum by absolute nodal coordinates: stiff, sparse, N elements."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from genalpha.mechanisms._build import NO_MULTIPLIER, Matrix, StateHistory, Vector, assemble, ready
from genalpha.model import Mechanism, Motion, Reference


def _shapes(xi: Vector, h: float) -> tuple[Vector, Vector, Vector]:
    """Return the cubic Hermite functions, first and second derivatives, one row per point."""
    value = [1 - 3 * xi**2 + 2 * xi**3, h * (xi - 2 * xi**2 + xi**3)]
    value += [3 * xi**2 - 2 * xi**3, h * (xi**3 - xi**2)]
    first = [6 * (xi**2 - xi) / h, 1 - 4 * xi + 3 * xi**2, 6 * (xi - xi**2) / h, 3 * xi**2 - 2 * xi]
    second = [(12 * xi - 6) / h**2, (6 * xi - 4) / h, (6 - 12 * xi) / h**2, (6 * xi - 2) / h]
    return np.array(value).T, np.array(first).T, np.array(second).T


class _Beam:
    """Planar elements with nodal positions and slopes, q = (r0, r0', r1, r1', ...).

    Axial energy 1/2 EA eps^2 with eps = (r'.r' - 1) / 2, bending energy 1/2 EI r''.r''.
    """

    def __init__(
        self, elements: int, length: float, density: float, EA: float, EI: float, gravity: float
    ) -> None:
        self.elements, self.n = elements, 4 * (elements + 1)
        h = length / elements
        points, weights = np.polynomial.legendre.leggauss(5)  # exact for all integrands here
        self.weights = 0.5 * h * weights
        S, self.B, C = _shapes(0.5 * (points + 1.0), h)
        self.EA = EA
        self.bending = EI * np.einsum("g,gi,gj->ij", self.weights, C, C)
        inertia = density * np.einsum("g,gi,gj->ij", self.weights, S, S)
        self.outer = np.einsum("gi,gj->gij", self.B, self.B).reshape(5, 16)
        nodes = 2 * np.arange(elements)[:, None] + np.arange(4)
        self.nodes = nodes
        self._store_pattern(2 * nodes[:, :, None] + np.arange(2))
        block = np.multiply.outer(np.eye(2), inertia).reshape(4, 16)
        self.mass = self._assemble(np.tile(block, (elements, 1, 1)))
        weight = np.tile(-gravity * density * (self.weights @ S), elements)
        self.load = np.zeros(self.n)
        self.load[1::2] = np.bincount(nodes.ravel(), weights=weight)
        self.jacobian = sparse.csc_array(np.eye(2, self.n))
        self._zero = sparse.csc_array((self.n, self.n))

    def _store_pattern(self, dofs: Vector) -> None:
        """Find once where each entry of the element matrices goes in the assembled one.

        `dofs` holds the coordinate of element e, function i, direction c. Element matrices
        come as (N, 4, 16): directions c, d of row and column, then functions i, j.
        """
        n, shape = self.elements, (self.elements, 2, 2, 4, 4)
        by_direction = dofs.transpose(0, 2, 1)
        rows = np.broadcast_to(by_direction[:, :, None, :, None], shape).ravel()
        columns = np.broadcast_to(by_direction[:, None, :, None, :], shape).ravel()
        pattern = sparse.csc_array((np.ones(64 * n), (rows, columns)), shape=(self.n, self.n))
        pattern.sort_indices()
        filled = np.repeat(np.arange(self.n), np.diff(pattern.indptr)) * self.n + pattern.indices
        self._pattern = pattern
        self._where = np.searchsorted(filled, columns * self.n + rows)

    def _assemble(self, blocks: Vector) -> sparse.csc_array:
        """Return the sum of the element matrices, shape (N, 4, 16)."""
        data = np.bincount(
            self._where, weights=np.ravel(blocks), minlength=self._pattern.indices.size
        )
        indices, indptr = self._pattern.indices, self._pattern.indptr
        return sparse.csc_array((data, indices, indptr), shape=(self.n, self.n))

    def _slopes(self, q: Vector) -> tuple[Vector, Vector, Vector]:
        """Return element coordinates, r' and EA eps times weight at the points."""
        element = q.reshape(-1, 2)[self.nodes]
        slope = np.matmul(self.B, element)
        strain = 0.5 * (np.einsum("egc,egc->eg", slope, slope) - 1.0)
        return element, slope, self.EA * self.weights * strain

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        element, slope, tension = self._slopes(q)
        inner = np.matmul(self.B.T, tension[:, :, None] * slope) + np.matmul(self.bending, element)
        force = self.load.copy().reshape(-1, 2)
        force[:-2] -= inner[:, :2].reshape(-1, 2)
        force[2:] -= inner[:, 2:].reshape(-1, 2)
        return force.ravel()

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        _, slope, tension = self._slopes(q)
        weighted = (self.EA * self.weights)[:, None] * slope
        dyads = weighted[:, :, :, None] * slope[:, :, None, :]
        blocks = np.matmul(dyads.reshape(-1, 5, 4).transpose(0, 2, 1), self.outer)
        isotropic = tension @ self.outer + self.bending.ravel()
        blocks[:, 0] += isotropic
        blocks[:, 3] += isotropic
        return self._assemble(blocks)

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return self._zero

    def holonomic(self, t: float, q: Vector) -> Vector:
        return q[:2].copy()

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        return self.jacobian

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return v[:2].copy()

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.zeros(2)

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        element, _, tension = self._slopes(q)
        axial = 0.5 * (tension**2 / (self.EA * self.weights)).sum()
        bending = 0.5 * np.einsum("eic,ij,ejc->", element, self.bending, element, optimize=True)
        return float(0.5 * v @ (self.mass @ v) + axial + bending - self.load @ q)

    @cached_property
    def free_mass(self) -> SuperLU:
        """The factorized mass of all coordinates but the hinged position."""
        return splu(self.mass[2:, 2:].tocsc())

    def motion(self, q: Vector, v: Vector) -> Motion:
        force = self.force(0.0, q, v)
        vdot = np.append(np.zeros(2), self.free_mass.solve(force[2:]))
        return Motion(q, v, vdot, (force - self.mass @ vdot)[:2], NO_MULTIPLIER)


_NODAL = ("x", "y", "slope x", "slope y")


@ready
def flexible_pendulum(
    elements: int = 4,
    length: float = 1.0,
    density: float = 1.0,
    EA: float = 1e4,
    EI: float = 1.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Return a flexible beam hinged at one end, by absolute nodal coordinates.

    Cubic elements with nodal positions and slopes (gradient-deficient cable element of
    Berzeri and Shabana 2000; bending energy 1/2 EI r''.r'', the small-strain form): constant
    sparse mass, stiff nonlinear forces whose axial frequencies grow as N sqrt(EA / density) /
    length. Released at rest, straight and horizontal. No damping: the energy is conserved.
    The reference integrates the coordinates without the hinged ones by DOP853, which has to
    resolve the fastest oscillation: that takes seconds, and rounding times frequency leaves 13
    digits in q and between 9 and 10 in v.

    Parameters
    ----------
    elements : int
        Their number N.
    length : float
        In m.
    density : float
        Mass per length (kg/m).
    EA, EI : float
        Axial stiffness (N) and bending stiffness (N m^2).
    gravity : float
        In m/s^2.
    """
    model = _Beam(elements, length, density, EA, EI, gravity)
    nodes = np.zeros((elements + 1, 4))
    nodes[:, 0], nodes[:, 2] = np.linspace(0.0, length, elements + 1), 1.0
    q0, n = nodes.ravel(), model.n

    def rhs(t: float, x: Vector) -> Vector:
        force = model.force(t, np.append(q0[:2], x[: n - 2]), x)
        return np.append(x[n - 2 :], model.free_mass.solve(force[2:]))

    history = StateHistory(rhs, 0.0, np.append(q0[2:], np.zeros(n - 2)), segment=0.004)

    def motion(t: float) -> Motion:
        q, v = np.split(history(t), 2)
        return model.motion(np.append(q0[:2], q), np.append(np.zeros(2), v))

    return assemble(
        model, q0=q0, v0=np.zeros(n), lam0=model.motion(q0, np.zeros(n)).lam,
        constraint_names=["hinge x", "hinge y"],
        reference=Reference(
            source="DOP853 without the hinged coordinates, relative tolerance 1e-13",
            motion=motion, digits=9.5,
        ),
        coordinate_names=[f"node {i} {x}" for i in range(elements + 1) for x in _NODAL],
        name="flexible_pendulum",
    )  # fmt: skip
