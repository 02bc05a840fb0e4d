"""Which callback is to blame for NaN or infinity."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.errors import CallbackError
from genalpha.model import Mechanism
from genalpha.model.table import TABLE, arguments_of

Array = np.ndarray


def check_finite(
    o: Mechanism, t: float, q: Array, v: Array, where: str, certain: bool = False
) -> None:
    """Blame a callback that returns NaN or infinity at a state, if there is one.

    Parameters
    ----------
    where : str
        What has failed, the beginning of the message.
    certain : bool, optional
        Whether there has been one: if none does it again, that is said.

    Raises
    ------
    CallbackError
        With the callback, the value, the state.
    """
    lam, psi = o.multiplier_guess()
    state = {"t": t, "q": q, "v": v, "vdot": np.zeros(q.size), "lam": lam, "psi": psi}
    for name in (key for key in TABLE if hasattr(o, key)):
        derived = name not in o.given and name not in ("force", "mass")
        value = getattr(o, name)(*arguments_of(name, state))
        if is_finite(value):
            continue
        values = value.data if hasattr(value, "indptr") else np.asarray(value)
        culprit = " or ".join(_sources(o, name)) if derived else name
        raise CallbackError(
            f"{where} failed: {culprit} returned {values[~np.isfinite(values)].flat[0]} "
            f"{'beside' if derived else 'at'} t = {t:.9g}, q = {q}, v = {v}; expected finite "
            "numbers wherever the motion may come"
        )
    if certain:
        raise CallbackError(
            f"{where} failed at t = {t:.9g}, q = {q}, v = {v}: not all numbers are finite; "
            f"{suspects(o)}"
        )


def is_finite(value: Any) -> bool:
    """Tell whether all numbers of an array or of a sparse matrix are finite."""
    return bool(np.isfinite(value.data if hasattr(value, "indptr") else value).all())


def _sources(o: Mechanism, name: str) -> list[str]:
    """Return the callbacks that something may have been made from that is not given.

    Any of them may have done it, beside the state or just this once: of what belongs to a
    constraint, all that is given of that one; of reactions, of both; of derivatives of the
    equations of motion, of these too.
    """
    kinds = ("holonomic", "nonholonomic")
    own = tuple(kind for kind in kinds if name.startswith(kind))
    rows = [x for x in _ordered(o) if x.startswith(own or kinds)]
    if own:
        return rows
    reactions = [x for x in _ordered(o) if x.startswith("reaction")]
    if name.startswith("reaction"):
        return [*reactions, *rows]
    return ["force", *(["mass"] if o.constant_mass is None else []), *reactions, *rows]


def _ordered(o: Mechanism) -> list[str]:
    """Return what is given, but for mass and force, in alphabetical order."""
    return sorted(set(o.given) - {"force", "mass"})


def suspects(o: Mechanism) -> str:
    """Say who may have returned NaN or infinity, if nobody does it again."""
    mass = ["mass"] if o.constant_mass is None else []
    names = ", ".join(["force", *mass, *_ordered(o)])
    return (
        f"all callbacks ({names}) return finite numbers when they are called again near there. "
        "They must be functions of their arguments, and finite wherever the motion may come; if "
        "it is the motion that has run away, take smaller steps"
    )
