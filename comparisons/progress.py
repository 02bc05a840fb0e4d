"""A grid run with a bar that says what runs now."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from comparisons.record import Key, Record
from comparisons.runner import Plan, run


def watched_run(plan: Plan, keys: list[Key], console: Console) -> list[Record]:
    """Run a grid under a progress bar; finished runs count twice, measured and timed."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=console) as bar:
        task = bar.add_task("", total=len(keys) * (2 if plan.repeats else 1))

        def listen(key: Key, record: Record | None) -> None:
            if record is None:
                bar.update(task, description=str(key))
            else:
                bar.advance(task)

        records = run(plan, keys, listen)
        bar.update(task, completed=bar.tasks[0].total, description="")
    return records
