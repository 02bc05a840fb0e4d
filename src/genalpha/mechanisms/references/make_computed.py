"""Make computed.json: a second, independent way to the references that we integrate ourselves.

The mechanisms integrate with DOP853 in double precision, in coordinates of their own. Here each
of them is written down again, as a Lagrangian in other (mostly minimal) coordinates; SymPy
derives the equations, and Gragg-Bulirsch-Stoer extrapolation in 30-digit arithmetic integrates
them, twice with different step sizes and orders; the digits on which both runs agree are stored.
Needs sympy and mpmath, which genalpha does not. Run it as ``python make_computed.py``; it takes
some minutes.
"""

# mypy: ignore-errors
# (symbolic and extended-precision numbers have no useful types)

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mpmath as mp
import sympy as sp

mp.mp.dps = 30
T = sp.Symbol("t")


def gragg_bulirsch_stoer(
    rhs: Callable[[Any, list[Any]], list[Any]], x0: Sequence[Any], t1: Any, steps: int, levels: int
) -> list[Any]:
    """Integrate from 0 to t1 with `steps` equal steps, each extrapolated over `levels` levels."""
    big, t, x = mp.mpf(t1) / steps, mp.mpf(0), [mp.mpf(value) for value in x0]
    for _ in range(steps):
        start = rhs(t, x)
        table: list[list[list[Any]]] = []
        for level in range(levels):
            count = 2 * (level + 1)
            h = big / count
            before, now = x, [a + h * b for a, b in zip(x, start, strict=True)]
            for i in range(1, count):
                slope = rhs(t + i * h, now)
                before, now = now, [a + 2 * h * b for a, b in zip(before, slope, strict=True)]
            slope = rhs(t + big, now)
            smoothed = [(a + b + h * c) / 2 for a, b, c in zip(before, now, slope, strict=True)]
            row = [smoothed]
            for k in range(1, level + 1):
                ratio = mp.mpf(count) / (2 * (level - k + 1))
                row.append(
                    [
                        a + (a - b) / (ratio**2 - 1)
                        for a, b in zip(row[k - 1], table[level - 1][k - 1], strict=True)
                    ]
                )
            table.append(row)
        x, t = table[-1][-1], t + big
    return x


def equations(
    s: Sequence[Any],
    u: Sequence[Any],
    lagrangian: Any,
    velocity_constraints: Sequence[Any] = (),
    generalized: Sequence[Any] | None = None,
) -> Callable[[Any, list[Any]], list[Any]]:
    """Return the rate of (s, u), u = s', with multipliers eliminated at acceleration level."""
    k = len(s)
    momenta = [sp.diff(lagrangian, x) for x in u]
    mass = sp.Matrix(k, k, lambda i, j: sp.diff(momenta[i], u[j]))
    loads = list(generalized) if generalized else [sp.Integer(0)] * k
    right = [
        sp.diff(lagrangian, s[i]) + loads[i] - sp.diff(momenta[i], T)
        - sum(sp.diff(momenta[i], s[j]) * u[j] for j in range(k))
        for i in range(k)
    ]  # fmt: skip
    jacobian = [[sp.diff(c, x) for x in u] for c in velocity_constraints]
    curvature = [
        sp.diff(c, T) + sum(sp.diff(c, s[j]) * u[j] for j in range(k)) for c in velocity_constraints
    ]
    m = len(curvature)
    matrix = sp.zeros(k + m, k + m)
    matrix[:k, :k] = mass
    for r in range(m):
        for j in range(k):
            matrix[k + r, j] = matrix[j, k + r] = jacobian[r][j]
    column = sp.Matrix([*right, *(-c for c in curvature)])
    compiled = sp.lambdify((T, *s, *u), (matrix, column), "mpmath", cse=True)

    def rhs(t: Any, x: list[Any]) -> list[Any]:
        a, b = compiled(t, *x)
        solution = mp.lu_solve(mp.matrix(a), mp.matrix(b))
        return [*x[k:], *(solution[i] for i in range(k))]

    return rhs


def symbols(k: int) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return k coordinates and k velocities."""
    return sp.symbols(f"s0:{k}"), sp.symbols(f"u0:{k}")


def rate(expression: Any, s: Sequence[Any], u: Sequence[Any]) -> Any:
    """Return the time derivative of an expression in t and s."""
    return sp.diff(expression, T) + sum(
        sp.diff(expression, a) * b for a, b in zip(s, u, strict=True)
    )


def kinetic(bodies: Sequence[tuple[Any, ...]], s: Sequence[Any], u: Sequence[Any]) -> Any:
    """Return the kinetic energy of bodies (x, y, angle, mass, inertia)."""
    total = sp.Integer(0)
    for x, y, angle, m, inertia in bodies:
        total += m * (rate(x, s, u) ** 2 + rate(y, s, u) ** 2) / 2
        total += inertia * rate(angle, s, u) ** 2 / 2
    return total


def number(text: str) -> Any:
    """Return an exact rational, so that no parameter is rounded to double."""
    return sp.Rational(text)


GRAVITY = number("9.81")


def pendulum_jn() -> tuple[Any, list[Any], list[Any]]:
    """(16) of Jay and Negrut 2008, one angle; outputs theta, theta'."""
    s, u = symbols(1)
    m, length = 5, 2
    body = (length * sp.cos(s[0]), length * sp.sin(s[0]), s[0], m, sp.Rational(m * length**2, 3))
    potential = 1500 * (s[0] - 3 * sp.pi / 2) ** 2 + m * GRAVITY * length * sp.sin(s[0])
    rhs = equations(s, u, kinetic([body], s, u) - potential, generalized=[-100 * u[0]])
    return rhs, [3 * mp.pi / 2, 10], [2]


def driven_pendulum() -> tuple[Any, list[Any], list[Any]]:
    """Angle from the downward vertical, support at (0.2, 0.1) sin 5 t."""
    s, u = symbols(1)
    shake = sp.sin(5 * T)
    x = sp.Rational(1, 5) * shake + sp.sin(s[0])
    height = sp.Rational(1, 10) * shake - sp.cos(s[0])
    rhs = equations(s, u, kinetic([(x, height, 0, 1, 0)], s, u) - GRAVITY * height)
    return rhs, [mp.mpf("0.5"), 0], [2]


def rolling_disk() -> tuple[Any, list[Any], list[Any]]:
    """The Lagrangian printed under (7.2) of Jay, with multipliers."""
    s, u = symbols(5)
    m, r, i1, i2, g = 2, 1, 2, 2, 10
    s3, c3, s4, c4 = sp.sin(s[2]), sp.cos(s[2]), sp.sin(s[3]), sp.cos(s[3])
    energy = sp.Rational(m, 2) * (u[0] ** 2 + u[1] ** 2 + (r * u[2]) ** 2 + (r * u[3] * s3) ** 2)
    energy -= m * r * u[2] * c3 * (u[0] * s4 - u[1] * c4)
    energy -= m * r * u[3] * s3 * (u[0] * c4 + u[1] * s4)
    energy += sp.Rational(i1, 2) * (u[2] ** 2 + (u[3] * c3) ** 2)
    energy += sp.Rational(i2, 2) * (u[4] + u[3] * s3) ** 2
    rolling = [u[0] - r * c4 * u[4], u[1] - r * s4 * u[4]]
    rhs = equations(s, u, energy - m * g * r * c3, rolling)
    start = ["0.1", "0", "0.3", "0", "1", "0.1", "0", "0.02", "-0.02", "0.1"]
    return rhs, [mp.mpf(value) for value in start], [1, 5]


def chaplygin_sleigh() -> tuple[Any, list[Any], list[Any]]:
    """Centre of mass and direction, with the multiplier of the blade."""
    s, u = symbols(3)
    energy = (u[0] ** 2 + u[1] ** 2) / 2 + sp.Rational(1, 10) * u[2] ** 2
    blade = u[0] * sp.sin(s[2]) - u[1] * sp.cos(s[2]) + u[2] / 2
    rhs = equations(s, u, energy, [blade])
    return rhs, [0, 0, 0, mp.mpf("0.3"), 1, 2], [2]


def spherical_pendulum() -> tuple[Any, list[Any], list[Any]]:
    """Angle from the downward vertical and azimuth."""
    s, u = symbols(2)
    energy = (u[0] ** 2 + (sp.sin(s[0]) * u[1]) ** 2) / 2 + GRAVITY * sp.cos(s[0])
    return equations(s, u, energy), [1, 0, 0, 2 / mp.sin(1)], [2]


def _rods(s: Sequence[Any], lengths: Sequence[Any], density: Any) -> tuple[list[Any], Any, Any]:
    """Return rods one after the other from the origin, and the end of the last one."""
    bodies, x, y = [], sp.Integer(0), sp.Integer(0)
    for angle, length in zip(s, lengths, strict=True):
        dx, dy = length * sp.cos(angle), length * sp.sin(angle)
        m = density * length
        bodies.append((x + dx / 2, y + dy / 2, angle, m, m * length**2 / 12))
        x, y = x + dx, y + dy
    return bodies, x, y


def _falling(bodies: Sequence[Any], s: Sequence[Any], u: Sequence[Any]) -> Any:
    return kinetic(bodies, s, u) - GRAVITY * sum(body[1] * body[3] for body in bodies)


def four_bar() -> tuple[Any, list[Any], list[Any]]:
    """Three angles and the closing of the loop."""
    s, u = symbols(3)
    bodies, x, y = _rods(s, [number("0.4"), number("1"), number("0.8")], 2)
    rhs = equations(s, u, _falling(bodies, s, u), [rate(x, s, u), rate(y, s, u)])
    ground, crank, start = mp.mpf("0.9"), mp.mpf("0.4"), mp.pi / 2

    def closing(a: Any, b: Any) -> list[Any]:
        third = mp.mpf("0.8")
        return [mp.cos(a) + third * mp.cos(b) - ground, crank + mp.sin(a) + third * mp.sin(b)]

    a, b = mp.findroot(closing, (mp.mpf("0.47"), mp.mpf("-1.6")))
    matrix = mp.matrix([[-mp.sin(a), -mp.mpf("0.8") * mp.sin(b)],
                        [mp.cos(a), mp.mpf("0.8") * mp.cos(b)]])  # fmt: skip
    rates = mp.lu_solve(matrix, mp.matrix([3 * crank, 0]))
    return rhs, [start, a, b, 3, rates[0], rates[1]], [1]


def slider_crank() -> tuple[Any, list[Any], list[Any]]:
    """Crank angle, rod angle and position of the sprung mass."""
    s, u = symbols(3)
    l1, l2 = number("0.3"), number("0.6")
    m1, m2 = number("0.36"), number("0.15")
    x5, y5 = l1 * sp.cos(s[0]), l1 * sp.sin(s[0])
    x3, y3 = x5 + l2 * sp.cos(s[1]), y5 + l2 * sp.sin(s[1])
    bodies = [
        (x5 / 2, y5 / 2, s[0], m1, m1 * l1**2 / 12),
        ((x5 + x3) / 2, y5 + l2 * sp.sin(s[1]) / 2, s[1], m2, m2 * l2**2 / 12),
        (x3, 0, 0, number("0.1"), 0),
        (s[2], 0, 0, number("0.7"), 0),
    ]
    lagrangian = kinetic(bodies, s, u) - 500 * (s[2] - x3) ** 2 + s[0]
    rhs = equations(s, u, lagrangian, [rate(y3, s, u)])
    return rhs, [mp.pi / 2, -mp.pi / 6, mp.sqrt(mp.mpf("0.27")), 0, 0, 0], [1]


def chain() -> tuple[Any, list[Any], list[Any]]:
    """Five angles."""
    s, u = symbols(5)
    bodies, _, _ = _rods(s, [sp.Rational(1, 2)] * 5, 1)
    return equations(s, u, _falling(bodies, s, u)), [0] * 10, [1]


def closed_chain() -> tuple[Any, list[Any], list[Any]]:
    """Six angles and the end that is held."""
    s, u = symbols(6)
    bodies, x, y = _rods(s, [sp.Rational(1, 2)] * 6, 1)
    rhs = equations(s, u, _falling(bodies, s, u), [rate(x, s, u), rate(y, s, u)])
    spread = [mp.mpf(2 * i - 5) / 5 for i in range(6)]
    opening = mp.findroot(
        lambda a: sum(mp.cos(a * p) for p in spread) / 6 - mp.mpf("0.6"), mp.mpf("1.6")
    )
    return rhs, [opening * p - mp.mpf("0.3") for p in spread] + [0] * 6, [1]


#: name -> steps per unit of time in the first run
CASES: dict[str, int] = {
    "pendulum_jn": 40, "driven_pendulum": 20, "rolling_disk": 14, "chaplygin_sleigh": 10,
    "spherical_pendulum": 24, "four_bar": 110, "slider_crank": 130, "chain": 110,
    "closed_chain": 70,
}  # fmt: skip


def main() -> None:
    """Compute all cases and write the file beside this script."""
    results = {}
    for name, density in CASES.items():
        rhs, start, times = globals()[name]()
        rows = []
        for t in times:
            first = gragg_bulirsch_stoer(rhs, start, t, density * t, 8)
            second = gragg_bulirsch_stoer(rhs, start, t, density * t * 3 // 2, 9)
            errors = [abs(a - b) / max(1, abs(b)) for a, b in zip(first, second, strict=True)]
            digits = float(min(25, -mp.log10(max([*errors, mp.mpf(10) ** -25]))))
            rows.append({"t": t, "x": [mp.nstr(b, 22) for b in second], "digits": round(digits, 1)})
            print(name, t, round(digits, 1), flush=True)
        doc = (globals()[name].__doc__ or "").strip()
        results[name] = {"coordinates": doc + " State: coordinates, then rates.", "table": rows}
    text = {"how": (__doc__ or "").split("\n\n")[1].replace("\n", " "), "cases": results}
    path = Path(__file__).with_name("computed.json")
    path.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
