"""The recipe of ``genalpha.build_assimulo``: patches on small texts, cache, failures."""

import io
import multiprocessing
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from genalpha.build_assimulo import (
    BuildError,
    UnavailableError,
    cache,
    command,
    main,
    patches,
    sources,
    stages,
)
from genalpha.build_assimulo import machine as machines

SIGNATURE = """\
        subroutine solout(nrsol,xosol,xsol,y,cont,lrc,nsolu,rpar,ipar,irtrn) ! in
            double precision dimension(nsolu) :: y
            double precision dimension(4*nsolu) :: cont
            integer :: lrc
"""


CALLBACK = "def _solout(self, nrsol, told, t, y, cont, lrc, irtrn):"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_werr_comes_between_cont_and_lrc(newline):
    patched = patches.add_werr_to_solout(SIGNATURE.replace("\n", newline)).split(newline)
    assert "solout(nrsol,xosol,xsol,y,cont,werr,lrc,nsolu,rpar,ipar,irtrn)" in patched[0]
    assert patched[2:5] == [
        "            double precision dimension(4*nsolu) :: cont",
        "            double precision dimension(nsolu) :: werr",
        "            integer :: lrc",
    ]


def test_dae_callback_takes_werr():
    new = "def _solout(self, nrsol, told, t, y, cont, werr, lrc, irtrn):"
    assert patches.add_werr_to_dae_callback(f"{new}\n{CALLBACK}\n") == f"{new}\n{new}\n"


def test_removed_aliases_become_builtins():
    old = "N.array(a, dtype=N.float); np.zeros(3, np.int); N.bool; N.float64; N.int_; eqN.float"
    new = "N.array(a, dtype=float); np.zeros(3, int); bool; N.float64; N.int_; eqN.float"
    assert patches.replace_removed_aliases(old) == new


def test_starter_table_gets_its_last_zero():
    old = "38892959/120069679,11804845./141497517]])]  \n"
    assert patches.complete_starter_table(old) == old.replace("517]])]", "517,0.]])]")


@pytest.mark.parametrize(
    "patch",
    [patches.add_werr_to_solout, patches.add_werr_to_dae_callback, patches.complete_starter_table],
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
    patches.patch_sources(new, old)
    assert (new / "setup.py").read_text() == "N.float"
    assert (new / "assimulo/ode.pyx").read_text() == "float"
    assert not (new / "assimulo/ode.c").exists()
    assert (new / "assimulo/thirdparty/dasp3/dasp3.pyf").read_text() == "of 3.0"
    assert "werr" in (new / "assimulo/thirdparty/hairer/radau_decsol.pyf").read_text()


def test_cache_key_depends_on_numpy_and_recipe():
    key = cache.cache_key("2.4.0", "abc")
    assert key == cache.cache_key("2.4.0", "abc")
    assert len({key, cache.cache_key("2.4.1", "abc"), cache.cache_key("2.4.0", "abd")}) == 3


def test_recipe_hash_follows_every_file(tmp_path):
    package = Path(cache.__file__).parent
    files = [path for path in package.iterdir() if path.suffix in (".py", ".txt")]
    for path in files:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert cache.recipe_hash(tmp_path) == cache.recipe_hash()
    seen = {cache.recipe_hash()}
    for path in files:
        with (tmp_path / path.name).open("a") as stream:
            stream.write("# changed\n")
        seen.add(cache.recipe_hash(tmp_path))
    assert len(seen) == len(files) + 1


def test_cache_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.default_cache() == tmp_path / "genalpha"


def test_a_cache_that_others_can_write_into_is_refused(tmp_path):
    cache.open_cache(tmp_path / "mine")
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    tmp_path.chmod(0o777)
    with pytest.raises(BuildError, match="other users can write into"):
        cache.open_cache(tmp_path)


def test_a_changed_wheel_is_not_taken_from_the_cache(tmp_path, capsys):
    folder = tmp_path / "key"
    assert cache.find_wheel(folder) is None
    built = tmp_path / "Assimulo-3.0-py3-none-any.whl"
    built.write_bytes(b"a wheel")
    stored = cache.store_wheel(built, folder)
    assert cache.find_wheel(folder) == stored
    stored.write_bytes(b"a whee")
    assert cache.find_wheel(folder) is None
    assert "damaged" in capsys.readouterr().out


def hold_the_lock(path, seconds, held):
    with cache.locked(path):
        held.set()
        time.sleep(seconds)


def test_two_builds_do_not_race(tmp_path, capsys):
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    other = context.Process(target=hold_the_lock, args=(tmp_path / "lock", 0.5, held))
    other.start()
    assert held.wait(30.0)
    before = time.monotonic()
    with cache.locked(tmp_path / "lock"):
        waited = time.monotonic() - before
    other.join()
    assert waited > 0.1
    assert "waiting for it" in capsys.readouterr().out


def test_another_sdist_is_refused(tmp_path):
    archive = tmp_path / "Assimulo-3.0.tar.gz"
    archive.write_bytes(b"something else")
    with pytest.raises(BuildError, match=r"Assimulo-3\.0\.tar\.gz is not the file that it should"):
        sources.check_hash(archive, sources.SDISTS["3.0"])
    sources.check_hash(archive, sources.digest(archive))


@pytest.mark.parametrize("has_filter", [True, False])
@pytest.mark.parametrize("kind", ["outside", "link"])
def test_nothing_is_unpacked_outside(tmp_path, monkeypatch, has_filter, kind):
    if not has_filter:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python has no filter")
    member = tarfile.TarInfo("../evil" if kind == "outside" else "link")
    if kind == "link":
        member.type, member.linkname = tarfile.SYMTYPE, "/etc"
    archive, folder = tmp_path / "sdist.tar.gz", tmp_path / "a" / "b"
    with tarfile.open(archive, "w:gz") as files:
        files.addfile(member, io.BytesIO())
    folder.mkdir(parents=True)
    with pytest.raises((BuildError, tarfile.TarError)):
        sources.unpack(archive, folder)
    assert list(folder.parent.iterdir()) == [folder]
    assert list(folder.iterdir()) == []


def test_a_zip_stays_inside_too(tmp_path):
    archive, folder = tmp_path / "sdist.zip", tmp_path / "a" / "b"
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("../evil", "")
    folder.mkdir(parents=True)
    sources.unpack(archive, folder)
    assert list(folder.parent.iterdir()) == [folder]


def test_every_tool_has_a_hash():
    lines = sources.TOOLS.read_text().splitlines()
    starts = [i for i, line in enumerate(lines) if "==" in line]
    assert {"setuptools", "cython", "unearth"} <= {lines[i].split("==")[0] for i in starts}
    assert all("--hash=sha256:" in lines[i + 1] for i in starts)


def test_windows_is_soft(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(machines.sys, "platform", "win32")
    arguments = ["--replace", "--cache", str(tmp_path)]
    assert main(arguments) == 1
    assert main([*arguments, "--soft"]) == 0
    printed = capsys.readouterr().out
    assert "stage 'system' failed: Assimulo cannot be built by this recipe on Windows" in printed
    assert "left out: Assimulo" in printed


def test_missing_fortran_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(machines.shutil, "which", lambda name: name if name == "cc" else None)
    with pytest.raises(UnavailableError, match="apt-get install gfortran"):
        machines.check_compilers(tmp_path / "log")


def test_failing_apt_get_is_soft(monkeypatch, tmp_path):
    monkeypatch.setattr(machines.shutil, "which", lambda name: None if "fortran" in name else name)
    monkeypatch.setattr(machines.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no apt-get to run
    with pytest.raises(UnavailableError, match="apt-get could not install gfortran"):
        machines.check_compilers(tmp_path / "log")


def test_missing_c_compiler(monkeypatch, tmp_path):
    monkeypatch.setattr(machines.shutil, "which", lambda name: None)
    with pytest.raises(UnavailableError, match="no C compiler"):
        machines.check_compilers(tmp_path / "log")


def test_failing_build_is_an_error_even_when_soft(monkeypatch, tmp_path, capsys):
    def fail(destination, log):
        stages.run("compile", ["sh", "-c", "echo no such thing; exit 3"], log)

    monkeypatch.setattr(command, "build_wheel", fail)
    assert main(["--replace", "--soft", "--cache", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "stage 'compile' failed: sh ended with code 3: no such thing" in printed
    log = Path(printed.split("log: ")[1].strip())
    assert "no such thing" in log.read_text()


def test_bad_cached_wheel_is_thrown_away(tmp_path, capsys):
    key = cache.cache_key(machines.check_environment(), cache.recipe_hash())
    built = tmp_path / "Assimulo-3.0-py3-none-any.whl"
    built.write_bytes(b"not a wheel")
    folder = tmp_path / key
    cache.store_wheel(built, folder)
    assert main(["--replace", "--cache", str(tmp_path)]) == 1
    assert "stage 'install' failed" in capsys.readouterr().out
    assert not folder.exists()


@pytest.mark.needs_assimulo
def test_an_assimulo_that_is_there_is_left_alone(tmp_path, capsys):
    assert main(["--cache", str(tmp_path)]) == 0
    assert "has an Assimulo already" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
