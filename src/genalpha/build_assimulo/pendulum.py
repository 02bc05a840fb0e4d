"""Is the installed Assimulo sound? Run in a process of its own: a bad extension may crash it."""

from __future__ import annotations

from genalpha.build_assimulo.stages import BuildError

GRAVITY = 13.7503671  # the value of Assimulo's example: the period is close to 2


def verify() -> None:
    """Solve Assimulo's pendulum with Radau5DAE and with ODASSL; raise unless they agree."""
    import numpy as np
    from assimulo.solvers import ODASSL, Radau5DAE
    from assimulo.special_systems import Mechanical_System

    system = Mechanical_System(
        n_p=2,
        forces=lambda t, p, v: np.array([0.0, -GRAVITY]),
        n_la=1,
        pos0=[1.0, 0.0],
        vel0=[0.0, 0.0],
        lam0=[0.0],
        posd0=[0.0, 0.0],
        veld0=[0.0, -GRAVITY],
        GT=lambda p: p.reshape(2, 1),
        constr3=lambda t, y: np.array([y[0] ** 2 + y[1] ** 2 - 1.0]),
        constr2=lambda t, y: np.array([y[0] * y[2] + y[1] * y[3]]),
        constr1=lambda t, y: np.array([y[2] ** 2 + y[3] ** 2 - y[4] - GRAVITY * y[1]]),
    )
    ends = []
    for solver_class, formulation in ((Radau5DAE, "ind1"), (ODASSL, "ovstab2")):
        solver = solver_class(system.generate_problem(formulation))
        solver.verbosity = 50
        solver.atol = solver.rtol = 1e-8
        ends.append(solver.simulate(1.0, 10)[1][-1, :4])
    difference = float(np.max(np.abs(ends[0] - ends[1])))
    if not difference < 1e-5:
        raise BuildError("verify", f"Radau5DAE and ODASSL differ by {difference:.1e} at t = 1")
