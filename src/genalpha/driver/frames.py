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
            "The arrays solution.t, .q, .v, .vdot, .z, .lam, .psi hold the same numbers.",
            name="pandas",
        ) from error
    keys = constraint_keys(o for o, _ in points)
    o = points[0][0]
    n, names = o.n_moving, o.coordinate_names
    columns = [(quantity, name) for quantity in ("q", "v", "vdot") for name in names[:n]]
    columns += [(quantity, name) for quantity in ("z", "zdot") for name in names[n:]]
    columns += [("psi" if nonholonomic else "lam", name) for nonholonomic, name, _ in keys]
    parts = [(k.q[:n], k.v[:n], k.vdot[:n], k.v[n:], k.vdot[n:]) for _, k in points]
    motion = np.array([np.concatenate(x) for x in parts])
    return pandas.DataFrame(
        np.hstack([motion, multipliers(points, keys)]),
        index=pandas.Index([k.t for _, k in points], name="t"),
        columns=_index(pandas, columns),
    )


def _index(pandas: Any, columns: Sequence[tuple[str, str]]) -> Any:
    return pandas.MultiIndex.from_tuples(columns, names=["quantity", "name"])
