"""The code blocks of the page on results run as one script, and do what the text says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .test_tutorial import blocks


def test_blocks_run_as_a_script(tmp_path: Path) -> None:
    script = tmp_path / "results.py"
    script.write_text("\n".join(blocks("results.md")), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert "False" not in run.stdout
