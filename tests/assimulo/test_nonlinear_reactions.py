"""Plain residuals whose reactions are not linear in the multipliers: friction in joints."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, Mechanism, integrate, mechanisms
from tests.assimulo.test_residual_path import Counted, solver_of

pytestmark = pytest.mark.needs_assimulo

#: Friction over the force in a rod, and the speed from which on it is nearly that.
FRICTION, SPEED = 0.2, 0.5
CLASSES = (GenAlphaI3, GenAlphaSOI2, HHTI2)
#: Calls per step, the constructor and the start among them.
MOST = {1e-3: 16.0, 1e-5: 8.0}


def rubbing() -> Mechanism:
    """Two point masses on rods, with friction in both joints that follows the forces there."""

    def gradient(t, q):
        rod = 2.0 * (q[2:] - q[:2])
        return np.array([[2.0 * q[0], 2.0 * q[1], 0.0, 0.0], [*-rod, *rod]])

    def reaction(t, q, v, lam, psi):
        forces = np.sqrt(np.repeat(lam, 2) ** 2 + 1.0)
        rubbed = v - np.append([0.0, 0.0], v[:2])
        return -gradient(t, q).T @ lam - FRICTION * forces * rubbed / np.sqrt(SPEED**2 + rubbed**2)

    return Mechanism(
        mass=np.diag([1.0, 1.0, 2.0, 2.0]),
        force=lambda t, q, v: np.array([0.0, -9.81, 0.0, -19.62]),
        holonomic=lambda t, q: np.array(
            [q[:2] @ q[:2] - 1.0, (q[2:] - q[:2]) @ (q[2:] - q[:2]) - 1.0]
        ),
        holonomic_jacobian=gradient,
        reaction=reaction,
        q0=[1.0, 0.0, 2.0, 0.0],
        v0=np.zeros(4),
        lam0=np.ones(2),
        name="rubbing",
    )


MADE = {"hht_test": mechanisms.hht_test, "rubbing": rubbing}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
@pytest.mark.parametrize("form", ["ind3", "ovstab2"])
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("cls", CLASSES)
def test_as_with_callbacks_and_few_calls(cls, name, form, tolerance):
    """The multipliers that tell force from reaction are those of the start; zero may be none."""
    o, options = MADE[name](), {"rtol": tolerance, "atol": 0.1 * tolerance}
    n, truth = o.n_q, integrate(o, 1.0, "GenAlphaSOI2", rtol=1e-9, atol=1e-10)
    alone = integrate(o, 1.0, cls.scheme, **options)
    counted = Counted(o, form)
    solver = solver_of(cls, counted.problem, **options)
    t, y, _ = solver.simulate(1.0)
    statistics = solver.statistics
    assert statistics["nfcns"] + statistics["nfcnjacs"] == counted.calls
    assert statistics["nsteps"] == pytest.approx(alone.statistics.nsteps, rel=0.1)
    assert counted.calls <= MOST[tolerance] * statistics["nsteps"]
    # of HHTI2, another part of the reactions counts as force
    allowed = 3.0 * np.abs(truth(alone.t).q - alone.q).max()
    assert np.abs(truth(np.array(t)).q - y[:, :n]).max() <= allowed
