"""Growth: microseconds per step of the chain as it gets longer.

Every chain makes the same number of steps of the same size. The time of a run of one step is
subtracted from that of a long one, so that the start (consistent values, patterns, orderings)
does not count as steps; it has a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row, one_line
from comparisons.bench.timing import interleaved
from genalpha import Mechanism, integrate
from genalpha.mechanisms import catalogue
from genalpha.numerics.counters import Counters
from genalpha.schemes import SCHEMES

LINKS = (10, 30, 100, 300, 1000, 3000)
QUICK_LINKS = LINKS[:4]
#: How the straight chain is released, by its angle from the horizontal: as the catalogue has it,
#: which leaves most links without tension, and hanging down steeply.
STARTS = {"level": 0.0, "steep": -1.2}
#: The exponent is fitted from this length on.
FIT_FROM = 100
STEP = 1e-3
LONG = 70
TARGET = 1.1


def run(plan: Plan) -> Iterator[Row]:
    """Measure all lengths with all schemes, then fit."""
    lengths = QUICK_LINKS if plan.quick else LINKS
    for start, angle in STARTS.items():
        chains = {n: catalogue()["chain"](links=n, angle0=angle) for n in lengths}
        for scheme in SCHEMES:
            times: dict[int, float | None] = {}
            for links, mechanism in chains.items():
                plan.tell(f"growth: chain of {links}, {start}, {scheme}")
                row = attempt((str(links), start, scheme), mechanism, plan)
                times[links] = row.number("µs/step")
                yield row
            yield fit(start, scheme, times)


def attempt(label: tuple[str, str, str], mechanism: Mechanism, plan: Plan) -> Row:
    """Return the row of one chain, or the row that says why there is none."""
    try:
        return measure(label, mechanism, plan)
    except Exception as error:
        return Row("growth", label, {}, {}, one_line(error))


def measure(label: tuple[str, str, str], mechanism: Mechanism, plan: Plan) -> Row:
    """Return the row of one chain; the label is its number of links, the start, the scheme."""
    links, scheme = int(label[0]), label[2]
    costs: dict[int, Counters] = {}

    def solve(steps: int) -> None:
        t_end = mechanism.t0 + steps * STEP
        costs[steps] = integrate(mechanism, t_end, scheme, h=STEP, t_eval=[t_end]).statistics

    works = {"short": partial(solve, 1), "long": partial(solve, LONG)}
    times = interleaved(works, min(plan.repeats, 3) if links >= 1000 else plan.repeats)
    step = (times["long"] - times["short"]) / (LONG - 1)
    return Row(
        "growth",
        label,
        {
            "µs/step": 1e6 * step,
            "per N": 1e6 * step / links,
            "start-up ms": 1e3 * (times["short"] - step),
            "it/step": costs[LONG].nniters / costs[LONG].nsteps,
            "normalised": step / plan.yardstick,
        },
    )


def fit(start: str, scheme: str, times: Mapping[int, float | None]) -> Row:
    """Return the row with the exponent; a length without a time leaves it open, and misses.

    The exponent of the last two lengths stands beside it: costs that do not depend on N flatten the
    fit at its short end.
    """
    wanted = [n for n in times if n >= FIT_FROM]
    known = {n: t for n, t in times.items() if n in wanted and t is not None}
    full = bool(wanted) and max(wanted) == LINKS[-1]
    label = (f"{FIT_FROM} to {max(wanted, default=FIT_FROM)}", start, scheme)
    targets = {"exponent": TARGET} if full else {}
    failed = [str(n) for n in wanted if n not in known]
    if failed or len(wanted) < 2:
        note = f"no time for {', '.join(failed)} links" if failed else "too few lengths"
        return Row("growth", label, {}, targets, note)
    value = exponent(list(known), list(known.values()))
    last = exponent(list(known)[-2:], list(known.values())[-2:])
    note = "" if full else f"a preview: the target is for {LINKS[-1]} links"
    return Row("growth", label, {"exponent": value, "last": last}, targets, note)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Return p of the least-squares fit time = c size^p in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
