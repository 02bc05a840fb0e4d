"""Tables of files of outcomes: every input once, several codes side by side."""

from __future__ import annotations

from tests.fuzz.outcome import AGREES, REFUSED, WRONG, Outcome
from tests.fuzz.record import by_code, by_kind, last_of_each, line_of, read, text, write


def lines_of(code, *ends, what="a pendulum", first=0, healthy=False):
    return [
        line_of(first + i, Outcome("motion", what, end, "x", healthy), code, "2026-01-01", 0.1)
        for i, end in enumerate(ends)
    ]


def test_lines_come_back_from_files(tmp_path):
    lines, files = lines_of("abc", AGREES, WRONG), [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for line, path in zip(lines, files, strict=True):
        write(line, path)
    assert list(read(files)) == lines
    assert [line.detail for line in lines] == ["", "a pendulum: x"]  # only of what ended badly


def test_an_address_makes_no_other_input():
    one, two = (lines_of("abc", AGREES, what=f"<object at 0x7f{i}>")[0] for i in "ab")
    other = lines_of("abc", AGREES, what="another")[0]
    assert one.input == two.input != other.input


def test_the_last_run_counts_and_every_code_has_its_row():
    lines = [
        *lines_of("old", WRONG, AGREES, WRONG),
        *lines_of("new", AGREES),
        *lines_of("new", AGREES, first=9),
    ]
    last = last_of_each(lines)
    assert [(line.seed, line.ended) for line in last] == [
        (0, AGREES), (1, AGREES), (2, WRONG), (9, AGREES)
    ]  # fmt: skip
    assert "| old | 2026-01-01 | 0 to 2 | 3 | 1 | 0 | 2 |" in by_code(lines)
    assert "| new | 2026-01-01 | 0 to 9 | 2 | 2 | 0 | 0 |" in by_code(lines)
    assert "| **all** | 4 | 3 | 0 | 1 |" in by_kind(last)
    words = text(lines)
    assert "4 different inputs" in words
    assert "(1 that had ended badly end well on later code)" in words
    assert "- 2 (motion): wrong" in words


def test_what_is_all_well_has_no_list():
    words = text(lines_of("abc", AGREES, REFUSED))
    assert "Seeds 0 to 1, 2026-01-01, code of abc." in words
    assert "badly" not in words


def test_a_false_alarm_is_counted():
    assert [x.alarm for x in lines_of("abc", AGREES, REFUSED, healthy=True)] == [False, True]
