"""Options: three ways to set them, all faults in one error, the user's values untouched."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Coefficients
from genalpha.assimulo.option import key
from genalpha.driver.options import Options, options_of
from genalpha.errors import InvalidOptionError
from genalpha.numerics import systems
from genalpha.numerics.from_residual import ROUGHLY
from genalpha.schemes import SCHEMES

from .conftest import jacobian

pytestmark = pytest.mark.needs_assimulo


@pytest.fixture
def cases(make, problem):
    """Name, a value other than the default, and a bad one, of every option."""
    solver = make(problem, h=None)
    found = {}
    for option in solver.declared:
        good, bad = option.kind.examples(solver)
        default = solver.options[key(option)]
        value = next(x for x in good if x is not None and not np.array_equal(x, default))
        found[option] = (value, bad[0])
    return found


def ways(option):
    """All names under which methods and properties set an option."""
    return (*option.names, *(f"_set_{x}" for x in {*option.names, option.setter or option.name}))


def put(solver, way, value):
    if way.startswith("_set_"):
        getattr(solver, way)(value)
    else:
        setattr(solver, way, value)


def test_all_ways_to_set_an_option(make, problem, cases):
    for option, (value, _) in cases.items():
        for way in ways(option):
            solver = make(problem, h=None)
            put(solver, way, value)
            stored = solver.options[key(option)]
            assert np.array_equal(getattr(solver, option.name), stored)
            if isinstance(stored, dict):  # one value for each key
                assert set(stored.values()) == {value}
            else:
                assert np.array_equal(stored, np.broadcast_to(value, np.shape(stored)))
            assert getattr(solver, f"_get_{option.name}")() is stored


def test_names_of_assimulo(make, problem):
    """What scripts for its own solvers set."""
    names = {option: key for option in make(problem).declared for key in ways(option)}
    assert {"_set_initial_step", "_set_max_h", "_set_max_steps", "newt"} <= {
        way for option in names for way in ways(option)
    }
    assert make(problem).options.keys() >= {"newt", "atol", "rtol", "inith", "maxh", "usejac"}


def test_a_bad_value_is_refused_and_the_old_one_stays(make, problem, cases):
    solver = make(problem)
    for option, (_, bad) in cases.items():
        before = solver.options[key(option)]
        for way in ways(option):
            with pytest.raises(InvalidOptionError, match=option.name):
                put(solver, way, bad)
        assert solver.options[key(option)] is before


def test_all_faults_in_one_error_and_values_untouched(make, problem, cases):
    solver = make(problem)
    for option, (_, bad) in cases.items():
        solver.options[key(option)] = bad
    solver.options["rhoinf"] = 0.5
    before = dict(solver.options)
    with pytest.raises(InvalidOptionError) as caught:
        solver.simulate(0.1)
    for name in [*(option.name for option in cases), "rhoinf"]:
        assert any(name in fault for fault in caught.value.faults), name
    assert all(solver.options[name] is value for name, value in before.items())
    assert len(solver.t_sol) == 1


def test_the_classes_have_the_options_of_integrate_with_the_same_defaults(make, problem):
    solver = make(problem, h=None)
    chosen = Options(type(solver).__name__, problem.mechanism)
    for option in options_of(SCHEMES[type(solver).__name__]):
        assert np.array_equal(getattr(solver, option.name), getattr(chosen, option.name))


def test_conditions_of_the_scheme_are_among_the_faults(make, problem, solver_class):
    if "coefficients" not in {option.name for option in solver_class.declared}:
        pytest.skip("no coefficients")
    solver = make(problem, coefficients=Coefficients(0.1, 0.2, 0.3, 0.7))
    solver.options["fac1"] = 2.0
    with pytest.raises(InvalidOptionError) as caught:
        solver.simulate(0.1)
    assert len(caught.value.faults) >= 2


def test_options_are_never_changed_by_a_run(make, problem):
    solver = make(problem, atol=[1, 2, 3, 4, 5], rtol=1e-3)
    given = solver.atol
    before = {name: np.copy(value) for name, value in solver.options.items()}
    solver.simulate(0.1, 5)
    assert solver.atol is given and np.array_equal(given, [1, 2, 3, 4, 5])
    assert all(np.array_equal(solver.options[name], value) for name, value in before.items())


@pytest.fixture
def spring(mechanism):
    """A pendulum with a spring: under constant forces HHT does the same for every alpha."""

    def force(t, q, v):
        return np.array([-20.0 * q[0] ** 3, -13.0])

    return mechanism.replace(force=force, stiffness=None, damping=None).problem("ind3")


def test_coefficients_and_their_short_forms_replace_each_other(make, spring, solver_class):
    has = {option.name for option in solver_class.declared}
    if "coefficients" not in has:
        pytest.skip("no coefficients")
    short, value = ("rho_inf", 0.5) if "rho_inf" in has else ("alpha", -0.3)
    ends = [make(spring).simulate(0.1)[1][-1]]
    solver = make(spring)
    solver.coefficients = Coefficients.hht(-0.2)
    assert getattr(solver, short) is None
    ends.append(solver.simulate(0.1)[1][-1])
    setattr(solver, short, value)
    assert solver.coefficients is None
    solver.reset()
    ends.append(solver.simulate(0.1)[1][-1])
    assert min(abs(ends[i] - ends[j]).max() for i, j in ((0, 1), (0, 2), (1, 2))) > 1e-9


@pytest.mark.parametrize(
    ("name", "value"),
    [("start", "plain"), ("jacobian", "every iteration"), ("newton_accuracy", 1e-3)],
)
def test_options_of_the_driver_arrive(make, problem, solver_class, name, value):
    if name not in {option.name for option in solver_class.declared}:
        pytest.skip(f"no {name}")
    default = make(problem)
    default.simulate(0.1)
    other = make(problem, **{name: value})
    other.simulate(0.1)
    assert other.statistics["nfcns"] != default.statistics["nfcns"]


def test_newt_arrives(make, problem):
    with pytest.raises(ArithmeticError, match="1 corrections"):
        make(problem, newt=1).simulate(0.1)


def test_usejac(make, plain):
    calls = []

    def counting(c, t, y, yd):
        calls.append(t)
        return jacobian(c, t, y, yd)

    solver = make(plain(jac=counting))
    assert solver.usejac
    y = solver.simulate(0.1)[1]
    assert calls and solver.statistics["nfcnjacs"] == 0
    other = make(plain(jac=counting), usejac=False)
    calls.clear()
    found = other.simulate(0.1)[1]
    assert np.allclose(found[:, :4], y[:, :4], atol=1e-9)
    # the multipliers that HHTI2 shows are as rough as it lets them be, relative to accelerations
    assert np.allclose(found[:, 4], y[:, 4], rtol=0.0, atol=9.81 * ROUGHLY)
    assert not calls and other.statistics["nfcnjacs"] > 0
    with pytest.raises(InvalidOptionError, match="no jac"):
        make(plain(), usejac=True)


@pytest.mark.parametrize("kind", ["DENSE", "SPARSE", "superlu"])
def test_linear_solver(make, problem, mechanism, kind, monkeypatch):
    chosen = []
    for name in ("DenseSystem", "SparseSystem"):
        made = getattr(systems, name)

        def noting(*arguments, name=name, made=made):
            chosen.append(name)
            return made(*arguments)

        monkeypatch.setattr(systems, name, noting)
    solver = make(problem, linear_solver=kind)
    assert solver.linear_solver == kind
    y = solver.simulate(0.1)[1]
    assert set(chosen) == {"DenseSystem" if kind == "DENSE" else "SparseSystem"}
    assert np.allclose(y, make(problem).simulate(0.1)[1], atol=1e-9)


def test_options_of_other_solvers_are_ignored_aloud(make, problem, capsys):
    solver = make(problem)
    solver.verbosity = 30
    solver.maxord = 4
    assert "no option maxord" in capsys.readouterr().out
    assert solver.maxord == 4
    assert make(problem).simulate(0.02)[0][-1] == 0.02
