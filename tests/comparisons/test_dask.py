"""Grids on a Dask cluster give what they give here."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparisons import runner
from comparisons.cases import CASES
from comparisons.names import Setting
from comparisons.runner import Choice, Plan

distributed = pytest.importorskip("distributed")


@pytest.mark.filterwarnings("ignore")
def test_a_local_cluster(tmp_path: Path, plugin: str) -> None:
    keys = Choice(
        ("short_pendulum",),
        ("GenAlphaI3", "raises"),
        values={Setting.STEP: CASES["short_pendulum"].values(Setting.STEP)[:2]},
    ).keys()
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster:
        address = cluster.scheduler_address
        plan = Plan(tmp_path, repeats=0, dask=address, plugins=(plugin,))
        records = runner.run(plan, keys)
    assert [record.key for record in records] == keys
    assert [record.ok for record in records] == [True, True, False, False]
