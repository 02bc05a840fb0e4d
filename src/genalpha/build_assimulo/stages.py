"""The build runs in stages: their errors, their commands and their one log."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

VERSION = "3.0"


class BuildError(Exception):
    """A stage failed: the text says which one, why, and where its log is."""

    def __init__(self, stage: str, reason: str, log: Path | None = None) -> None:
        where = f"\n  log: {log}" if log is not None else ""
        super().__init__(f"stage '{stage}' failed: {reason}{where}")


class UnavailableError(BuildError):
    """The machine cannot build Assimulo at all; ``--soft`` goes on without it."""


def say(text: str) -> None:
    """Print one line of progress at once, also into a pipe."""
    print(f"assimulo: {text}", flush=True)


def run(
    stage: str,
    command: Sequence[str],
    log: Path,
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> None:
    """Run a command of a stage, its output going to the log; raise BuildError when it fails."""
    environment = {**os.environ, **(env or {})}
    with log.open("a", encoding="utf-8") as stream:
        print(f"\n[{stage}] $ {' '.join(command)}", file=stream, flush=True)
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as error:
            raise BuildError(stage, str(error), log) from error
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-1]
        raise BuildError(stage, f"{command[0]} ended with code {done.returncode}: {tail}", log)
