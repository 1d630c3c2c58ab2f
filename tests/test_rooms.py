"""Each room imports only what it may (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

#: room -> top-level packages of this project, and of the field, that it must not import.
FORBIDDEN = {
    "scoring": {"harness", "baselines", "tensorflow", "keras", "tf_keras"},
    "baselines": {"harness", "scoring"},
    "harness": {"tensorflow", "keras", "tf_keras"},
}
WORKER = ROOT / "harness" / "worker"
#: What the trainer of corpora runs, which is a process of its own where TensorFlow belongs.
TRAINER = {
    ROOT / "harness" / "corpus" / f"{name}.py"
    for name in (
        "augmentation", "autoaugment", "colours", "datasets", "geometry", "network", "sources", "trainer", "training",
    )
}  # fmt: skip


def imported(file):
    """Full names of the modules that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


@pytest.mark.parametrize("room", FORBIDDEN)
def test_no_room_imports_what_it_may_not(room):
    files = [file for file in (ROOT / room).rglob("*.py") if WORKER not in file.parents and file not in TRAINER]
    assert files
    found = {file.name: {name.split(".")[0] for name in imported(file)} & FORBIDDEN[room] for file in files}
    assert {name: heads for name, heads in found.items() if heads} == {}


@pytest.mark.parametrize("room", ["worker", "inspector"])
def test_what_runs_in_a_process_of_its_own_imports_nothing_of_the_rest_of_the_harness(room):
    files = list((ROOT / "harness" / room).glob("*.py"))
    assert files
    for file in files:
        own = {name for name in imported(file) if name.split(".")[0] in ("harness", "scoring", "baselines")}
        assert all(name.startswith(f"harness.{room}") for name in own), file.name


def test_the_format_knows_nothing_of_what_is_made_of_it():
    """Tasks and corpora use it; of the rest it knows how errors are worded, and the grid of hyperparameters."""
    files = list((ROOT / "harness" / "format").glob("*.py"))
    assert files
    allowed = {"harness.errors", "harness.hints", "scoring"}
    for file in files:
        own = {name for name in imported(file) if name.split(".")[0] in ("harness", "scoring", "baselines")}
        assert {name for name in own - allowed if not name.startswith("harness.format.")} == set(), file.name


def test_the_checksum_of_records_is_written_once():
    """What a file is called and how it is checked stands in the format alone."""
    knows = [file for file in (ROOT / "harness").rglob("*.py") if "0xA282EAD8" in file.read_text()]
    assert knows == [ROOT / "harness" / "format" / "shards.py"]
