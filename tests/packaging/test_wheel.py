"""The wheel holds the packages, all of their files and the licence, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from repository import PACKAGES, PYPROJECT, ROOT

(BUILDER,) = map(Requirement, PYPROJECT["build-system"]["requires"])
INSTALLED = metadata.version(BUILDER.name) if metadata.packages_distributions().get(BUILDER.name) else "0"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if not BUILDER.specifier.contains(INSTALLED):
        pytest.skip(f"building offline needs {BUILDER}, found {INSTALLED}")
    source = tmp_path_factory.mktemp("source")
    for package in (*PACKAGES, "tests", "task_data"):
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    out = tmp_path_factory.mktemp("wheel")
    build = ["pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", out, source]
    subprocess.run([sys.executable, "-m", *build], check=True)
    (file,) = out.iterdir()
    with zipfile.ZipFile(file) as archive:
        yield archive


def test_every_file_of_the_packages_is_in_the_wheel(wheel):
    expected = {
        file.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected


def test_the_licence_and_the_command_are_in_the_wheel(wheel):
    (licence,) = [name for name in wheel.namelist() if name.endswith("/LICENSE")]
    assert b"Copyright 2026 The pgdl-harness authors" in wheel.read(licence)
    (entry_points,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    assert b"pgdl = harness.cli.main:main" in wheel.read(entry_points)
