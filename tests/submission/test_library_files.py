"""A measure of the library is made of its family's files, of those that they import, and of no others."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import baselines
from baselines.core.families import families
from harness.submission import Submission, find_baseline, library, write_files

#: Lists the measures in a directory, without the help of an installation that points to this checkout.
LISTING = """
import sys, json
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
sys.meta_path[:] = [BuiltinImporter, FrozenImporter, PathFinder]
sys.path.insert(0, sys.argv[1])
import baselines, complexity
print(json.dumps([baselines.__file__, *baselines.MEASURES]))
"""


def some_measure(family: str) -> str:
    return next(name for name, one in baselines.MEASURES.items() if one.family == family.replace("_", " "))


def submission_of(family: str) -> Submission:
    found = find_baseline(some_measure(family))
    assert found is not None
    return found


def families_in(submission: Submission) -> set[str]:
    return {path.split("/")[1] for path in submission.files if path.count("/") == 2} - {"core", "network"}


@pytest.mark.parametrize("family", families())
def test_its_files_are_enough(family: str, tmp_path: Path) -> None:
    """A process that sees nothing else of the library imports them, and finds the measures of these families."""
    submission = submission_of(family)
    write_files(submission.files, tmp_path)
    command = [sys.executable, "-I", "-c", LISTING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    place, *names = json.loads(done.stdout)
    assert Path(place).is_relative_to(tmp_path)
    shown = families_in(submission)
    assert names == [name for name, one in baselines.MEASURES.items() if one.family.replace(" ", "_") in shown]


def test_margins_over_norms_are_made_of_norms_and_norms_of_no_margins() -> None:
    assert families_in(submission_of("norm")) == {"norm"}
    assert families_in(submission_of("margin")) == {"margin", "norm", "size"}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the library whose files are taken instead."""
    package = shutil.copytree(Path(baselines.__file__).parent, tmp_path / "baselines")
    monkeypatch.setattr(baselines, "__file__", str(package / "__init__.py"))
    yield package
    forget()


def forget() -> None:
    library._library.cache_clear()
    library._files_of.cache_clear()


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("sharpness/hessian.py", {"sharpness"}),
        ("norm/terms.py", {"norm", "margin"}),
        ("core/sample.py", set(families())),
        ("network/fold.py", set(families())),
        ("__init__.py", set(families())),
    ],
)
def test_an_edit_makes_new_versions_of_what_is_made_of_the_file(edited: str, changed: set[str], copy: Path) -> None:
    forget()
    before = {family: submission_of(family).digest for family in families()}
    forget()
    with (copy / edited).open("a") as file:
        file.write("EDITED = True\n")
    after = {family: submission_of(family).digest for family in families()}
    assert {family for family in families() if before[family] != after[family]} == changed
