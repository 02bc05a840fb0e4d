"""The recipe of ``genalpha.build_assimulo``: patches on small texts, cache, failures."""

from pathlib import Path

import pytest

from genalpha import build_assimulo as build

SIGNATURE = """\
        subroutine solout(nrsol,xosol,xsol,y,cont,lrc,nsolu,rpar,ipar,irtrn) ! in
            double precision dimension(nsolu) :: y
            double precision dimension(4*nsolu) :: cont
            integer :: lrc
"""


CALLBACK = "def _solout(self, nrsol, told, t, y, cont, lrc, irtrn):"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_werr_comes_between_cont_and_lrc(newline):
    patched = build.add_werr_to_solout(SIGNATURE.replace("\n", newline)).split(newline)
    assert "solout(nrsol,xosol,xsol,y,cont,werr,lrc,nsolu,rpar,ipar,irtrn)" in patched[0]
    assert patched[2:5] == [
        "            double precision dimension(4*nsolu) :: cont",
        "            double precision dimension(nsolu) :: werr",
        "            integer :: lrc",
    ]


def test_dae_callback_takes_werr():
    new = "def _solout(self, nrsol, told, t, y, cont, werr, lrc, irtrn):"
    assert build.add_werr_to_dae_callback(f"{new}\n{CALLBACK}\n") == f"{new}\n{new}\n"


def test_removed_aliases_become_builtins():
    old = "N.array(a, dtype=N.float); np.zeros(3, np.int); N.bool; N.float64; N.int_; eqN.float"
    new = "N.array(a, dtype=float); np.zeros(3, int); bool; N.float64; N.int_; eqN.float"
    assert build.replace_removed_aliases(old) == new


def test_starter_table_gets_its_last_zero():
    old = "38892959/120069679,11804845./141497517]])]  \n"
    assert build.complete_starter_table(old) == old.replace("517]])]", "517,0.]])]")


@pytest.mark.parametrize(
    "patch",
    [build.add_werr_to_solout, build.add_werr_to_dae_callback, build.complete_starter_table],
)
def test_a_patch_refuses_another_text(patch):
    with pytest.raises(ValueError, match="not the expected one"):
        patch("something else")


def test_sources_are_patched_in_place(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    files = {
        new / "setup.py": "N.float",
        new / "assimulo/ode.pyx": "N.float",
        new / "assimulo/ode.c": "generated",
        new / "assimulo/solvers/radau5.py": CALLBACK,
        new / "assimulo/solvers/odepack.py": "38892959/120069679,11804845./141497517]])]",
        new / "assimulo/thirdparty/hairer/radau5.f": "",
        new / "assimulo/thirdparty/dasp3/dasp3.pyf": "of 3.0",
        old / "assimulo/thirdparty/dasp3/dasp3.pyf": "of 2.9",
        old / "assimulo/thirdparty/hairer/radau_decsol.pyf": SIGNATURE,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    build.patch_sources(new, old)
    assert (new / "setup.py").read_text() == "N.float"
    assert (new / "assimulo/ode.pyx").read_text() == "float"
    assert not (new / "assimulo/ode.c").exists()
    assert (new / "assimulo/thirdparty/dasp3/dasp3.pyf").read_text() == "of 3.0"
    assert "werr" in (new / "assimulo/thirdparty/hairer/radau_decsol.pyf").read_text()


def test_cache_key_depends_on_numpy_and_recipe():
    key = build.cache_key("2.4.0", "abc")
    assert key == build.cache_key("2.4.0", "abc")
    assert len({key, build.cache_key("2.4.1", "abc"), build.cache_key("2.4.0", "abd")}) == 3


def test_recipe_hash_follows_the_file(tmp_path, monkeypatch):
    before = build.recipe_hash()
    changed = tmp_path / "build_assimulo.py"
    changed.write_text(Path(build.__file__).read_text() + "# changed\n")
    monkeypatch.setattr(build, "__file__", str(changed))
    assert build.recipe_hash() != before


def test_cache_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert build.default_cache() == tmp_path / "genalpha"


def test_unsupported_python_is_soft(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(build, "SUPPORTED_PYTHONS", ((3, 9),))
    arguments = ["--replace", "--cache", str(tmp_path)]
    assert build.main(arguments) == 1
    assert build.main([*arguments, "--soft"]) == 0
    printed = capsys.readouterr().out
    assert "stage 'python' failed: Assimulo 3.0 can be built on Python 3.9 only" in printed
    assert "left out: Assimulo" in printed


def test_missing_fortran_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(build.shutil, "which", lambda name: name if name == "cc" else None)
    with pytest.raises(build.UnavailableError, match="apt-get install gfortran"):
        build.check_compilers(tmp_path / "log")


def test_failing_apt_get_is_soft(monkeypatch, tmp_path):
    monkeypatch.setattr(build.shutil, "which", lambda name: None if name == "gfortran" else name)
    monkeypatch.setattr(build.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no apt-get to run
    with pytest.raises(build.UnavailableError, match="apt-get could not install gfortran"):
        build.check_compilers(tmp_path / "log")


def test_missing_c_compiler(monkeypatch, tmp_path):
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    with pytest.raises(build.UnavailableError, match="no C compiler"):
        build.check_compilers(tmp_path / "log")


def test_failing_build_is_an_error_even_when_soft(monkeypatch, tmp_path, capsys):
    def fail(numpy, destination, log):
        build.run("compile", ["sh", "-c", "echo no such thing; exit 3"], log)

    monkeypatch.setattr(build, "SUPPORTED_PYTHONS", (build.sys.version_info[:2],))
    monkeypatch.setattr(build, "build_wheel", fail)
    assert build.main(["--replace", "--soft", "--cache", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "stage 'compile' failed: sh ended with code 3: no such thing" in printed
    log = Path(printed.split("log: ")[1].strip())
    assert "no such thing" in log.read_text()


def test_bad_cached_wheel_is_thrown_away(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(build, "SUPPORTED_PYTHONS", (build.sys.version_info[:2],))
    key = build.cache_key(build.numpy_version(), build.recipe_hash())
    folder = tmp_path / key
    folder.mkdir()
    (folder / "Assimulo-3.0-py3-none-any.whl").write_bytes(b"not a wheel")
    assert build.main(["--replace", "--cache", str(tmp_path)]) == 1
    assert "stage 'install' failed" in capsys.readouterr().out
    assert not folder.exists()


@pytest.mark.needs_assimulo
def test_an_assimulo_that_is_there_is_left_alone(tmp_path, capsys):
    assert build.main(["--cache", str(tmp_path)]) == 0
    assert "has an Assimulo already" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
