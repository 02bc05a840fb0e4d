"""Write the table of true errors and estimates into the page on the error of the result.

    python docs/extrapolation.py [--all]

takes about a minute; with --all, for every scheme, several.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import numpy as np

from genalpha import integrate, mechanisms
from genalpha.driver.extrapolation import ExtrapolatedSolution, WantedErrorWarning
from genalpha.errors import GenAlphaError
from genalpha.model import Mechanism
from genalpha.schemes import SCHEMES

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `comparisons`
from comparisons.table import grid, markdown

PAGE = Path(__file__).parent / "pages" / "theory" / "extrapolation.md"
MARKED = re.compile(r"(<!-- errors -->\n).*(<!-- end of errors -->)", re.DOTALL)
#: Mechanisms whose motion is known at any time, and until when it is looked at.
CASES = {
    "jay_negrut_test": 1.0,
    "jay_test": 1.0,
    "hht_test": 1.0,
    "simple_pendulum": 1.0,
    "driven_pendulum": 1.0,
    "spherical_pendulum": 1.0,
    "four_bar": 0.5,
    "slider_crank": 0.1,
    "rolling_disk": 0.8,
}
WANTED = (1e-3, 1e-5, 1e-7)


def main(every: bool = False) -> None:
    """Measure, and write: the scheme that is chosen by itself, or every one too."""
    heads = ("mechanism", "scheme", "wanted", "order", "runs", "steps", "q", "v", "lam", "psi")
    rows = [
        row
        for name, t_final in CASES.items()
        for scheme in (None, *(SCHEMES if every else ()))
        for wanted in WANTED
        if (row := measured(name, scheme, t_final, wanted))
    ]
    table = markdown(grid(heads, rows, left=2))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKED.sub(lambda m: f"{m[1]}{table}\n{m[2]}", text), encoding="utf-8")


def measured(
    name: str, scheme: str | None, t_final: float, wanted: float
) -> tuple[str, ...] | None:
    """Return a row; None if the scheme does not take the mechanism."""
    o: Mechanism = getattr(mechanisms, name)()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            solution = integrate(o, t_final, scheme, error=wanted)
        except GenAlphaError:
            return None
    assert isinstance(solution, ExtrapolatedSolution)
    missed = any(issubclass(x.category, WantedErrorWarning) for x in caught)
    runs = solution.statistics.columns
    cells = [pair(o, solution, kind) for kind in ("q", "v", "lam", "psi")]
    head = (
        name,
        scheme or "chosen",
        f"{wanted:.0e}" + " not reached" * missed,
        str(solution.order),
    )
    return (*head, str(len(runs)), str(solution.statistics.nsteps), *cells)


def pair(o: Mechanism, solution: ExtrapolatedSolution, kind: str) -> str:
    """Return true error and estimate of q, v, lam or psi."""
    x = getattr(solution, kind)
    assert o.reference is not None
    exact = [getattr(o.reference.motion(t), kind) for t in solution.t]
    if not x.size or exact[0] is None:
        return ""
    scale = np.abs(x).max()
    true = np.abs(x - np.array(exact)).max() / scale
    return f"{true:.0e} / {getattr(solution.error, kind).max() / scale:.0e}"


if __name__ == "__main__":
    main("--all" in sys.argv[1:])
