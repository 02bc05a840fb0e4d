"""Every callback's calls are counted, whoever makes them: wrapped, and compared."""

from __future__ import annotations

from collections import Counter

import pytest

from genalpha import integrate, mechanisms
from genalpha.schemes import SCHEMES

NECESSARY = ("force", "mass", "holonomic", "nonholonomic", "reaction")


def wrapped(o, calls, keep):
    def counted(key, function):
        def wrapper(*arguments):
            calls[key] += 1
            return function(*arguments)

        return wrapper

    functions = {key: o._arguments.get(key) for key in ("force", "mass", *sorted(o.given))}
    changes = {key: counted(key, x) if keep(key) else None for key, x in functions.items()
               if callable(x)}  # fmt: skip
    return o.replace(**changes)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("poor", [False, True])
@pytest.mark.parametrize("name", ["four_bar", "rolling_disk", "heavy_top", "andrews_squeezer"])
def test_counted_is_called(name, poor, scheme):
    calls = Counter()
    o = wrapped(getattr(mechanisms, name)(), calls, lambda key: not poor or key in NECESSARY)
    for options in ({"h": 2e-4}, {"rtol": 1e-5}):
        calls.clear()
        solution = integrate(o, o.t0 + 2e-3, scheme, **options)
        reported = {key: count for key, count in solution.statistics.calls.items() if count}
        assert reported == dict(calls)
