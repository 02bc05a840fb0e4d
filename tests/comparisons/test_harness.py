"""The harness: what it measures is true, what fails is told, what is done is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparisons import plots, runner, tables
from comparisons.cases import CASES, LEFT_OUT
from comparisons.cli import main
from comparisons.counting import counted_mechanism
from comparisons.docs_page import BEGIN, END, write_docs
from comparisons.environment import digest, same_code
from comparisons.names import Counter, Drift, Flag, Form, Setting, Status, Variable, file_name
from comparisons.record import Key, Record
from comparisons.report import write_report
from comparisons.runner import Choice, Plan
from comparisons.solvers import SOLVERS
from comparisons.verdicts import judge, verdicts
from genalpha import integrate
from genalpha.mechanisms import catalogue, simple_pendulum
from genalpha.schemes import SCHEMES

CASE = "short_pendulum"
FAULTY = ("hangs", "crashes", "raises", "not finite")


@pytest.fixture(scope="module")
def records(plugin: str, output: Path) -> list[Record]:
    """A small grid: two good solvers, a wrong one, and all kinds of failures."""
    plan = Plan(output, limit=1.0, repeats=2, budget=0.05, plugins=(plugin,))
    steps = CASES[CASE].values(Setting.STEP)
    values = {Setting.STEP: steps, Setting.TOLERANCE: (1e-4, 1e-6)}
    keys = Choice((CASE,), ("GenAlphaSOI2", "SciPy DOP853", "explicit Euler"), values=values).keys()
    keys += Choice((CASE,), FAULTY, values={Setting.STEP: steps[:2]}).keys()
    return runner.run(plan, keys)


def of(records: list[Record], solver: str) -> list[Record]:
    return [record for record in records if record.solver == solver]


def test_errors_are_those_of_the_solution(records: list[Record]) -> None:
    run = of(records, "GenAlphaSOI2")[0]
    o = simple_pendulum()
    solution = integrate(o, 1.0, "GenAlphaSOI2", h=run.value)
    true = [o.reference.motion(t) for t in solution.t]
    for variable in (Variable.Q, Variable.V, Variable.VDOT, Variable.LAM):
        name = str(variable)
        error = np.abs(getattr(solution, name) - [getattr(m, name) for m in true]).max(axis=1)
        assert run.error[variable].max == pytest.approx(error.max(), rel=1e-6)
        assert run.error[variable].final == pytest.approx(error[-1], rel=1e-6)
    assert Variable.PSI not in run.error
    assert run.counters[Counter.STEPS] == 40
    assert run.drift[Drift.G].max < 1e-14


def test_work_is_counted_by_the_mechanism(records: list[Record]) -> None:
    for run in of(records, "SciPy DOP853"):
        # every evaluation of the right-hand side evaluates the force once
        assert run.calls["force"] == run.counters[Counter.RESIDUALS]
    counted, calls = counted_mechanism(simple_pendulum())
    assert not calls
    counted.force(0.0, counted.q0, counted.v0)
    counted.reaction(0.0, counted.q0, counted.v0, np.ones(1), np.zeros(0))
    assert dict(calls) == {"force": 1, "holonomic_jacobian": 1}


def test_good_runs_are_timed_and_say_where(records: list[Record]) -> None:
    for run in of(records, "GenAlphaSOI2") + of(records, "SciPy DOP853"):
        assert run.ok
        assert run.wall_time is not None
        assert run.cpu_time is not None
        assert run.repeats >= 1
        assert {"cpu", "python", "numpy", "code", "mode"} <= set(run.environment)
        assert run.date


@pytest.mark.parametrize(
    ("solver", "status", "reason"),
    [
        ("hangs", Status.TIME_LIMIT, "stopped after 1 s"),
        ("crashes", Status.CRASHED, "code 3"),
        ("raises", Status.FAILED, "ArithmeticError: the step size became too small"),
        ("not finite", Status.FAILED, "not finite: v"),
    ],
)
def test_failures_stay_with_their_reason(
    records: list[Record], solver: str, status: Status, reason: str
) -> None:
    runs = of(records, solver)
    assert len(runs) == 2
    assert all(run.status is status and reason in run.reason for run in runs)
    assert judge(runs).has(Flag.FAILS)
    row = next(row for row in tables.summary(CASE, records).rows if row[0].text == solver)
    assert reason in row[-1].text
    assert row[-1].warning


def test_errors_of_states_are_on_the_terminal_where_there_are_any(records: list[Record]) -> None:
    """The column "err z" belongs to driven mechanisms."""
    table = tables.compact(tables.summary(CASE, records), 200)
    assert "err q" in table.headers and "err z" not in table.headers
    run = of(records, "GenAlphaSOI2")[0]
    driven = replace(
        run,
        error={**run.error, Variable.Z: run.error[Variable.Q]},
        scale={**run.scale, Variable.Z: 1.0},
    )
    table = tables.compact(tables.summary(CASE, [driven]), 200)
    shown = table.rows[0][table.headers.index("err z")].text
    assert shown == f"{run.error[Variable.Q].max:.1e}"


def test_after_a_time_limit_finer_runs_are_not_tried(records: list[Record]) -> None:
    first, second = of(records, "hangs")
    assert not first.reason.startswith("not run")
    assert second.reason.startswith("not run")


def test_a_wrong_solver_is_seen(records: list[Record]) -> None:
    judged = {series.solver: verdict for series, verdict in verdicts(records).items()}
    wrong, right = judged["explicit Euler"], judged["GenAlphaSOI2"]
    assert wrong.orders[Variable.Q] == pytest.approx(1.0, abs=0.3)
    assert wrong.has(Flag.LOW_ORDER)
    assert wrong.has(Flag.DRIFTS)
    assert right.orders[Variable.Q] == pytest.approx(2.0, abs=0.1)
    assert not right.flags
    rows = {row[0].text: row for row in tables.summary(CASE, records).rows}
    assert rows["explicit Euler"][-1].text.startswith("low order: q")
    assert "drifts: g to" in rows["explicit Euler"][-1].text
    assert rows["GenAlphaSOI2"][-1].text == ""
    figure = plots.work_precision(records, plots.Cost.FORCE_CALLS, Variable.Q)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines["explicit Euler · ode (!)"].get_linestyle() == "--"
    assert lines["GenAlphaSOI2 · mechanism"].get_linestyle() == "-"
    plots.plt.close(figure)
    figure = plots.drift_over_time(records, Drift.G)
    drifts = {line.get_label().split(" ·")[0]: line.get_ydata() for line in figure.axes[0].lines}
    assert drifts["explicit Euler"][-1] > 1e-2  # and it grows all the way
    assert np.all(np.diff(drifts["explicit Euler"][1:]) > 0.0)
    assert drifts["GenAlphaSOI2"].max() < 1e-13
    plots.plt.close(figure)


def test_envelope() -> None:
    t = np.linspace(0.0, 1.0, 10 * plots.WINDOWS + 1)
    values = 1.0 + t % 0.01
    values[[37, 400]] = 5.0, 7.0
    at, largest = plots.envelope(t, values)
    assert at.size == plots.WINDOWS
    assert largest[3] == 5.0 and at[3] == t[37] and largest[-1] == 7.0 and at[-1] == 1.0
    few = np.array([0.0, 0.3, 1.0])
    assert np.array_equal(plots.envelope(few, few)[0], few)


@pytest.mark.needs_assimulo
def test_the_classes_for_assimulo_find_what_integrate_finds(tmp_path: Path) -> None:
    plan = Plan(tmp_path, repeats=0)
    for name in SCHEMES:
        both = (f"{name} (adaptive)", f"{name} (Assimulo)")
        values = {Setting.TOLERANCE: (1e-5,)}
        runs = runner.run(plan, Choice(("simple_pendulum",), both, values=values).keys())
        ours, theirs = (run.relative_error(Variable.LAM) for run in runs)
        assert ours is not None
        assert theirs == pytest.approx(ours, rel=1e-2)


def test_a_solver_that_misses_its_tolerance_is_seen(records: list[Record]) -> None:
    run = of(records, "SciPy DOP853")[-1]
    assert not judge([run]).has(Flag.MISSES)
    assert judge([replace(run, value=1e-12)]).has(Flag.MISSES)


def test_records_survive_the_file(records: list[Record], output: Path) -> None:
    assert {r.key: r for r in Plan(output).store.read()} == {r.key: r for r in records}
    path = output / "cut" / "records.jsonl"
    path.parent.mkdir()
    path.write_text(records[0].to_json() + "\n" + records[1].to_json()[:50], encoding="utf-8")
    assert Plan(path.parent).store.read() == records[:1]


def test_unknown_words_in_a_record_are_errors(records: list[Record]) -> None:
    line = records[0].to_json().replace('"form": "mechanism"', '"form": "mechanics"')
    with pytest.raises(ValueError, match="mechanics"):
        Record.from_data(json.loads(line))


def test_finished_runs_are_not_run_again(
    records: list[Record], output: Path, plugin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "attempt", None)  # nobody may call it
    plan = Plan(output, limit=1.0, any_code=True, plugins=(plugin,))
    again = runner.run(plan, [record.key for record in records])
    assert again == records


def test_records_of_other_code_are_run_again(
    records: list[Record], tmp_path: Path, plugin: str
) -> None:
    old = replace(records[0], environment={**records[0].environment, "code": "old"})
    plan = Plan(tmp_path, repeats=0, plugins=(plugin,))
    plan.store.append(old)
    assert runner.run(replace(plan, any_code=True), [old.key]) == [old]
    (new,) = runner.run(plan, [old.key])
    assert new.environment["code"] != "old"
    assert plan.store.read() == [new]


def test_ctrl_c_keeps_what_is_done(records: list[Record], tmp_path: Path, plugin: str) -> None:
    keys = [record.key for record in of(records, "GenAlphaSOI2")]

    def stop(key: Key, record: Record | None) -> None:
        if record is not None and key == keys[1]:
            raise KeyboardInterrupt

    plan = Plan(tmp_path, repeats=0, any_code=True, plugins=(plugin,))
    with pytest.raises(KeyboardInterrupt):
        runner.run(plan, keys, stop)
    done = plan.store.read()
    assert [record.key for record in done] == keys[:2]
    assert runner.run(plan, keys)[:2] == done


def test_side_by_side_is_the_same_as_one_by_one(
    records: list[Record], tmp_path: Path, plugin: str
) -> None:
    mine = of(records, "GenAlphaSOI2") + of(records, "SciPy DOP853")
    keys = [record.key for record in mine]
    found = runner.run(Plan(tmp_path, repeats=0, jobs=2, plugins=(plugin,)), keys)
    assert [r.error for r in found] == [r.error for r in mine]
    assert all(r.wall_time is None for r in found)


def test_the_report_is_one_file_with_everything(records: list[Record], tmp_path: Path) -> None:
    page = write_report(records, tmp_path).read_text(encoding="utf-8")
    for record in records:
        assert record.solver in page
        assert record.reason in page.replace("&#39;", "'")
    assert page.count("data:image/png") == len(list((tmp_path / "plots").iterdir()))
    assert "http" not in page
    assert records[0].environment["numpy"] in page
    assert "explicit Euler" in (tmp_path / "tables.md").read_text(encoding="utf-8")


def test_pictures_stay_in_their_folder(records: list[Record], tmp_path: Path) -> None:
    """A record may come from anywhere, with any name in it."""
    name = "../../../outside"
    write_report([replace(x, mechanism=name) for x in records[:2]], tmp_path / "a" / "b" / "c")
    assert {path.name for path in tmp_path.iterdir()} == {"a"}
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == {"c"}
    assert list((tmp_path / "a" / "b" / "c" / "plots").glob("*outside*.png"))
    assert len({file_name(x) for x in ("x", "../x", "./x", ".x", "a/x", "a x")}) == 6
    assert file_name("chain_5") == "chain_5"


@pytest.mark.parametrize("suffix", [".py", ".pyx", ".pxd"])
def test_the_digest_knows_all_sources(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a").mkdir()
    source = (tmp_path / "a" / "module").with_suffix(suffix)
    found = {digest(tmp_path)}
    for text in ("1", "2"):
        source.write_text(text)
        found.add(digest(tmp_path))
    source.rename(source.with_stem("other"))
    assert len({*found, digest(tmp_path)}) == 4


def test_a_record_of_the_other_mode_is_none_of_ours(records: list[Record]) -> None:
    assert same_code(records[0].environment)
    assert not same_code({**records[0].environment, "mode": "other"})


def test_the_docs_get_the_results(records: list[Record], tmp_path: Path) -> None:
    page = tmp_path / "comparisons.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    for _ in range(2):  # the second time replaces the first
        text = write_docs(records, tmp_path).read_text(encoding="utf-8")
        assert text.startswith("before")
        assert text.endswith("after\n")
        assert "old" not in text
        assert text.count(f"### {CASE}") == 1


def test_records_are_shown_in_the_order_of_the_registries(records: list[Record]) -> None:
    assert tables.arranged(reversed(records)) == tables.arranged(records)
    assert tables.arranged(records)[0].solver == "GenAlphaSOI2"


def test_command_line(
    records: list[Record], output: Path, plugin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list"]) == 0
    assert "slider_crank" in capsys.readouterr().out
    options = ["--mechanism", CASE, "--solver", "explicit Euler", "--output", str(output)]
    assert main(["report", *options, "--plugin", plugin]) == 0
    shown = capsys.readouterr().out
    assert "low order" in shown
    assert "GenAlphaSOI2 │" not in shown
    with pytest.raises(SystemExit, match="slider_krank"):
        main(["run", "--mechanism", "slider_krank"])
    with pytest.raises(SystemExit):
        main(["run", "--values", "x=1"])


def test_every_mechanism_is_compared_or_left_out_for_a_reason() -> None:
    makers = {case.make.func for case in CASES.values() if hasattr(case.make, "func")}
    compared = {maker.__name__ for maker in makers}
    assert compared | set(LEFT_OUT) == set(catalogue())


def test_every_word_has_its_look() -> None:
    assert set(plots.MARKERS) == set(plots.DASHES) == set(Form)
    for solver in SOLVERS.values():
        assert set(solver.forms) <= set(Form)
        assert isinstance(solver.setting, Setting)
