"""A callback that is not finite once, in any call and form: it is named, or it is no harm."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import consistent_initial_values
from tests.fuzz import judge
from tests.fuzz.cases import Source, draw_case, draw_run, run_case
from tests.fuzz.faults import NONSENSE, Faulty
from tests.fuzz.outcome import AGREES, GOOD, ended, of_ours


def drawn(seed):
    """Return a case with a callback that is wrong at one of its first calls, and its name."""
    random = Source(seed)
    case = draw_case(random)
    name = str(random.choice([key for key, x in case.arguments.items() if callable(x)]))
    bad, count = NONSENSE[("nan", "infinity")[seed % 2]], int(random.integers(2, 70))
    case.arguments[name] = Faulty(case.arguments[name], bad, count, False)
    return case, draw_run(case, random), rf"\b{name}\b"


@pytest.mark.needs_assimulo  # without it, some seeds are other inputs
@pytest.mark.parametrize("first", range(0, 1000, 200))
def test_runs(first):
    bad = {}
    for seed in range(first, first + 200, 4):
        case, run, name = drawn(seed)
        end, what = ended(
            lambda case=case, run=run: run_case(case, run),
            lambda found, case=case, run=run: judge.faults(case, run, found),
            of_ours(name),
        )
        if end not in GOOD and not judge.too_coarse(case, run):
            bad[seed] = what
    assert bad == {}


@pytest.mark.parametrize("first", range(1000, 2000, 250))
def test_initial_values(first):
    bad, right = {}, 0
    for seed in range(first, first + 250, 5):
        case, _, name = drawn(seed)
        end, what = ended(
            lambda case=case: consistent_initial_values(case.mechanism()),
            lambda found: "" if np.isfinite(found.vdot).all() else "not finite",
            of_ours(name),
        )
        right += end == AGREES
        if end not in GOOD:
            bad[seed] = what
    assert bad == {}
    assert 5 < right < 50  # some are called that often, some are not
