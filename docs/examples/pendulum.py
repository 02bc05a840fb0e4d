"""A pendulum, written for Assimulo's IDA: only the class name is new.

The problem is Assimulo's own: a `Mechanical_System` that generates the index-3 equations, on
which IDA and Radau5DAE fail. Change `SOLVER` back to compare.
"""

import numpy as np
from assimulo.special_systems import Mechanical_System

from genalpha import GenAlphaSOI2

SOLVER = GenAlphaSOI2  # was: from assimulo.solvers import IDA
GRAVITY = 13.7503671  # a period of two seconds


def pendulum():
    def forces(t, p, v):
        return np.array([0.0, -GRAVITY])

    def constraint(t, y):
        return np.array([y[0] ** 2 + y[1] ** 2 - 1.0])

    return Mechanical_System(
        n_p=2,
        forces=forces,
        n_la=1,
        pos0=[1.0, 0.0],
        vel0=[0.0, 0.0],
        lam0=[0.0],
        posd0=[0.0, 0.0],
        veld0=[0.0, -GRAVITY],
        GT=lambda p: p.reshape(2, 1),
        constr3=constraint,
    )


def main(t_final=10.0):
    problem = pendulum().generate_problem("ind3")
    problem.name = "Pendulum, index 3"
    solver = SOLVER(problem)
    solver.atol = 1e-6
    solver.rtol = 1e-6
    solver.suppress_alg = True
    t, y, yd = solver.simulate(t_final, 100)
    print("Residuals at the end:", problem.res(t[-1], y[-1], yd[-1]))
    return solver, t, y, yd


if __name__ == "__main__":
    solver, *_ = main()
    solver.plot(mask=[1, 1, 0, 0, 0])
