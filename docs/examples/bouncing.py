"""A double pendulum whose lower mass bounces off a wall: state events that change velocities.

At an impact the wall reverses the horizontal velocity of the lower mass, and of nothing else. The
rods pass the blow on to the upper mass: `make_consistent` finds the velocities that the rods allow
and that are nearest in the mass metric, which is what ideal rods do.
"""

import numpy as np

from genalpha import GenAlphaSOI2, Mechanism

GRAVITY, WALL, RESTITUTION = 9.81, -0.5, 0.8


def double_pendulum():
    """q = [x1, y1, x2, y2], two point masses of 1 kg on rods of 1 m."""

    def rods(t, q):
        between = q[2:] - q[:2]
        return np.array([q[:2] @ q[:2] - 1.0, between @ between - 1.0])

    def rods_jacobian(t, q):
        between = q[2:] - q[:2]
        return 2.0 * np.array([[*q[:2], 0.0, 0.0], [*-between, *between]])

    return Mechanism(
        force=lambda t, q, v: np.array([0.0, -GRAVITY, 0.0, -GRAVITY]),
        q0=[0.6, -0.8, 1.2, -1.6],
        v0=np.zeros(4),
        holonomic=rods,
        holonomic_jacobian=rods_jacobian,
        energy=lambda t, q, v: 0.5 * float(v @ v) + GRAVITY * float(q[1] + q[3]),
        constraint_names=["upper rod", "lower rod"],
        name="double pendulum",
    )


def main(solver_class=GenAlphaSOI2, t_final=5.0):
    mechanism = double_pendulum()
    problem = mechanism.problem("ind3")
    impacts = []

    def state_events(t, y, yd, sw):
        return np.array([y[2] - WALL])  # distance of the lower mass from the wall

    def handle_event(solver, event_info):
        if event_info[0][0] != -1:  # it has just left the wall
            return
        before = mechanism.energy(solver.t, solver.y[:4], solver.y[4:8])
        solver.y[6] *= -RESTITUTION
        solver.make_consistent()
        after = mechanism.energy(solver.t, solver.y[:4], solver.y[4:8])
        impacts.append((solver.t, before, after))

    problem.state_events, problem.handle_event = state_events, handle_event
    solver = solver_class(problem)
    solver.h = 2e-3
    t, y, _ = solver.simulate(t_final, 250)
    for time, before, after in impacts:
        print(f"impact at t = {time:.6f}: energy {before:.4f} -> {after:.4f}")
    return solver, np.array(t), y, impacts


if __name__ == "__main__":
    main()
