"""The solver classes among Assimulo's own."""

from __future__ import annotations

import pytest

import genalpha
from genalpha import mechanisms
from genalpha.schemes import SCHEMES

pytestmark = pytest.mark.needs_assimulo


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch):
    """Assimulo's module of solvers, as it was before, afterwards."""
    import assimulo.solvers

    for name in (*SCHEMES, "StabilizedEuler", "StabilizedRK2"):
        monkeypatch.setattr(assimulo.solvers, name, None, raising=False)
        monkeypatch.delattr(assimulo.solvers, name)
    return assimulo.solvers


def test_programs_find_them_by_name(home) -> None:
    genalpha.register()
    genalpha.register()  # again, which changes nothing
    for name in (*SCHEMES, "StabilizedEuler", "StabilizedRK2"):
        assert getattr(home, name) is getattr(genalpha, name)
    solver = home.GenAlphaSOI2(mechanisms.simple_pendulum().problem("ind3"))
    solver.verbosity = 50
    assert solver.simulate(0.1, 5)[0][-1] == pytest.approx(0.1)


def test_what_assimulo_has_itself_stays(home, monkeypatch: pytest.MonkeyPatch) -> None:
    own = object()
    monkeypatch.setattr(home, "HHTI2", own, raising=False)
    genalpha.register()
    assert home.HHTI2 is own
