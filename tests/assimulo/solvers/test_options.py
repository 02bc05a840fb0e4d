"""Options: three ways to set them, all faults in one error, the user's values untouched."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Coefficients
from genalpha.assimulo.option import options_of
from genalpha.errors import InvalidOptionError

from .conftest import jacobian

pytestmark = pytest.mark.needs_assimulo

#: A value other than the default, and one that must be refused.
COMMON = {
    "h": (2e-2, 0.0),
    "atol": (1e-4, [1e-6, 1e-6]),
    "rtol": (1e-4, -1.0),
    "inith": (1e-3, -1.0),
    "maxh": (0.5, "much"),
    "maxsteps": (20, 0),
    "safe": (0.8, 1.5),
    "fac1": (0.3, 0.0),
    "fac2": (3.0, 1.0),
    "suppress_alg": (False, "yes"),
    "algvar": ([1, 1, 0, 0, 0], 2),
    "usejac": (False, None),
    "linear_solver": ("SPARSE", "SPGMR"),
    "newt": (5, 2.5),
    "newton_accuracy": (1e-10, 0.0),
    "start": ("plain", "cold"),
    "adjust_steps": (False, 3),
    "jacobian": ("every step", "never"),
}
OWN = {
    "GenAlphaI3": {"rho_inf": (0.5, 1.1), "coefficients": (Coefficients.hht(-0.2), 0.3)},
    "GenAlphaSOI2": {"rho_inf": (0.5, 1.1), "coefficients": (Coefficients.hht(-0.2), 0.3)},
    "HHTI2": {
        "alpha": (-0.3, 0.1),
        "coefficients": (Coefficients.hht(-0.2), 0.3),
        "b": (0.1, 0.5),
        "variant": ("midpoint", "start"),
    },
}
#: Where Assimulo's own setters have other names than their options.
SETTERS = {"inith": "initial_step", "maxh": "max_h", "maxsteps": "max_steps"}


@pytest.fixture
def cases(solver_class):
    return COMMON | OWN[solver_class.__name__]


def test_the_table_has_all_options(cases, solver_class):
    assert set(cases) == set(options_of(solver_class))


def test_three_ways_to_set_an_option(make, problem, cases):
    for name, (value, _) in cases.items():
        values = []
        for way in ("property", "method", "assimulo's method", "options"):
            solver = make(problem)
            if way == "property":
                setattr(solver, name, value)
            elif way == "options":
                solver.options[name] = getattr(make(problem, **{name: value}), name)
            else:
                method = SETTERS.get(name, name) if "assimulo" in way else name
                getattr(solver, f"_set_{method}")(value)
            assert np.array_equal(getattr(solver, name), solver.options[name])
            values.append(solver.options[name])
        assert all(np.array_equal(values[0], x) for x in values)
        assert np.array_equal(values[0], np.broadcast_to(value, np.shape(values[0])))


def test_every_option_is_documented(solver_class):
    for option in options_of(solver_class).values():
        assert len(option.__doc__) > 30


def test_a_bad_value_is_refused_and_the_old_one_stays(make, problem, cases):
    solver = make(problem)
    for name, (_, bad) in cases.items():
        before = solver.options[name]
        with pytest.raises(InvalidOptionError, match=name):
            setattr(solver, name, bad)
        assert solver.options[name] is before


def test_all_faults_in_one_error_and_values_untouched(make, problem, cases):
    solver = make(problem)
    for name, (_, bad) in cases.items():
        solver.options[name] = bad
    solver.options["rhoinf"] = 0.5
    before = dict(solver.options)
    with pytest.raises(InvalidOptionError) as caught:
        solver.simulate(0.1)
    for name in [*cases, "rhoinf"]:
        assert any(name in fault for fault in caught.value.faults), name
    assert all(solver.options[name] is value for name, value in before.items())
    assert len(solver.t_sol) == 1


def test_conditions_of_the_scheme_are_among_the_faults(make, problem):
    solver = make(problem, coefficients=Coefficients.newmark(0.3, 0.7))
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
    short = "alpha" if solver_class.__name__ == "HHTI2" else "rho_inf"
    value = OWN[solver_class.__name__][short][0]
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
def test_options_of_the_driver_arrive(make, problem, name, value):
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
    assert np.allclose(other.simulate(0.1)[1], y, atol=1e-9)
    assert not calls and other.statistics["nfcnjacs"] > 0
    with pytest.raises(InvalidOptionError, match="no jac"):
        make(plain(), usejac=True)


@pytest.mark.parametrize("kind", ["DENSE", "SPARSE"])
def test_linear_solver(make, problem, mechanism, kind):
    from scipy import sparse

    sparse_mechanism = mechanism.replace(
        holonomic_jacobian=lambda t, q: sparse.csc_array(mechanism.holonomic_jacobian(t, q))
    )
    for o in (mechanism, sparse_mechanism):
        solver = make(o.problem("ind3"))
        assert solver.linear_solver == ("SPARSE" if o is sparse_mechanism else "DENSE")
        solver.linear_solver = kind
        assert np.allclose(solver.simulate(0.1)[1], make(problem).simulate(0.1)[1], atol=1e-9)
        assert solver._course.mechanism.is_sparse is (kind == "SPARSE")


def test_options_of_other_solvers_are_ignored_aloud(make, problem, capsys):
    solver = make(problem)
    solver.verbosity = 30
    solver.maxord = 4
    assert "no option maxord" in capsys.readouterr().out
    assert solver.maxord == 4
    assert make(problem).simulate(0.02)[0][-1] == 0.02
