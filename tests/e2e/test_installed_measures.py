"""Tests of measures of other packages: found by entry points, never imported by the harness, run as submissions."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import h5py
import pytest
from real_runs import records

pytestmark = pytest.mark.rest

ROOT = Path(__file__).parents[2]

#: The module of a distribution; outside of a sandbox its import fails.
SOURCE = """
import os

from borrowed.scale import SCALE

if not os.path.isdir("/job/submission"):
    raise SystemExit("imported outside of a sandbox")


def weights(model, dataset):
    return SCALE * sum(array.size for array in model.get_weights())
"""

ENTRY_POINTS = """[pgdl.measures]
borrowed_weights = borrowed.measures:weights
VC-dim = borrowed.measures:weights
no_module = elsewhere:weights
no_function = borrowed.measures
"""

METADATA = """Metadata-Version: 2.1
Name: borrowed-measures
Version: 1.2
Summary: Measures of somebody else
"""


@pytest.fixture(scope="module")
def environment_copy(tmp_path_factory):
    """A copy of the virtual environment, made of hard links, into which a package can be installed."""
    if sys.prefix == sys.base_prefix:
        pytest.skip("needs a virtual environment: another one is made of its files")
    copy = tmp_path_factory.mktemp("environment") / "venv"
    made = subprocess.run(["cp", "-al", sys.prefix, copy], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"this environment cannot be linked: {made.stderr[-200:]}")
    yield copy
    shutil.rmtree(copy.parent)


@pytest.fixture(scope="module")
def packages(environment_copy):
    """The directory in which the package `borrowed` with measures is installed."""
    directory = environment_copy / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    write(directory / "borrowed", {"__init__.py": "", "measures.py": SOURCE, "scale.py": "SCALE = 2\n"})
    about = directory / "borrowed_measures-1.2.dist-info"
    files = [*(directory / "borrowed").iterdir(), about / "METADATA"]
    record = "".join(f"{file.relative_to(directory)},,\n" for file in files)
    write(about, {"METADATA": METADATA, "entry_points.txt": ENTRY_POINTS, "RECORD": record})
    return directory


def write(directory, files):
    directory.mkdir()
    for name, content in files.items():
        (directory / name).write_text(content)


@pytest.fixture(scope="module")
def pgdl_there(environment_copy, packages, environment):
    """Return a function that runs `pgdl ARGUMENTS` in the environment with the other package."""

    def run(*arguments, **more):
        command = [str(environment_copy / "bin" / "python"), "-m", "pgdl", *map(str, arguments)]
        variables = environment | {"PYTHONPATH": str(ROOT)} | more
        return subprocess.run(command, env=variables, cwd="/", capture_output=True, text=True, timeout=500)

    return run


def test_they_are_listed_with_their_origin(pgdl_there):
    done = pgdl_there("measures")
    assert done.returncode == 0, done.stderr
    heading, *listed = map(str.rstrip, done.stdout.rpartition("\n\n")[2].splitlines())
    assert heading.split() == ["installed", "measure", "package", "meaning"]
    assert [line.split()[0] for line in listed] == ["VC-dim", "borrowed_weights", "no_function", "no_module"]
    assert all("borrowed-measures 1.2" in line for line in listed)
    assert listed[1].endswith("Measures of somebody else")
    problems = [line.partition("cannot be run: ")[2] for line in (listed[0], *listed[2:])]
    assert problems == [
        "cannot have this name: vc_dim is a measure of the library",
        "expected package.module:function, found 'borrowed.measures'",
        "no module elsewhere is installed with it; a module in editable mode is in no sandbox",
    ]
    one = json.loads(pgdl_there("measures", "borrowed_weights", "--format", "json").stdout)
    assert (one["origin"], one["source"]) == ("borrowed-measures 1.2", "borrowed.measures:weights")


@pytest.mark.usefixtures("sandbox")
def test_one_is_run_as_a_submission_is_alone_and_by_its_files(pgdl_there, packages, one_model, tmp_path):
    database = tmp_path / "r.db"
    command = ("run", "borrowed_weights", "num_params", "depth", "--tasks", one_model, "--results", database)
    done = pgdl_there(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row["submission"]: row for row in records(database)}
    assert rows["borrowed_weights"]["value"] == 2 * number_of_weights(one_model)
    assert {name for name, row in rows.items() if row["is_baseline"]} == {"num_params", "depth"}
    assert rows["borrowed_weights"]["startup_wall_s"] > 0  # in a sandbox of its own
    assert sum(row["startup_wall_s"] > 0 for row in rows.values()) == 2

    replaced(packages / "borrowed" / "scale.py", "SCALE = 3\n")
    done = pgdl_there(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    *_, again = records(database)
    assert len(records(database)) == 4
    assert again["submission_digest"] != rows["borrowed_weights"]["submission_digest"]
    assert again["value"] == 3 * number_of_weights(one_model)


def replaced(file, text):
    file.unlink()
    file.write_text(text)


def number_of_weights(tasks):
    found = []
    with h5py.File(tasks / "single" / "model_0" / "weights.hdf5") as file:
        file.visititems(lambda _, item: found.append(item))
        return sum(item.size for item in found if isinstance(item, h5py.Dataset))


def test_what_lies_outside_of_the_environment_is_refused(pgdl_there, packages, one_model, tmp_path):
    """With PYTHONPATH, the harness could see the package, but no sandbox could."""
    for name in ("borrowed", "borrowed_measures-1.2.dist-info"):
        shutil.copytree(packages / name, tmp_path / name)
    hidden = pgdl_there("run", "borrowed_weights", "--tasks", one_model, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert hidden.returncode == 2
    assert f"lies in {tmp_path}, where no sandbox looks for packages" in hidden.stderr
