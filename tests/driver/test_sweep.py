"""Many runs: the same as one by one, whoever runs them; failures stay beside results."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, integrate, sweep
from genalpha.driver import forks
from genalpha.driver.sweep import _portions
from genalpha.errors import InvalidOptionError

# Python 3.12 and newer warn before they fork if other tests have left threads behind
pytestmark = pytest.mark.filterwarnings("default:.*multi-threaded.*:DeprecationWarning")

LENGTHS = np.array([0.5, 1.0, 2.0, 3.0])
STEPS = {"h": 0.01, "t_eval": [0.0, 0.1, 0.3], "scheme": "GenAlphaI3"}


def pendulum(length, gravity=9.81):
    """A length of 3 is too long a rod for its start, one below 0 has forces that are no numbers."""

    def force(t, q, v):
        return np.array([0.0, -gravity if length > 0.0 else np.nan])

    return Mechanism(
        force=force,
        q0=[min(length, 2.0), 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: q @ q - length**2,
    )


def lowest(solution):
    return solution.q[:, 1].min()


@pytest.mark.parametrize("mode", ["serial", "forks", "threads", "processes"])
def test_same_as_one_by_one(mode):
    runs = sweep(pendulum, {"length": LENGTHS}, 0.3, mode=mode, workers=2, measure=lowest, **STEPS)
    assert (runs.mode, len(runs)) == (mode, 4)
    assert runs.q.shape == (4, 3, 2) and runs.lam.shape == (4, 3, 1) and runs.psi.shape == (4, 3, 0)
    for i in range(3):
        alone = integrate(pendulum(LENGTHS[i]), 0.3, **STEPS)
        np.testing.assert_array_equal(runs.q[i], alone.q)
        np.testing.assert_array_equal(runs.lam[i], alone.lam)
        assert runs.values[i] == lowest(alone)
    assert list(runs.failures) == [3] and "InconsistentStartError" in runs.failures[3]
    assert np.isnan(runs.q[3]).all() and np.isnan(runs.values[3])
    np.testing.assert_array_equal(runs.succeeded, [True, True, True, False])
    np.testing.assert_array_equal(runs.parameters["length"], LENGTHS)


@pytest.mark.parametrize("safe", [True, False])
def test_formulas_run_in_forks_or_threads_and_starts_may_differ(capsys, monkeypatch, safe):
    monkeypatch.setattr(forks, "is_safe", lambda: safe)  # tests may leave threads behind
    pytest.importorskip("sympy", reason="needs the extra [symbolic]")
    from genalpha.mechanisms import lagrangians

    o = lagrangians.simple_pendulum()
    starts = [[-l, 0.0] for l in LENGTHS]  # noqa: E741
    runs = sweep(o, {"l": LENGTHS, "q0": starts}, 0.3, workers=2, progress=True, **STEPS)
    assert runs.mode == ("forks" if safe else "threads") and not runs.failures
    assert "4" in capsys.readouterr().err
    for i, l in enumerate(LENGTHS):  # noqa: E741
        alone = integrate(o.with_parameters(l=l), 0.3, **STEPS)
        np.testing.assert_array_equal(runs.q[i], alone.q)


def driven(resistance):
    """A motor that turns a wheel."""
    return Mechanism(
        force=lambda t, q, v, z: 0.2 * z,
        state_rate=lambda t, q, v, z: (12.0 - resistance * z - 0.2 * v) / 0.01,
        q0=[0.0],
        v0=[0.0],
        z0=[0.0],
    )


def test_states_are_kept():
    runs = sweep(driven, {"resistance": [0.5, 1.0]}, 0.1, mode="serial", h=1e-3)
    assert runs.z.shape == (2, 101, 1)
    np.testing.assert_array_equal(runs.z[1], integrate(driven(1.0), 0.1, h=1e-3).z)
    starts = sweep(driven(1.0), {"z0": [[0.0], [5.0]]}, 0.1, mode="serial", h=1e-3)
    np.testing.assert_array_equal(starts.z[:, 0, 0], [0.0, 5.0])


def test_the_motion_before_a_failure_is_kept():
    def late(t_bad):
        def force(t, q, v):
            return np.array([1.0 if t < t_bad else np.nan])

        return Mechanism(force=force, q0=[0.0], v0=[0.0])

    runs = sweep(late, {"t_bad": [0.15, 9.0]}, 0.3, mode="serial", **STEPS)
    assert "CallbackError" in runs.failures[0] and list(runs.failures) == [0]
    assert np.isfinite(runs.q[0, :2]).all() and np.isnan(runs.q[0, 2]).all()


def test_functions_that_cannot_be_sent(recwarn):
    with pytest.warns(RuntimeWarning, match="top level of a module"):
        runs = sweep(lambda g: pendulum(1.0, g), {"g": [1.0, 2.0]}, 0.1, h=0.01, workers=2)
    assert runs.mode == "serial" and runs.t.size == 101


def test_slips_are_named():
    with pytest.raises(InvalidOptionError, match=r"as many values.*length: 2, gravity: 3"):
        sweep(pendulum, {"length": [1.0, 2.0], "gravity": [1.0, 2.0, 3.0]}, 1.0)
    with pytest.raises(InvalidOptionError, match="mode = 'all'"):
        sweep(pendulum, {"length": [1.0]}, 1.0, mode="all")
    with pytest.raises(InvalidOptionError, match="measure = 3; expected a function of a Solution"):
        sweep(pendulum, {"length": [1.0]}, 1.0, measure=3)
    with pytest.raises(InvalidOptionError, match="mechanism = 3"):
        sweep(3, {"length": [1.0]}, 1.0)
    with pytest.raises(InvalidOptionError, match=r"sweep: 1 fault.*\n.*rho_inf = 7"):
        sweep(pendulum, {"length": [1.0, 2.0]}, 1.0, h=0.1, rho_inf=7, mode="serial")
    runs = sweep(pendulum(1.0), {"t0": [0.0, 0.2]}, 0.3, mode="serial", **STEPS)
    assert list(runs.failures) == [1] and "t_eval" in runs.failures[1]  # of one run only


def test_by_dask():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        runs = sweep(pendulum, {"length": LENGTHS[:2]}, 0.3, client=client, **STEPS)
    assert runs.mode == "dask"
    np.testing.assert_array_equal(runs.q[1], integrate(pendulum(1.0), 0.3, **STEPS).q)


@pytest.mark.parametrize("count", [1, 2, 7, 100, 1000, 5000])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_portions_get_small_in_the_end(count, workers):
    portions = _portions(range(count), workers, 64)
    assert [i for portion in portions for i in portion] == list(range(count))
    sizes = [len(portion) for portion in portions]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] == 1
    assert max(sizes) <= max(1, count // (64 * workers))
