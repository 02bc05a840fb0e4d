"""Mechanisms of the race that the comparisons do not have; a plugin of the harness."""

from collections.abc import Callable
from functools import cache, partial

from comparisons.bench.race import FROM_FORMULAS
from comparisons.cases import CASES, add_case, add_mechanism
from genalpha.mechanisms import lagrangians
from genalpha.model import Mechanism

#: Twice as many elements as in the comparisons: axial frequencies twice, bending ones four times.
#: (The reference of a still stiffer beam cannot be computed: its tolerance is below rounding.)
add_case("flexible_8", 0.2, 80, of="flexible_pendulum", parameters={"elements": 8}, levels=4)

#: The same mechanisms from formulas, whose callbacks are machine code for everybody who calls them.
FORMULAS: dict[str, Callable[[], Mechanism]] = {
    "pendulum_jn": lagrangians.pendulum_jn,
    "slider_crank": lagrangians.slider_crank,
    "andrews_squeezer": lagrangians.andrews_squeezer,
    "chain_20": partial(lagrangians.chain, 20),
    "rolling_disk": lagrangians.rolling_disk,
}


@cache
def from_formulas(name: str) -> Mechanism:
    """Return a mechanism of the race from its Lagrangian, with the reference of its twin."""
    return FORMULAS[name]().replace(reference=CASES[name].make().reference)


for twin in FORMULAS:
    known = CASES[twin]
    make = partial(from_formulas, twin)
    add_mechanism(make, known.t_final, known.steps, name=twin + FROM_FORMULAS)
