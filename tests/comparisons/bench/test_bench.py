"""The benchmarks: curves are read rightly, counts are counts, tables do not flatter."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparisons.bench import against, exudyn, growth, instructions, newton, overhead, race
from comparisons.bench.cli import main
from comparisons.bench.ladder import Climb
from comparisons.bench.layout import LAYOUTS, markdown_page, missed, table, with_tables
from comparisons.bench.parts import (
    arguments_of,
    callback_seconds,
    given_callback,
    linear_algebra_seconds,
    saddle_matrix,
    sampled_states,
)
from comparisons.bench.plan import Plan
from comparisons.bench.reach import Point, Reach, needed, time_to_reach
from comparisons.bench.rows import LONGEST_NOTE, Row, one_line, rows_of
from comparisons.bench.timing import calibration, call_seconds, interleaved
from comparisons.measure import blank_record
from comparisons.names import Form, Setting, Status, Variable
from comparisons.record import Extent, Key, Record
from comparisons.store import Store
from comparisons.table import fitted
from genalpha import integrate
from genalpha.mechanisms import catalogue
from genalpha.schemes import SCHEMES

PENDULUM = overhead.CASES[0]._replace(steps=40)


# What it costs to reach an error


def test_time_to_an_error_is_interpolated_in_logarithms() -> None:
    # second order: time = 1e-3 error^(-1/2), which is a straight line in logarithms
    points = [Point(error, 1e-3 * error**-0.5) for error in (3e-1, 2e-2, 7e-4, 5e-5)]
    for target in (1e-2, 1e-3, 1e-4):
        found = time_to_reach(points, target)
        assert found is not None
        assert found.time == pytest.approx(1e-3 * target**-0.5, rel=1e-12)
        assert not found.bound


def test_an_error_that_no_run_reaches_has_no_time() -> None:
    assert time_to_reach([Point(1e-1, 1.0), Point(2e-3, 2.0)], 1e-3) is None
    assert time_to_reach([], 1e-3) is None


def test_a_coarsest_run_that_is_already_better_gives_a_bound() -> None:
    assert time_to_reach([Point(1e-5, 3.0), Point(1e-6, 4.0)], 1e-3) == Reach(3.0, bound=True)


def test_a_finer_run_that_costs_less_counts() -> None:
    # the coarse run reaches the target, the next one loses it, the last one is quick
    points = [Point(1e-4, 9.0), Point(1e-1, 5.0), Point(1e-5, 2.0)]
    found = time_to_reach(points, 1e-3)
    assert found == Reach(2.0)
    # and a run on the target itself is worth its own time
    assert time_to_reach([Point(1e-1, 1.0), Point(1e-3, 7.0)], 1e-3) == Reach(pytest.approx(7.0))


def test_the_runs_to_be_timed_are_those_that_decide() -> None:
    errors = [1.0, 3e-2, 2e-3, 5e-5, 1e-6, 1e-7]
    targets = (1e-2, 1e-4)
    assert needed(errors, targets) == [1, 2, 3]
    full = [Point(error, 1.0 + i) for i, error in enumerate(errors)]
    chosen = [full[i] for i in needed(errors, targets)]
    for target in targets:
        assert time_to_reach(chosen, target) == time_to_reach(full, target)


# Counts and times


@pytest.mark.parametrize("scheme", SCHEMES)
def test_calls_are_counted_right(scheme: str) -> None:
    solution, calls = overhead.counted_run(PENDULUM.make(), scheme, PENDULUM)
    log: list[float] = []
    mechanism = PENDULUM.make()
    force = mechanism.force
    spied = mechanism.replace(force=lambda t, q, v: (log.append(t), force(t, q, v))[1])
    log.clear()
    t_end = PENDULUM.steps * PENDULUM.h
    integrate(spied, t_end, scheme, h=PENDULUM.h, t_eval=[t_end])
    assert calls["force"] == len(log)
    # an iteration evaluates the force once; the start needs some more
    assert solution.statistics.nniters <= calls["force"] <= 2 * solution.statistics.nniters + 20
    assert set(calls) <= mechanism.given | {"force", "mass"}
    assert calls["stiffness"] == solution.statistics.njacs


def test_solutions_of_linear_systems() -> None:
    constrained = PENDULUM.make()
    free = constrained.replace(
        holonomic=None, holonomic_jacobian=None, holonomic_rate=None, holonomic_acceleration=None,
        lam0=None, constraint_names=None, stiffness=None, damping=None, reference=None,
    )  # fmt: skip
    assert overhead.solutions_of("GenAlphaI3", constrained, 30, 10) == 30
    assert overhead.solutions_of("GenAlphaSOI2", constrained, 30, 10) == 70
    assert overhead.solutions_of("HHTI2", free, 30, 10) == 30


def test_what_is_timed_is_what_the_user_gave() -> None:
    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([0.0, -9.81])

    mechanism = PENDULUM.make().replace(force=force)
    assert given_callback(mechanism, "force") is force
    solution = integrate(mechanism, 0.05, h=1e-2)
    states = sampled_states(solution, 3)
    assert [s.t for s in states] == pytest.approx([0.0, 0.02, 0.05])
    names = ["force", "holonomic", "holonomic_jacobian", "stiffness"]
    for name in names:  # the right number of arguments, or this raises
        given_callback(mechanism, name)(*arguments_of(name, states[1]))
    found = callback_seconds(mechanism, names, states, 1)
    assert all(1e-8 < value < 1e-3 for value in found.values())


def test_times_are_those_of_the_work() -> None:
    def work(loops: int) -> int:
        return sum(range(loops))

    once, often = (call_seconds(work, (loops,), 5) for loops in (1000, 20_000))
    assert 5.0 < often / once < 80.0
    order: list[str] = []
    works = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    assert set(interleaved(works, 3)) == {"a", "b"}
    assert order == ["a", "b"] * 4
    assert 1e-6 < calibration(1) < 1e-2


@pytest.mark.parametrize("links", [3, 30])
def test_the_linear_algebra_timed_is_that_of_a_step(links: int) -> None:
    mechanism = catalogue()["chain"](links=links)
    state = sampled_states(integrate(mechanism, 0.02, h=1e-2), 2)[-1]
    matrix = saddle_matrix(mechanism, state, 1e-3)
    assert hasattr(matrix, "indptr") == mechanism.is_sparse == (links >= 20)
    dense = matrix.toarray() if mechanism.is_sparse else matrix
    before = dense.copy()
    n = mechanism.n_q
    assert dense.shape == (n + mechanism.n_lam,) * 2
    np.testing.assert_allclose(dense, dense.T, atol=1e-12)
    assert np.linalg.matrix_rank(dense) == n + mechanism.n_lam
    found = linear_algebra_seconds(matrix, 1)
    assert found.solve > 0.0 and found.factorize > 0.0  # how long is for the bench to tell
    np.testing.assert_array_equal(matrix.toarray() if mechanism.is_sparse else matrix, before)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_parts_of_a_step_are_not_more_than_the_whole(scheme: str) -> None:
    row = overhead.measure(PENDULUM, scheme, 3)
    total, callbacks, linear, ratio = (
        row.number(name) for name in ("µs/step", "callbacks µs", "LA µs", "ratio")
    )
    assert total is not None and callbacks is not None and linear is not None and ratio is not None
    assert callbacks > 1.0
    assert linear > 0.5
    assert callbacks + linear < 1.3 * total
    assert 1.0 / 1.3 < ratio < 1000.0


def test_newton_counts_and_modes() -> None:
    mechanism = catalogue()["simple_pendulum"]()
    row = newton.measure("simple_pendulum", mechanism, "GenAlphaI3", 1e-2, 30, 1)
    # of every mode: one Jacobian per step or per iteration, and what the start needs
    assert row.number("J (s)") == pytest.approx(1.0, abs=0.1)
    assert row.number("J (i)") == pytest.approx(row.number("it (i)"), abs=0.2)
    assert 0.0 < row.values["J"] < row.values["J (s)"] < row.values["J (i)"]  # type: ignore[operator]
    assert 0.1 < row.values["time"] < 3.0  # type: ignore[operator]


def test_step_sizes_suit_the_mechanism() -> None:
    mechanism = catalogue()["pendulum_jn"]()
    h, steps, note = newton.chosen_steps("pendulum_jn", mechanism, 400)
    t = integrate(mechanism, 1.0, rtol=newton.TOLERANCE, atol=newton.TOLERANCE).steps
    assert h == pytest.approx(min(float(np.median(np.diff(t))), 1.0 / newton.FEWEST))
    assert steps == min(400, round(1.0 / h))
    assert note == ""


def test_a_scheme_that_fails_keeps_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        return catalogue()["simple_pendulum"]().replace(
            force=lambda t, q, v: np.full(2, np.nan if t > 0.01 else 0.0)
        )

    monkeypatch.setattr(newton, "catalogue", lambda: {"broken": broken})
    rows = list(newton.run(Plan(quick=True, repeats=1)))
    assert [row.label for row in rows] == [("broken", scheme) for scheme in SCHEMES]
    assert all("Error" in row.note and not row.targets for row in rows)


@pytest.mark.parametrize("p", [1.0, 1.37])
def test_exponent_of_growth(p: float) -> None:
    sizes = [100, 300, 1000, 3000]
    assert growth.exponent(sizes, [2e-3 * n**p for n in sizes]) == pytest.approx(p)
    row = growth.fit("level", "GenAlphaI3", {n: 5.0 * n**p for n in [10, *sizes]})
    assert row.number("exponent") == pytest.approx(p)
    bent = growth.fit("level", "HHTI2", {n: 1e3 + 1e-3 * n**2 for n in sizes})
    assert bent.number("exponent") < bent.number("last") == pytest.approx(1.46, abs=0.01)  # type: ignore[operator]
    assert bool(missed(row, LAYOUTS["growth"])) == (p > growth.TARGET)
    assert not growth.fit("level", "GenAlphaI3", {n: 5.0 * n**p for n in sizes[:2]}).targets


def test_a_chain_that_fails_is_no_growth() -> None:
    row = growth.fit("level", "GenAlphaI3", {100: 1.0, 300: 3.0, 1000: None, 3000: 30.0})
    assert missed(row, LAYOUTS["growth"]) == "exponent not measured"
    assert row.note == "no time for 1000 links"
    broken = catalogue()["chain"](links=2).replace(force=lambda t, q, v: np.full(6, np.nan))
    assert "Error" in growth.attempt(("2", "level", "HHTI2"), broken, Plan(repeats=1)).note


def test_the_plain_pendulum_is_the_same_pendulum() -> None:
    mechanism = catalogue()["simple_pendulum"]()
    plain = exudyn.plain_mechanism(mechanism)
    plain.check_derivatives()
    for scheme in SCHEMES:
        one, other = (integrate(o, 0.2, scheme, h=1e-2) for o in (mechanism, plain))
        np.testing.assert_allclose(one.q, other.q, atol=1e-12)
        np.testing.assert_allclose(one.lam, other.lam, atol=1e-9)


def test_exudyn_is_compared_with_its_fastest_variant() -> None:
    ours, slow, fast = ("GenAlphaI3", "x"), ("Exudyn", "x, slow"), ("Exudyn", "x, fast")
    known = exudyn.Known(2.0, 1e-6)
    times = {ours: 30e-6, slow: 60e-6, fast: 20e-6, ("Exudyn", "y"): 10e-6}
    rows = {row.label: row for row in exudyn.rows(times, dict.fromkeys(times, known), None)}
    assert rows[ours].number("ratio") == pytest.approx(1.5)
    assert "1.5 > 1" in missed(rows[ours], LAYOUTS["exudyn"])
    alone = list(exudyn.rows({ours: 30e-6}, {ours: known}, "exudyn is not installed"))
    assert [row.note for row in alone] == ["", "exudyn is not installed"]
    assert not alone[0].targets


# Who is ahead


def climb(solver: str, form: Form, runs: dict[float, float]) -> Climb:
    """A series of runs: error -> time."""
    records = []
    for value, error in enumerate(runs):
        blank = blank_record(Key("chain_20", solver, form, Setting.TOLERANCE, 10.0**-value))
        records.append(_done(blank, error))
    return Climb(solver, form, records, {i: [t] for i, t in enumerate(runs.values())})


def _done(blank: Record, error: float) -> Record:
    data = dict(blank.__dict__, status=Status.OK, scale={Variable.Q: 2.0})
    return Record(**{**data, "error": {Variable.Q: Extent(2.0 * error, 0.0)}})


@pytest.fixture
def climbs() -> list[Climb]:
    """Ours ahead at 1e-2, IDA at 1e-3 and 1e-4, where only it arrives; ODASSL fails."""
    failed = blank_record(Key("chain_20", "ODASSL", Form.IND3, Setting.TOLERANCE, 1e-1))
    return [
        climb("GenAlphaI3 (adaptive)", Form.MECHANISM, {1e-1: 1e-3, 1e-2: 2e-3, 1e-3: 20e-3}),
        climb("IDA", Form.IND1, {1e-1: 2e-3, 1e-2: 4e-3, 1e-3: 5e-3, 1e-4: 9e-3}),
        climb("IDA", Form.GGL2, {1e-1: 9e-3, 1e-2: 9e-3}),
        Climb("ODASSL", Form.IND3, [failed]),
    ]


def test_the_race_tells_plainly_who_is_ahead(climbs: list[Climb]) -> None:
    rows = [race.verdict("chain_20", error, climbs) for error in race.ERRORS]
    assert [row.number("ratio") for row in rows] == pytest.approx([2.0, 0.25, 0.0])
    found = table("race", rows, {})
    words = [row[-1] for row in found.rows]
    assert words[0].text == "met; ours ahead"
    assert not words[0].warning
    assert "IDA, ind1 IS AHEAD by 4.0" in words[1].text
    assert words[1].text.startswith("missed: ratio 0.25 < 1")
    assert words[1].warning
    assert "IDA, ind1 IS AHEAD; ours do not get there" in words[2].text
    assert "IS AHEAD by 4.0" in markdown_page(rows, {})
    [failure] = race.failures("chain_20", climbs)
    assert failure.label == ("chain of 20", "ODASSL, ind3")
    assert failure.number("failed") == 1.0


def test_the_defaults_race_alone(climbs: list[Climb]) -> None:
    """Whoever of ours is faster does not help the default."""
    default = climb(race.DEFAULT[0], Form.MECHANISM, {1e-1: 2e-3, 1e-2: 8e-3})
    row = race.verdict("chain_20", 1e-2, [*climbs, default], race.DEFAULT, "race: defaults")
    assert row.values["ours"] == race.DEFAULT[0]
    assert row.number("ratio") == pytest.approx(0.5)
    assert "IDA, ind1 IS AHEAD by 2.0" in row.note
    assert missed(row, LAYOUTS["race: defaults"]) == ""
    assert default in race.contenders([*climbs, default])


def test_the_race_without_peers_is_no_defeat(climbs: list[Climb]) -> None:
    row = race.verdict("chain_20", 1e-2, climbs[:1])
    assert row.number("ratio") == math.inf
    assert missed(row, LAYOUTS["race"]) == ""
    assert "no peer gets there" in row.note
    assert "time limit" not in row.note
    late = blank_record(Key("chain_20", "IDA", Form.IND3, Setting.TOLERANCE, 1e-1))
    slow = Climb("IDA", Form.IND3, [replace(late, status=Status.TIME_LIMIT)])
    assert "within the time limit" in race.verdict("chain_20", 1e-2, [climbs[0], slow]).note
    assert race.verdict("chain_20", 1e-2, []).number("ratio") is None


def test_only_contenders_are_timed_again(climbs: list[Climb]) -> None:
    assert race.contenders(climbs) == climbs[:2]


# Records and the command line


def test_stored_rows_show_as_before(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    old = Row("overhead", ("Andrews", "HHTI2"), {"ratio": 3.25})
    other = Row("overhead", ("chain", "HHTI2"), {"ratio": 7.0})
    store = Store(path, Row)
    store.replace([old, other])
    store.replace([Row("overhead", ("Andrews", "HHTI2"), {"ratio": 2.75})])
    before = rows_of(path)
    assert len(path.read_text().splitlines()) == 2
    now = Row("overhead", ("Andrews", "HHTI2"), {"ratio": 1.5, "target": 1.6}, {"ratio": 1.6})
    found = table("overhead", [now], before)
    [cells] = found.rows
    shown = dict(zip(found.headers, (cell.text for cell in cells), strict=True))
    assert (shown["ratio"], shown["before"], shown["verdict"]) == ("1.50", "2.75", "met")
    store.append(now)
    assert rows_of(path)[now.key] == now
    assert {"code", "mode"} <= set(rows_of(path)[now.key].environment)


def test_code_against_itself() -> None:
    """The same code in two processes: the same steps, and times of the same size."""
    with against.Code(sys.executable) as old, against.Code(sys.executable) as new:
        row = against.compare(old, new, "point pendulum, 1 step", "GenAlphaI3", 20)
    assert row.number("old steps") == row.number("new steps") == 1.0
    assert 0.3 < (row.number("ratio") or 0.0) < 3.0


@pytest.mark.skipif(bool(instructions.missing()), reason=instructions.missing())
def test_instructions_of_a_run_are_the_same_every_time(tmp_path: Path) -> None:
    # each in a process of its own: within one, Python's interpreter becomes quicker run by run
    found = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        with instructions.Counted(sys.executable, tmp_path / name) as code:
            found.append(code.measure("point pendulum, 1 step", "GenAlphaI3"))
    first, second = found
    assert first[1] == second[1] == 1
    assert first[0] > 1e5
    assert second[0] == pytest.approx(first[0], rel=0.02)


def test_code_that_cannot_run_is_no_row() -> None:
    with against.Code("/bin/true") as code, pytest.raises(RuntimeError, match="has ended"):
        code.measure("point pendulum, 1 step", "GenAlphaI3")


def test_tables_of_one_benchmark_go_into_the_page() -> None:
    rows = [
        Row("overhead", ("Andrews", "HHTI2"), {"ratio": 3.25}),
        Row("exudyn", ("Exudyn", "full"), {"ratio": 7.5}),
    ]
    page = markdown_page(rows, {})
    new = Row("overhead", ("chain", "HHTI2"), {"ratio": 1.25})
    added = Row("against", ("pendulum", "HHTI2"), {"ratio": 0.75})
    page = with_tables(with_tables(page, [new], {}), [added], {})
    assert "3.25" not in page
    assert [page.count(x) for x in ("1.25", "7.50", "0.75")] == [1, 1, 1]
    titles = [LAYOUTS[name].title for name in ("overhead", "exudyn", "against")]
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == titles
    assert page.count("| cpu |") == 1
    assert page.index("| cpu |") > page.index("0.75")


def test_a_long_reason_is_cut_and_numbers_are_not() -> None:
    reason = one_line(ValueError("no\n  way " + 300 * "x"))
    assert reason.startswith("ValueError: no way xxx")
    assert len(reason) == LONGEST_NOTE
    whole = table(
        "overhead", [Row("overhead", ("Andrews", "HHTI2"), {"ratio": 3.25}, {}, reason)], {}
    )
    cut = fitted(whole, 120)
    assert [cell.text for cell in cut.rows[0][:-1]] == [cell.text for cell in whole.rows[0][:-1]]
    assert cut.rows[0][-1].text.endswith("…")
    assert sum(len(c.text) + 3 for c in cut.rows[0]) <= 120


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overhead, "CASES", (PENDULUM,))
    page, records = tmp_path / "page.md", tmp_path / "records.jsonl"
    options = ["overhead", "--quick", "--repeats", "1", "--output", str(tmp_path), "--records"]
    assert main([*options, str(records), "--store", "--markdown", str(page)]) == 0
    rows = rows_of(tmp_path / "rows.jsonl")
    assert set(rows) == {("overhead", PENDULUM.name, scheme) for scheme in SCHEMES}
    assert rows_of(records) == rows
    assert LAYOUTS["overhead"].title in page.read_text()
    assert main([*options, str(records)]) == 0  # compares, and does not store
    assert rows_of(records) == rows
    with pytest.raises(SystemExit):
        main(["underhead"])
