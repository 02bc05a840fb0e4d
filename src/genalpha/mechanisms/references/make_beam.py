"""Make beam.json: a second, independent way to the reference of `flexible_pendulum`.

The beam is written down again: textbook element matrices for inertia, bending and weight, and
the axial energy by Gauss quadrature, whose gradient is taken by complex steps in 80-bit
arithmetic; Gragg-Bulirsch-Stoer extrapolation integrates the equations twice, with different
step sizes and orders, and the digits on which both runs agree are stored. Needs a platform
whose long double has 80 bits. Run it as ``python make_beam.py``; it takes a minute.
"""

# mypy: ignore-errors
# (symbolic and extended-precision numbers have no useful types)

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LONG = np.longdouble
ELEMENTS, EA, EI, GRAVITY = 4, LONG(10000), LONG(1), LONG("9.81")
H = LONG(1) / ELEMENTS
N = 4 * (ELEMENTS + 1)
MASS = H / LONG(420) * np.array(
    [[156, 22 * H, 54, -13 * H], [22 * H, 4 * H**2, 13 * H, -3 * H**2],
     [54, 13 * H, 156, -22 * H], [-13 * H, -3 * H**2, -22 * H, 4 * H**2]], dtype=LONG,
)  # fmt: skip
BENDING = EI / H**3 * np.array(
    [[12, 6 * H, -12, 6 * H], [6 * H, 4 * H**2, -6 * H, 2 * H**2],
     [-12, -6 * H, 12, -6 * H], [6 * H, 2 * H**2, -6 * H, 4 * H**2]], dtype=LONG,
)  # fmt: skip
WEIGHT = GRAVITY * np.array([H / 2, H**2 / 12, H / 2, -(H**2) / 12], dtype=LONG)


def gauss() -> tuple[Any, Any]:
    """Return the five Gauss points on [0, 1] and their weights, from their closed form."""
    inner, outer = (np.sqrt(LONG(5) + s * 2 * np.sqrt(LONG(10) / 7)) / 3 for s in (-1, 1))
    root = 13 * np.sqrt(LONG(70))
    w_inner, w_outer = (322 + root) / 900, (322 - root) / 900
    points = np.array([-outer, -inner, LONG(0), inner, outer])
    weights = np.array([w_outer, w_inner, LONG(128) / 225, w_inner, w_outer])
    return (points + 1) / 2, weights / 2


XI, WEIGHTS = gauss()
SLOPES = np.array(
    [6 * (XI**2 - XI) / H, 1 - 4 * XI + 3 * XI**2, 6 * (XI - XI**2) / H, 3 * XI**2 - 2 * XI]
)


def assembled(element: Any) -> Any:
    """Return the matrix of all coordinates from one element matrix."""
    full = np.zeros((N, N), dtype=LONG)
    for e in range(ELEMENTS):
        for c in range(2):
            index = 4 * e + 2 * np.arange(4) + c
            full[np.ix_(index, index)] += element
    return full


def inverse(matrix: Any) -> Any:
    """Return the inverse by Gauss-Jordan elimination (LAPACK has no long double)."""
    n = len(matrix)
    work = np.hstack([matrix, np.eye(n, dtype=LONG)])
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(work[i:, i])))
        work[[i, pivot]] = work[[pivot, i]]
        work[i] /= work[i, i]
        others = np.arange(n) != i
        work[others] -= work[others, i : i + 1] * work[i]
    return work[:, n:]


def axial_energy(q: Any) -> Any:
    """Return the axial energy of each row of positions."""
    total = np.zeros(len(q), dtype=q.dtype)
    for e in range(ELEMENTS):
        nodes = q[:, 4 * e : 4 * e + 8].reshape(-1, 4, 2)
        slope = np.einsum("ig,bic->bgc", SLOPES, nodes)
        strain = ((slope * slope).sum(axis=2) - 1) / 2
        total = total + EA * H / 2 * (strain**2 @ WEIGHTS)
    return total


def make_rhs() -> Callable[[Any], Any]:
    """Return the rate of the state (q, v), hinged coordinates at rest."""
    free_inverse, bending = inverse(assembled(MASS)[2:, 2:]), assembled(BENDING)
    load = np.zeros(N, dtype=LONG)
    for e in range(ELEMENTS):
        load[4 * e + 1 : 4 * e + 9 : 2] -= WEIGHT
    tiny = LONG("1e-60")
    steps = np.eye(N, dtype=LONG) * 1j * tiny

    def rhs(x: Any) -> Any:
        q = x[:N]
        force = load - bending @ q - axial_energy(q + steps).imag / tiny
        return np.concatenate([x[N:], np.zeros(2, dtype=LONG), free_inverse @ force[2:]])

    return rhs


def extrapolated_step(rhs: Callable[[Any], Any], x: Any, big: Any, levels: int) -> Any:
    """Return one step of Gragg-Bulirsch-Stoer."""
    start, table = rhs(x), []
    for level in range(levels):
        count = 2 * (level + 1)
        h = big / count
        before, now = x, x + h * start
        for _ in range(1, count):
            before, now = now, before + 2 * h * rhs(now)
        row = [(before + now + h * rhs(now)) / 2]
        for k in range(1, level + 1):
            ratio = LONG(count) / (2 * (level - k + 1))
            row.append(row[-1] + (row[-1] - table[-1][k - 1]) / (ratio**2 - 1))
        table.append(row)
    return table[-1][-1]


def main() -> None:
    """Compute and write the file beside this script."""
    if np.finfo(LONG).nmant < 63:
        raise SystemExit("long double has too few bits here")
    rhs, rows = make_rhs(), []
    x0 = np.zeros(2 * N, dtype=LONG)
    x0[0:N:4], x0[2:N:4] = np.arange(ELEMENTS + 1) * H, 1
    for t in ("0.05", "0.2"):
        ends = []
        for density, levels in ((4000, 7), (6000, 8)):
            x, steps = x0, int(density * float(t))
            for _ in range(steps):
                x = extrapolated_step(rhs, x, LONG(t) / steps, levels)
            ends.append(x)
        error = np.abs(ends[0] - ends[1]) / np.maximum(1, np.abs(ends[1]))
        digits = round(float(-np.log10(error.max())), 1)
        print(t, digits, flush=True)
        values = [np.format_float_scientific(value, precision=17) for value in ends[1]]
        rows.append({"t": t, "order": "q, v", "values": values, "digits": digits})
    how = " ".join((__doc__ or "").split("\n\n")[1].split())
    path = Path(__file__).with_name("beam.json")
    path.write_text(json.dumps({"how": how, "table": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
