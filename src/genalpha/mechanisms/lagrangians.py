"""Mechanisms of the catalogue from their Lagrangians: what has to be written, and nothing else.

Each has the coordinates, constraints and start of its hand-written twin of the same name, and the
same motion (tests compare them). They need SymPy, the extra [symbolic].
"""

from __future__ import annotations

from math import pi
from typing import Any

from genalpha.mechanisms import caraxis, chains, fourbar, rolling, slidercrank, squeezer
from genalpha.model import Mechanism


def _sympy() -> tuple[Any, Any]:
    """Return SymPy and its `dynamicsymbols`; only who calls one of these functions needs it."""
    import sympy
    from sympy.physics.mechanics import dynamicsymbols

    return sympy, dynamicsymbols


def simple_pendulum(**parameters: float) -> Mechanism:
    """Return the point-mass pendulum, released at a right angle: parameters m, l, g."""
    sp, dynamicsymbols = _sympy()
    x, y = dynamicsymbols("x y")
    m, l, g = sp.symbols("m l g")  # noqa: E741
    L = m * (x.diff() ** 2 + y.diff() ** 2) / 2 - m * g * y
    return Mechanism.from_lagrangian(
        L, [x, y], holonomic=[(x**2 + y**2 - l**2) / 2], q0=[-l, 0],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81, **parameters}, name="simple_pendulum",
    )  # fmt: skip


def driven_pendulum(**parameters: float) -> Mechanism:
    """Return the pendulum on a support at (a, b) sin(w t): parameters m, l, g, a, b, w."""
    sp, dynamicsymbols = _sympy()
    x, y = dynamicsymbols("x y")
    m, l, g, a, b, w = sp.symbols("m l g a b w")  # noqa: E741
    s = sp.sin(w * dynamicsymbols._t)
    L = m * (x.diff() ** 2 + y.diff() ** 2) / 2 - m * g * y
    given = {"m": 1.0, "l": 1.0, "g": 9.81, "a": 0.2, "b": 0.1, "w": 5.0, **parameters}
    return Mechanism.from_lagrangian(
        L, [x, y], holonomic=[((x - a * s) ** 2 + (y - b * s) ** 2 - l**2) / 2],
        q0=[l * sp.sin(0.5), -l * sp.cos(0.5)], v0=[a * w, b * w], parameters=given,
        name="driven_pendulum", energy=None,
    )  # fmt: skip


def chain(links: int = 2, **parameters: float) -> Mechanism:
    """Return a hanging chain of slender links, released straight; two are a double pendulum.

    Parameters l (of a link), m, g.
    """
    sp, dynamicsymbols = _sympy()
    m, l, g = sp.symbols("m l g")  # noqa: E741
    bodies = [dynamicsymbols(f"x{i} y{i} theta{i}") for i in range(links)]
    L, end, joints = 0, (0, 0), []
    for x, y, theta in bodies:
        L += m * (x.diff() ** 2 + y.diff() ** 2 + l**2 * theta.diff() ** 2 / 12) / 2 - m * g * y
        half = l * sp.cos(theta) / 2, l * sp.sin(theta) / 2
        joints += [end[0] - x + half[0], end[1] - y + half[1]]
        end = x + half[0], y + half[1]
    q0 = [entry for i in range(links) for entry in (l * (2 * i + 1) / 2, 0, 0)]
    return Mechanism.from_lagrangian(
        L, [x for body in bodies for x in body], holonomic=joints, q0=q0,
        parameters={"l": 0.5, "m": 0.5, "g": 9.81, **parameters}, name="chain",
        constraint_names=chains._names(links),
    )  # fmt: skip


def four_bar(**parameters: float) -> Mechanism:
    """Return the four-bar: parameters a, b, c, d (crank, coupler, rocker, ground), rho, g."""
    sp, dynamicsymbols = _sympy()
    *lengths, d, rho, g = sp.symbols("a b c d rho g")
    bars = [dynamicsymbols(f"x{i} y{i} theta{i}") for i in range(3)]
    L, end, joints = 0, (0, 0), []
    for (x, y, theta), s in zip(bars, lengths, strict=True):
        T = rho * s * (x.diff() ** 2 + y.diff() ** 2 + s**2 * theta.diff() ** 2 / 12) / 2
        L += T - rho * s * g * y
        half = s * sp.cos(theta) / 2, s * sp.sin(theta) / 2
        joints += [end[0] - x + half[0], end[1] - y + half[1]]
        end = x + half[0], y + half[1]
    twin = fourbar.four_bar()
    given = {"a": 0.4, "b": 1.0, "c": 0.8, "d": 0.9, "rho": 2.0, "g": 9.81, **parameters}
    return Mechanism.from_lagrangian(
        L, [x for bar in bars for x in bar],
        holonomic=[-joints[0], -joints[1], *joints[2:], end[0] - d, end[1]],
        q0=twin.q0, v0=twin.v0, parameters=given, name="four_bar",
    )  # fmt: skip


def slider_crank(**parameters: float) -> Mechanism:
    """Return the slider-crank with spring and mass: l1, l2, m1 to m4, spring, torque, angle0."""
    sp, dynamicsymbols = _sympy()
    q = dynamicsymbols("x1 y1 theta1 x2 y2 theta2 x3 x4 x5 y5")
    x1, y1, theta1, x2, y2, theta2, x3, x4, x5, y5 = q
    l1, l2, m1, m2, m3, m4, spring, torque, angle0 = sp.symbols(
        "l1 l2 m1 m2 m3 m4 spring torque angle0"
    )
    masses = m1, m1, m1 * l1**2 / 12, m2, m2, m2 * l2**2 / 12, m3, m4, 0, 0
    T = sum(m * x.diff() ** 2 / 2 for m, x in zip(masses, q, strict=True))
    crank = l1 * sp.cos(theta1), l1 * sp.sin(theta1)
    rod = l2 * sp.cos(theta2), l2 * sp.sin(theta2)
    joints = [
        x1 - crank[0] / 2, y1 - crank[1] / 2, x5 - crank[0], y5 - crank[1],
        x2 - x5 - rod[0] / 2, y2 - y5 - rod[1] / 2, x3 - x5 - rod[0], y5 + rod[1],
    ]  # fmt: skip
    angle2 = -sp.asin(l1 * sp.sin(angle0) / l2)
    px, py = l1 * sp.cos(angle0), l1 * sp.sin(angle0)
    end = px + l2 * sp.cos(angle2)
    given = {
        "l1": 0.3, "l2": 0.6, "m1": 0.36, "m2": 0.15, "m3": 0.1, "m4": 0.7, "spring": 1000.0,
        "torque": 1.0, "angle0": pi / 2, **parameters,
    }  # fmt: skip
    return Mechanism.from_lagrangian(
        T - spring * (x4 - x3) ** 2 / 2 + torque * theta1, q, holonomic=joints,
        q0=[px / 2, py / 2, angle0, (px + end) / 2, py / 2, angle2, end, end, px, py],
        parameters=given, name="slider_crank",
        constraint_names=slidercrank.slider_crank().constraint_names,
    )  # fmt: skip


def andrews_squeezer(**parameters: float) -> Mechanism:
    """Return Andrews' squeezing mechanism: parameters as in `SqueezerParameters`."""
    sp, dynamicsymbols = _sympy()
    values = vars(squeezer.SqueezerParameters()) | parameters
    p = {key: sp.Symbol(key) for key in values}
    q = beta, theta, gamma, phi, delta, omega, epsilon = dynamicsymbols(
        "beta theta gamma phi delta omega epsilon"
    )

    def arm(a: str, angle: Any, quarter: int = 0) -> Any:
        """Return an arm of length a, turned; quarters of a turn are exact."""
        turns = [(sp.cos, sp.sin), (sp.sin, lambda x: -sp.cos(x))][quarter]
        length = p[a] if a in p else sp.sympify(a, locals=p)
        return sp.Matrix([length * turns[0](angle), length * turns[1](angle)])

    A, B = sp.Matrix([p["xa"], p["ya"]]), sp.Matrix([p["xb"], p["yb"]])
    O1, crank = arm("ra", beta), arm("rr", beta)
    E = crank - arm("d", beta + theta)
    centres = [
        (O1, beta),
        (crank - arm("da", beta + theta), beta + theta),
        (B + arm("sa", gamma, 1) + arm("sb", gamma), gamma),
        (A + arm("zt", delta) + arm("e - ea", phi + delta, 1), phi + delta),
        (A + arm("ta", delta, 1) - arm("tb", delta), delta),
        (A + arm("u", epsilon, 1) + arm("zf - fa", omega + epsilon), omega + epsilon),
        (A + arm("ua", epsilon, 1) - arm("ub", epsilon), epsilon),
    ]
    L = p["mom"] * beta
    for i, (centre, angle) in enumerate(centres, 1):
        v = centre.diff(dynamicsymbols._t)
        L += p[f"m{i}"] * v.dot(v) / 2 + p[f"i{i}"] * angle.diff() ** 2 / 2
    spring = B + arm("sc", gamma, 1) + arm("sd", gamma) - sp.Matrix([p["xc"], p["yc"]])
    L -= p["c0"] * (sp.sqrt(spring.dot(spring)) - p["l0"]) ** 2 / 2
    ends = [
        B + arm("ss", gamma, 1),
        A + arm("zt", delta) + arm("e", phi + delta, 1),
        A + arm("u", epsilon, 1) + arm("zf", omega + epsilon),
    ]
    return Mechanism.from_lagrangian(
        L, q, holonomic=[x for end in ends for x in E - end], q0=squeezer.START,
        parameters=values, name="andrews_squeezer",
    )  # fmt: skip


def rolling_disk(**parameters: float) -> Mechanism:
    """Return the disk that rolls without slipping: parameters m, r, I1, I2, g."""
    sp, dynamicsymbols = _sympy()
    q = x, y, tilt, heading, roll = dynamicsymbols("x y tilt heading roll")
    m, r, I1, I2, g = sp.symbols("m r I1 I2 g")
    lean, (s, c) = r * sp.sin(tilt), (sp.sin(heading), sp.cos(heading))
    centre = sp.Matrix([x - lean * s, y + lean * c, r * sp.cos(tilt)])
    v = centre.diff(dynamicsymbols._t)
    turning = I1 * (tilt.diff() ** 2 + (heading.diff() * sp.cos(tilt)) ** 2)
    spin = I2 * (heading.diff() * sp.sin(tilt) + roll.diff()) ** 2
    twin = rolling.rolling_disk()
    given = {"m": 2.0, "r": 1.0, "I1": 2.0, "I2": 2.0, "g": 10.0, **parameters}
    return Mechanism.from_lagrangian(
        m * v.dot(v) / 2 + (turning + spin) / 2 - m * g * r * sp.cos(tilt), q,
        nonholonomic=[x.diff() - r * roll.diff() * c, y.diff() - r * roll.diff() * s],
        q0=twin.q0, v0=twin.v0, parameters=given, name="rolling_disk",
    )  # fmt: skip


def assimulo_pendulum(**parameters: float) -> Mechanism:
    """Return the pendulum of Assimulo's example, released on the right: parameters m, l, g."""
    o = simple_pendulum(**{"g": 13.7503671, **parameters})
    return o.replace(q0=-o.q0, name="assimulo_pendulum")


def spherical_pendulum(**parameters: float) -> Mechanism:
    """Return the pendulum in space: parameters m, l, g, angle0, speed0."""
    sp, dynamicsymbols = _sympy()
    q = x, y, z = dynamicsymbols("x y z")
    m, l, g, angle0, speed0 = sp.symbols("m l g angle0 speed0")  # noqa: E741
    given = {"m": 1.0, "l": 1.0, "g": 9.81, "angle0": 1.0, "speed0": 2.0, **parameters}
    return Mechanism.from_lagrangian(
        m * sum(u.diff() ** 2 for u in q) / 2 - m * g * z, q,
        holonomic=[(x**2 + y**2 + z**2 - l**2) / 2],
        q0=[l * sp.sin(angle0), 0, -l * sp.cos(angle0)], v0=[0, speed0, 0], parameters=given,
        name="spherical_pendulum",
    )  # fmt: skip


def pendulum_jn(**parameters: float) -> Mechanism:
    """Return the stiff rod of Jay and Negrut: m, l, spring, damper, g, angle0, rate0."""
    sp, dynamicsymbols = _sympy()
    q = x, y, theta = dynamicsymbols("x y theta")
    m, l, spring, damper, g, angle0, rate0 = sp.symbols(  # noqa: E741
        "m l spring damper g angle0 rate0"
    )
    T = m * (x.diff() ** 2 + y.diff() ** 2 + l**2 * theta.diff() ** 2 / 3) / 2
    rest = 1.5 * pi
    given = {
        "m": 5.0, "l": 2.0, "spring": 3000.0, "damper": 100.0, "g": 9.81, "angle0": rest,
        "rate0": 10.0, **parameters,
    }  # fmt: skip
    c, s = l * sp.cos(angle0), l * sp.sin(angle0)
    return Mechanism.from_lagrangian(
        T - spring * (theta - rest) ** 2 / 2 - m * g * y, q,
        holonomic=[x - l * sp.cos(theta), y - l * sp.sin(theta)],
        dissipation=damper * theta.diff() ** 2 / 2, q0=[c, s, angle0],
        v0=[-s * rate0, c * rate0, rate0], parameters=given, name="pendulum_jn", energy=None,
    )  # fmt: skip


def prescribed_mass(**parameters: float) -> Mechanism:
    """Return the mass whose position is prescribed as a t^2 / 2: parameters m, a."""
    sp, dynamicsymbols = _sympy()
    x, (m, a) = dynamicsymbols("x"), sp.symbols("m a")
    return Mechanism.from_lagrangian(
        m * x.diff() ** 2 / 2, [x], holonomic=[x - a * dynamicsymbols._t**2 / 2], q0=[0],
        parameters={"m": 1.0, "a": 3.0, **parameters}, name="prescribed_mass", energy=None,
    )  # fmt: skip


def car_axis(**parameters: float) -> Mechanism:
    """Return the car axis of the IVP test set: parameters eps, M, L, L0, r, omega, gravity."""
    sp, dynamicsymbols = _sympy()
    q = xl, yl, xr, yr = dynamicsymbols("xl yl xr yr")
    eps, M, L, L0, r, omega, gravity = sp.symbols("eps M L L0 r omega gravity")
    yb = r * sp.sin(omega * dynamicsymbols._t)
    xb, wheel = sp.sqrt(L**2 - yb**2), eps**2 * M / 2
    lengths = sp.sqrt(xl**2 + yl**2), sp.sqrt((xr - xb) ** 2 + (yr - yb) ** 2)
    springs = sum((length - L0) ** 2 for length in lengths)
    T, twin = wheel * sum(u.diff() ** 2 for u in q) / 2, caraxis.car_axis()
    given = {
        "eps": 0.01, "M": 10.0, "L": 1.0, "L0": 0.5, "r": 0.1, "omega": 10.0, "gravity": 1.0,
        **parameters,
    }  # fmt: skip
    return Mechanism.from_lagrangian(
        T - springs / 2 - wheel * gravity * (yl + yr), q,
        holonomic=[xl * xb + yl * yb, (xl - xr) ** 2 + (yl - yr) ** 2 - L**2],
        q0=twin.q0, v0=twin.v0, parameters=given, name="car_axis", energy=None,
    )  # fmt: skip


def knife_edge(**parameters: float) -> Mechanism:
    """Return the knife edge on an inclined plane: parameters m, J, g, incline, rate0."""
    sp, dynamicsymbols = _sympy()
    q = x, y, phi = dynamicsymbols("x y phi")
    m, J, g, incline, rate0 = sp.symbols("m J g incline rate0")
    given = {"m": 1.25, "J": 0.13, "g": 9.81, "incline": pi / 4, "rate0": pi / 3, **parameters}
    return Mechanism.from_lagrangian(
        m * (x.diff() ** 2 + y.diff() ** 2) / 2 + J * phi.diff() ** 2 / 2
        + m * g * sp.sin(incline) * x, q,
        nonholonomic=[x.diff() * sp.sin(phi) - y.diff() * sp.cos(phi)],
        q0=[0, 0, 0], v0=[0, 0, rate0], parameters=given, name="knife_edge",
    )  # fmt: skip


def chaplygin_sleigh(**parameters: float) -> Mechanism:
    """Return the Chaplygin sleigh: parameters m, J, a (from blade to centre), speed0, rate0."""
    sp, dynamicsymbols = _sympy()
    q = x, y, phi = dynamicsymbols("x y phi")
    m, J, a, speed0, rate0 = sp.symbols("m J a speed0 rate0")
    given = {"m": 1.0, "J": 0.2, "a": 0.5, "speed0": 0.3, "rate0": 2.0, **parameters}
    return Mechanism.from_lagrangian(
        m * (x.diff() ** 2 + y.diff() ** 2) / 2 + J * phi.diff() ** 2 / 2, q,
        nonholonomic=[x.diff() * sp.sin(phi) - y.diff() * sp.cos(phi) + a * phi.diff()],
        q0=[0, 0, 0], v0=[speed0, a * rate0, rate0], parameters=given, name="chaplygin_sleigh",
    )  # fmt: skip
