"""A motor that turns a crank and is switched on and off: time events and a switch.

The problem is a plain `Implicit_Problem` with the mechanism's equations as a user may have written
them for IDA: residual, switches, time events. y = [x, y, vx, vy, lam].
"""

import numpy as np
from assimulo.problem import Implicit_Problem

from genalpha import GenAlphaSOI2

TORQUE, FRICTION = 2.0, 0.3
SWITCHING = [1.0, 2.0, 3.5]  # on from the start; off, on, off


class Crank(Implicit_Problem):
    """A point mass of 1 kg on a horizontal crank of 1 m, driven by a motor."""

    def __init__(self):
        start = [1.0, 0.0, 0.0, 0.0, 0.0]
        Implicit_Problem.__init__(self, y0=start, yd0=np.zeros(5), sw0=[True], name="crank")

    def res(self, t, y, yd, sw):
        q, v, lam = y[:2], y[2:4], y[4]
        tangent = np.array([-q[1], q[0]])
        force = (TORQUE if sw[0] else 0.0) * tangent - FRICTION * v
        return np.concatenate([yd[:2] - v, yd[2:4] - force + 2.0 * lam * q, [q @ q - 1.0]])

    def time_events(self, t, y, yd, sw):
        return next((time for time in SWITCHING if time > t), None)

    def handle_event(self, solver, event_info):
        if event_info[1]:
            solver.sw[0] = not solver.sw[0]
            print(f"t = {solver.t}: motor {'on' if solver.sw[0] else 'off'}")


def main(solver_class=GenAlphaSOI2, h=5e-3):
    solver = solver_class(Crank())
    solver.h = h
    t, y, _ = solver.simulate(5.0, 100)
    speed = y[:, 3] * y[:, 0] - y[:, 2] * y[:, 1]
    return solver, np.array(t), y, speed


def exact_speed(t):
    """Speed of rotation: w' = torque - friction w, with the torque on and off."""
    speed, on, begin = 0.0, True, 0.0
    for end in [*SWITCHING, np.inf]:
        limit = TORQUE / FRICTION if on else 0.0
        length = min(t, end) - begin
        speed = limit + (speed - limit) * np.exp(-FRICTION * length)
        if t <= end:
            break
        on, begin = not on, end
    return speed


if __name__ == "__main__":
    main()
