"""What is installed: one top-level package, from any checkout, with or without its two links."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.markdown import blocks

pytestmark = pytest.mark.skipif(not find_spec("pip"), reason="installs with pip")

ROOT = Path(__file__).resolve().parent.parent
LINKS = {Path("bisimdist", name): f"../{name}" for name in ("lp", "models")}
CODE = {".py", ".typed"}
PIP = ("-m", "pip", "--disable-pip-version-check")
INSTALL = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
WHERE = "import bisimdist.lp, bisimdist.models; print(bisimdist.lp.__file__, bisimdist.models.__file__)"


def run(*command: str | Path, cwd: Path, path: Path | None = None) -> str:
    """Run a command that sees the libraries of this process, but after what is in ``path``."""
    libraries = [path, *(entry for entry in sys.path if entry.endswith("-packages"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(entry) for entry in libraries if entry)}
    ended = subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def assert_starts(python: str | Path, cwd: Path, home: Path, path: Path | None = None) -> None:
    """Assert that a command answers, with modules that lie in ``home``."""
    assert all(
        Path(file).is_relative_to(home) for file in run(python, "-c", WHERE, cwd=cwd, path=path).split()
    )
    command = ("-m", "bisimdist", "bound", "example:figure1", "--alpha", "1.5")
    assert "delta <= 0" in run(python, *command, cwd=cwd, path=path)


def assert_installs(what: Path, folder: Path) -> None:
    target = folder / "target"
    run(sys.executable, *PIP, *INSTALL, "--target", target, what, cwd=folder)
    assert_starts(sys.executable, folder, target, target)


def built(kind: str, source: Path, folder: Path) -> Path:
    code = f"from setuptools.build_meta import build_{kind}; print(build_{kind}({str(folder)!r}))"
    return folder / run(sys.executable, "-c", code, cwd=source).split()[-1]


def without_links(tree: Path) -> Path:
    """Make the links of a tree what git makes of them on a machine without any: files with their target."""
    for link, target in LINKS.items():
        (tree / link).unlink(missing_ok=True)
        (tree / link).write_text(target)
    return tree


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The tree of this checkout, without links."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "_build", "api", ".[!c]*")
    return without_links(Path(shutil.copytree(ROOT, tmp_path / "source", symlinks=True, ignore=unwanted)))


def test_the_links_are_links_where_there_are_any() -> None:
    for link, target in LINKS.items():
        if (ROOT / link).is_symlink():
            assert (ROOT / link).readlink() == Path(target)
        else:
            assert not (ROOT / link).is_dir(), "a copy would be a second home of the same modules"


def test_the_wheel_holds_one_top_level_package(source: Path, tmp_path: Path) -> None:
    names = zipfile.ZipFile(built("wheel", source, tmp_path)).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"bisimdist"}
    expected = {
        (Path(*prefix) / path.relative_to(ROOT)).as_posix()
        for folder, prefix in (("bisimdist", ()), ("lp", ("bisimdist",)), ("models", ("bisimdist",)))
        for path in (ROOT / folder).rglob("*")
        if path.suffix in CODE
    }
    assert {name for name in names if Path(name).suffix in CODE} == expected
    assert_installs(next(tmp_path.glob("*.whl")), tmp_path)


@pytest.mark.slow
def test_a_zip_installs(source: Path, tmp_path: Path) -> None:
    assert_installs(Path(shutil.make_archive(str(tmp_path / "zipped"), "zip", source)), tmp_path)


@pytest.mark.slow
def test_the_source_distribution_is_whole_and_installs(source: Path, tmp_path: Path) -> None:
    archive = built("sdist", source, tmp_path)
    with tarfile.open(archive) as opened:
        held = {Path(*Path(name).parts[1:]) for name in opened.getnames()}
    links = set(LINKS)
    for folder in ("bisimdist", "lp", "models", "tests", "docs", "benchmarks", ".ci"):
        files = {path.relative_to(source) for path in (source / folder).rglob("*") if path.is_file()}
        assert files - held - links == set(), folder
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "LICENSE", "pyproject.toml", "setup.py"):
        assert Path(name) in held
    assert_installs(archive, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--editable",)])
def test_a_clone_without_links_installs_and_passes_tests(options: tuple[str, ...], tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", "--config", "core.symlinks=false", ROOT, clone, cwd=tmp_path)
    assert (clone / "bisimdist" / "lp").read_text() == "../lp"
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(sys.executable, *PIP, "--python", python, *INSTALL, *options, clone, cwd=tmp_path)
    assert_starts(python, tmp_path, clone if options else tmp_path / "venv")
    if options:
        quick = ("tests/lp/test_transport.py", "tests/models/test_lmc.py", "bisimdist/errors.py")
        assert " passed" in run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *quick, cwd=clone)


@pytest.mark.slow
@pytest.mark.extra("lint")
@pytest.mark.skipif(os.name == "nt", reason="no types are checked")
def test_the_snippet_of_the_readme_is_typed_in_an_editable_install(tmp_path: Path) -> None:
    if not (ROOT / "bisimdist/lp").is_symlink():
        pytest.skip("a tree without links")
    folders = {name: tmp_path / "tree" / name for name in ("bisimdist", "lp", "models")}
    for name, folder in folders.items():
        shutil.copytree(ROOT / name, folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / "tree")
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    install = (*PIP, "--python", python, *INSTALL, "--editable", tmp_path / "tree")
    run(sys.executable, *install, cwd=tmp_path)
    readme = blocks((ROOT / "README.md").read_text())
    snippet = next(block.text for block in readme if block.language == "python" and not block.caption)
    wrong = "chain.no_such_name\n"
    (tmp_path / "snippet.py").write_text(snippet)
    (tmp_path / "wrong.py").write_text(snippet + wrong)
    check = (sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--no-incremental")
    shutil.copy(ROOT / "tests/integration/user_code.py", tmp_path)
    said = run(*check, "snippet.py", "user_code.py", cwd=tmp_path)
    assert "Success" in said
    run(python, "-m", "bisimdist", "example", "figure1", "-o", "model.yaml", cwd=tmp_path)
    assert "{'s0, s1': Fraction(1, 10)}" in run(python, "user_code.py", cwd=tmp_path)
    ended = subprocess.run([*check, "wrong.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "no_such_name" in ended.stdout
