"""A solution as a table with named columns."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from genalpha.driver.derived import Points, constraint_keys, multipliers


def to_frame(points: Points) -> Any:
    """See `Solution.to_frame`."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "Solution.to_frame needs pandas, which cannot be imported here: pip install pandas. "
            "The arrays solution.t, .q, .v, .vdot, .lam, .psi hold the same numbers.",
            name="pandas",
        ) from error
    keys = constraint_keys(o for o, _ in points)
    coordinates = points[0][0].coordinate_names
    columns: list[tuple[str, str]] = []
    for quantity in ("q", "v", "vdot"):
        columns += [(quantity, name) for name in coordinates]
    columns += [("psi" if nonholonomic else "lam", name) for nonholonomic, name, _ in keys]
    motion = np.array([np.concatenate([k.q, k.v, k.vdot]) for _, k in points])
    return pandas.DataFrame(
        np.hstack([motion, multipliers(points, keys)]),
        index=pandas.Index([k.t for _, k in points], name="t"),
        columns=_index(pandas, columns),
    )


def _index(pandas: Any, columns: Sequence[tuple[str, str]]) -> Any:
    return pandas.MultiIndex.from_tuples(columns, names=["quantity", "name"])
