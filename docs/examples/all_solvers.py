"""One mechanism, many solvers: a loop over class names, each with the formulation it can solve.

IDA is Assimulo's own where there is one, otherwise scikit-sundae's in the same clothes.
"""

import numpy as np
from assimulo.solvers import ODASSL, Radau5DAE

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, mechanisms
from genalpha.assimulo import IDA

#: Solver and formulation.
PAIRS = [
    (GenAlphaI3, "ind3"),
    (GenAlphaSOI2, "ind3"),
    (HHTI2, "ind3"),
    (IDA, "ggl2"),
    (Radau5DAE, "ggl2"),
    (ODASSL, "ovstab2"),
]


def main(t_final=2.0, tolerance=1e-6):
    mechanism = mechanisms.assimulo_pendulum()
    n = mechanism.n_q
    exact = mechanism.reference.motion(t_final)
    rows = []
    print(f"{'solver':14} {'form':8} {'steps':>6} {'error of q':>12} {'drift of g':>12}")
    for solver_class, form in PAIRS:
        problem = mechanism.problem(form)
        solver = solver_class(problem)
        solver.verbosity = 50
        solver.atol = solver.rtol = tolerance
        solver.suppress_alg = True
        try:
            t, y, _ = solver.simulate(t_final, 20)
        except Exception as failure:  # every class has its own
            print(f"{solver_class.__name__:14} {form:8} failed: {failure}")
            continue
        error = float(np.max(np.abs(y[-1, :n] - exact.q)))
        drift = float(np.max(np.abs(mechanism.holonomic(t[-1], y[-1, :n]))))
        steps = solver.statistics["nsteps"]
        rows.append((solver_class.__name__, form, steps, error, drift))
        print(f"{solver_class.__name__:14} {form:8} {steps:6} {error:12.2e} {drift:12.2e}")
    return rows


if __name__ == "__main__":
    main()
