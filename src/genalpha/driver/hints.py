"""What missing derivatives cost in a run, said once: in `Solution.hint` and in the log."""

from __future__ import annotations

import logging

from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters

LOG = logging.getLogger("genalpha")

#: Calls of a callback per evaluation of the equations above which it is worth a word.
WORTH = 3.0
#: Callback -> what saves most of its calls, if it is given.
SAVINGS = {
    "force": ("stiffness", "damping"),
    "holonomic": ("holonomic_jacobian", "holonomic_rate", "holonomic_acceleration"),
    "nonholonomic": ("nonholonomic_jacobian", "nonholonomic_acceleration"),
}


def hint(o: Mechanism, counters: Counters) -> str:
    """Return one sentence per callback that differences call too often; nothing if there is none.

    Parameters
    ----------
    o : Mechanism
    counters : Counters
        Of the run, with `calls`.
    """
    sentences = []
    for callback, derivatives in SAVINGS.items():
        missing = [name for name in derivatives if name not in o.given]
        share = counters.calls.get(callback, 0) / max(counters.nfcns, 1)
        if missing and share > WORTH:
            sentences.append(
                f"{callback} was called {share:.1f} times per evaluation of the equations, for "
                f"differences: give the mechanism {', '.join(missing)}"
            )
    return "; ".join(sentences)


def tell(o: Mechanism, counters: Counters) -> None:
    """Put the hint into the log (logger "genalpha", level INFO)."""
    text = hint(o, counters)
    if text:
        LOG.info("%s: %s", o.name, text)
