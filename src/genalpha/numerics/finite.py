"""Which callback is to blame for NaN or infinity."""

from __future__ import annotations

import numpy as np

from genalpha.errors import CallbackError
from genalpha.model import Mechanism
from genalpha.model.table import NEEDS, TABLE, arguments_of

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
        values = value.data if hasattr(value, "indptr") else np.asarray(value)
        if np.isfinite(values).all():
            continue
        # what is differenced is named by what it is differenced from; the rest is a sum of others,
        # which have been looked at before
        culprit = NEEDS.get(name, "force") if derived else name
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


def suspects(o: Mechanism) -> str:
    """Say who may have returned NaN or infinity, if nobody does it again."""
    mass = ["mass"] if o.constant_mass is None else []
    names = ", ".join(["force", *mass, *sorted(set(o.given) - {"force", "mass"})])
    return (
        f"all callbacks ({names}) return finite numbers when they are called again near there. "
        "They must be functions of their arguments, and finite wherever the motion may come; if "
        "it is the motion that has run away, take smaller steps"
    )
