"""The code on the how-to pages runs, page by page, and does what the text says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from genalpha import mechanisms
from genalpha.driver import forks

from .test_tutorial import PAGES, blocks, run

FOLDER = PAGES / "how-to"
#: Pages whose blocks are pieces of scripts; docs/examples and tests of events run such scripts.
PIECES = {"assimulo", "comparing", "events"}


def page(name: str) -> dict:
    space: dict = {}
    run(blocks(f"how-to/{name}.md"), space)
    return space


def test_every_page_is_listed_and_tested() -> None:
    listed = re.findall(r"\]\(([\w-]+)\.md\)", (FOLDER / "index.md").read_text(encoding="utf-8"))
    with_code = {path.stem for path in FOLDER.glob("*.md")} - {"index"}
    assert with_code == set(listed)
    here = globals()
    untested = {
        name for name in with_code - PIECES
        if blocks(f"how-to/{name}.md") and f"test_{name.replace('-', '_')}" not in here
    }  # fmt: skip
    assert untested == set()


def test_choosing(capsys: pytest.CaptureFixture) -> None:
    space = page("choosing")
    told = capsys.readouterr().out
    off = {line.split()[0]: float(line.split()[-1]) for line in told.splitlines()}
    assert off["GenAlphaI3"] > 1e2 * max(off["GenAlphaSOI2"], off["HHTI2"])
    assert space["solution"].error.q.max() < 1e-4


def test_reactions() -> None:
    space = page("reactions")
    pull = 2.0 * (9.81 + 3.0**2 / 1.5)
    assert np.allclose(space["solution"].reaction("rod")[0], [0.0, pull], rtol=1e-6)
    assert np.allclose(space["solution"].lam[0], pull, rtol=1e-6)
    crank = space["crank"]
    assert np.abs(space["joint"][:, crank[:2]] + space["joint"][:, space["coupler"]]).max() == 0.0
    largest = np.hypot(space["fx"], space["fy"]).max()
    assert np.abs(space["balance"][:, crank[:2]]).max() < 1e-12 * largest


def test_formulas() -> None:
    pytest.importorskip("sympy", reason="needs the extra [symbolic]")
    pytest.importorskip("numba", reason="needs the extra [numba]")
    space = page("formulas")
    assert np.array_equal(space["longer"].q0, [1.2, 0.0])
    assert np.abs(space["solution"].energy()).max() < 1e-3
    assert abs(space["motion"].q[-1, 0]) < 1.0
    assert space["runs"].mode == ("forks" if forks.is_safe() else "threads")
    assert not space["runs"].failures
    plain = space["arms"].replace(quadratic_velocity=False)
    state = 0.0, space["arms"].q0, np.array([1.0, 2.0])
    s = np.sin(state[1][0] - state[1][1])
    terms = space["arms"].force(*state) - plain.force(*state)
    assert np.allclose(terms, [-s * 4.0, s * 1.0], atol=1e-8)


def test_friction() -> None:
    space = page("friction")
    solution, sliding = space["solution"], space["sliding"]
    assert abs(4.0 * solution.q[-1, 0]) < space["mu"] * 9.81
    assert abs(solution.v[-1, 0]) < space["stick"]
    assert abs(sliding.v[-1] @ space["down"] - space["expected"]) < 2.0 * space["stick"]
    assert [len(times) for times in space["run"].t_events] == [1, 1]


def test_bodies_in_space() -> None:
    space = page("bodies-in-space")
    solution, twin = space["solution"], mechanisms.heavy_top()
    truth = twin.reference.motion(0.05)
    assert np.allclose(solution.q[-1], truth.q, atol=2e-3)
    assert np.allclose(solution.v[-1], truth.v, atol=0.3)
    assert np.abs(solution.residuals().position).max() < 1e-6
    # the force on the tip is what the weight leaves of the acceleration
    wanted = 15.0 * (solution.vdot[-1, :3] + [0.0, 0.0, 9.81])
    assert np.allclose(space["tip"][-1, :3], wanted, atol=1e-3 * np.abs(wanted).max())


def test_failures(capsys: pytest.CaptureFixture) -> None:
    import genalpha.errors

    page("failures")
    assert "repair=True" in capsys.readouterr().out
    text = (FOLDER / "failures.md").read_text(encoding="utf-8")
    for name in re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE):
        assert hasattr(genalpha.errors, name), name


def readme() -> list[str]:
    text = (PAGES.parents[1] / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_readme(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    run(readme()[:1], space)
    assert np.abs(np.hypot(*space["solution"].q.T) - 1.0).max() < 1e-6
    assert (tmp_path / "pendulum.svg").stat().st_size > 1000


@pytest.mark.needs_assimulo
def test_the_readme_with_assimulo(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    run(readme(), space)
    assert len(space["t"]) == 201


def test_states() -> None:
    solution = page("states")["solution"]
    # the current that the motor's own voltage leaves
    expected = 12.0 - 0.2 * solution.v[-1, 0]
    assert solution.z[-1, 0] == pytest.approx(expected - 0.01 * solution.zdot[-1, 0], abs=1e-5)
