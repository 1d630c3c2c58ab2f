"""Tests of the wheel: it holds the packages, the data needed outside of a checkout, the licence, nothing else."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from repository import PACKAGES, ROOT, SHIPPED

pytestmark = pytest.mark.rest

#: The largest wheel that we want to send: a task of a few hundred kB, pages, and code.
MAX_BYTES = 1_800_000


def build(kind, source, out):
    program = f"from hatchling.build import build_{kind}; build_{kind}({str(out)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=source, check=True, capture_output=True)
    (file,) = out.iterdir()
    return file


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The unpacked source distribution of a copy of the repository."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("sdist")
    for folder in (*PACKAGES, *SHIPPED, "tests"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    file = build("sdist", source, out)
    with tarfile.open(file) as archive:
        archive.extractall(out, filter="data")
    return out / file.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    with zipfile.ZipFile(build("wheel", sdist, tmp_path_factory.mktemp("wheel"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return a function that runs `pgdl ARGUMENTS` in a directory, with the wheel's content, not the checkout."""
    packages = tmp_path_factory.mktemp("site-packages")
    wheel.extractall(packages)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(packages), "HOME": str(packages), "COLUMNS": "200"}

    def run(*arguments, cwd):
        command = [sys.executable, "-m", "pgdl", *arguments]
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=500)

    return run


def below(folder):
    return {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def files(folder):
    """Return the paths of all files of a directory of the repository."""
    found = (ROOT / folder).rglob("*")
    return {path.relative_to(ROOT).as_posix() for path in found if path.is_file() and "__pycache__" not in path.parts}


def test_every_file_of_the_packages_and_what_is_shipped_is_in_the_wheel_which_is_small_and_has_no_tests(wheel, sdist):
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    shipped = {name.removeprefix("harness/shipped/") for name in inside if name.startswith("harness/shipped/")}
    code = inside - {f"harness/shipped/{name}" for name in shipped}
    assert code == {name.removeprefix("harness/public/") for name in set.union(*map(files, PACKAGES))}
    assert Path(wheel.filename).stat().st_size < MAX_BYTES
    assert not (sdist / "tests").exists()
    assert shipped > files("submissions") | files("task_data/recipes") | {"task_data/README.md"}
    assert {f".github/workflows/{name}.yml" for name in ("leaderboard", "leaderboard-comment")} < shipped
    assert [name for name in shipped if wheel.read(f"harness/shipped/{name}") != (ROOT / name).read_bytes()] == []


def test_the_demo_of_the_wheel_is_that_of_the_checkout_and_needs_all_of_its_task(wheel, installed, tmp_path):
    made = installed("demo", "from-wheel", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    subprocess.run([sys.executable, "-m", "pgdl", "demo", tmp_path / "from-checkout"], cwd=ROOT, check=True)
    assert below(tmp_path / "from-wheel") == below(tmp_path / "from-checkout")
    shipped = {name.rpartition("/digits_nin/")[2] for name in wheel.namelist() if "/digits_nin/" in name}
    used = below(tmp_path / "from-wheel" / "task_data")
    assert {path.as_posix().rpartition("/digits_nin_small/")[2] for path in used} == shipped


def test_recipes_pages_corpora_and_published_scores_are_found_in_the_wheel(installed, tmp_path):
    listed = installed("task", "recipes", cwd=tmp_path).stdout.splitlines()[1:]
    assert len(listed) == len(files("task_data/recipes"))
    refused = installed("task", "build", "digit_vgg", "--output", "x", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.endswith("did you mean 'digits_vgg'?\n")) == (2, True)
    page = installed("help", "outcomes", cwd=tmp_path).stdout
    assert "Every call has exactly one outcome" in " ".join(page.split())
    assert "task8" in installed("task", "known", cwd=tmp_path).stdout
    refused = installed("compare", "--published", "pgdl2002", cwd=tmp_path)
    assert refused.stderr.endswith("did you mean 'pgdl2020'?\n")


def test_the_licence_the_command_and_what_the_wheel_says_of_itself(wheel):
    def read(ending):
        (file,) = [name for name in wheel.namelist() if name.endswith(ending)]
        return wheel.read(file).decode()

    assert "Copyright 2026 The pgdl-harness authors" in read("/LICENSE")
    assert "pgdl = pgdl.__main__:main" in read("/entry_points.txt")
    said = Parser().parsestr(read(".dist-info/METADATA"))
    assert "Typing :: Typed" in said.get_all("Classifier")
    systems = [one for one in said.get_all("Classifier") if one.startswith("Operating")]
    assert systems == ["Operating System :: POSIX :: Linux"]  # no other was tried: docs/systems.md
    assert said["Author"] == "The pgdl-harness developers"
    assert said["License-Expression"] == "Apache-2.0 AND CC-BY-4.0"  # code, and images
    assert {f"{package}/py.typed" for package in PACKAGES} < set(wheel.namelist())
