"""Which series a plot shows: one per solver, the one that suits it best."""

from __future__ import annotations

from dataclasses import replace

from comparisons.measure import blank_record
from comparisons.names import Form, Setting, Status, Variable
from comparisons.record import Extent, Key, Record
from comparisons.story import telling

NAME = "simple_pendulum"


def runs(solver: str, form: Form, setting: Setting, calls: int, failed: int = 0) -> list[Record]:
    """Three runs of ever smaller errors; the last `failed` of them fail."""
    found = []
    for i, value in enumerate((1e-3, 1e-4, 1e-5)):
        record = replace(
            blank_record(Key(NAME, solver, form, setting, value)),
            status=Status.OK, error={Variable.Q: Extent(value, value)},
            scale={Variable.Q: 1.0}, calls={"force": calls * 10**i},
        )  # fmt: skip
        fails = i >= 3 - failed
        found.append(replace(record, status=Status.FAILED) if fails else record)
    return found


def series(records: list[Record]) -> set[tuple[str, Form]]:
    return {(record.solver, record.form) for record in records}


def test_one_series_per_solver() -> None:
    records = [
        *runs("GenAlphaSOI2", Form.MECHANISM, Setting.STEP, 10),
        *runs("GenAlphaSOI2 (adaptive)", Form.MECHANISM, Setting.TOLERANCE, 20),
        *runs("IDA", Form.IND3, Setting.TOLERANCE, 5, failed=2),
        *runs("IDA", Form.IND1, Setting.TOLERANCE, 30),
        *runs("IDA", Form.GGL2, Setting.TOLERANCE, 40),
        *runs("Radau5DAE", Form.IND3, Setting.TOLERANCE, 1, failed=3),
    ]
    chosen = telling(records)
    assert series(chosen) == {
        ("GenAlphaSOI2 (adaptive)", Form.MECHANISM),
        ("IDA", Form.IND1),
    }
    assert len(chosen) == 6


def test_a_solver_that_only_fails_in_part_is_still_shown() -> None:
    records = runs("IDA", Form.IND3, Setting.TOLERANCE, 5, failed=2)
    assert telling(records) == records
