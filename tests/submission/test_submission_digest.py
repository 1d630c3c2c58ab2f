"""Tests of digests: equal submissions, the parts of code that count, and the library files that a digest covers."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given, settings
from submission_files import MEASURE, write_folder, write_zip

import baselines
from baselines.core.families import families
from harness.digest import code_of
from harness.inspector.archive import read_zip
from harness.inspector.folder import read_folder
from harness.inspector.main import inspect
from harness.submission import Submission, find_baseline, find_named, find_submission, library, write_files

paths = st.sampled_from(["complexity.py", "a", "ab", "b/a", "b/c/a.py", "data.bin"])
files = st.dictionaries(paths, st.binary(max_size=20))
fast = settings(deadline=None, max_examples=40)


def digest(content: dict[str, bytes], name: str = "x") -> str:
    return Submission(name, content).digest


@fast
@given(files)
def test_a_directory_and_a_zip_of_the_same_files_have_one_digest(content: dict[str, bytes]) -> None:
    with TemporaryDirectory() as directory:
        folder = write_folder(Path(directory, "folder"), content)
        folder.mkdir(exist_ok=True)
        archive = write_zip(Path(directory, "archive.zip"), reversed(content.items()))
        from_folder, from_archive = inspect(read_folder, str(folder)), inspect(read_zip, str(archive))
        assert digest(dict(from_folder.files)) == digest(dict(from_archive.files)) == digest(content)


def test_a_single_file_has_the_digest_of_the_folder_with_that_complexity_py(tmp_path: Path) -> None:
    write_folder(tmp_path, {"margin.py": MEASURE, "folder/complexity.py": MEASURE})
    assert find_submission(str(tmp_path / "margin.py")).digest == find_submission(str(tmp_path / "folder")).digest


@fast
@given(files, st.data())
def test_one_changed_byte_changes_it(content: dict[str, bytes], data: st.DataObject) -> None:
    assume(any(content.values()))
    path = data.draw(st.sampled_from([path for path, bytes_ in content.items() if bytes_]))
    position = data.draw(st.integers(0, len(content[path]) - 1))
    changed = bytearray(content[path])
    changed[position] ^= data.draw(st.integers(1, 255))
    assert digest(content | {path: bytes(changed)}) != digest(content)


def test_only_names_and_contents_count_and_bytes_do_not_wander_between_them() -> None:
    assert digest({"a": b"1", "b": b"2"}, "x") == digest({"b": b"2", "a": b"1"}, "y")
    variants = [{"ab": b"c"}, {"a": b"bc"}, {"a": b"", "b": b"c"}, {"a": b"b", "c": b""}, {"a 1 b": b"c"}]
    assert len({digest(variant) for variant in variants}) == len(variants)


CODE = b'''"""A module."""

import math


class Area:
    """Of circles."""

    def of(self, radius: float, *, exact: bool = True) -> float:
        # the usual formula
        text = f"{radius:.2f}" "!"
        return math.pi * radius**2 if exact else len(text)
'''

#: The digest in Python 3.11, 3.12 and 3.13.
DIGEST = "b92e431a9aca353a1ed0038c39641f4e201707a698e870aeaa9065349bc7cc40"


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (b"# the usual formula", b"# a well-known formula, and\n        # on two lines"),
        (b'"""Of circles."""', b'"""Of other circles."""'),
        (b'"""A module."""\n', b""),
        (
            b"radius: float, *, exact: bool = True",
            b"\n        radius: float,\n        *,\n        exact: bool=True,\n    ",
        ),
    ],
)
def test_how_it_is_written_does_not_count(now: bytes, then: bytes) -> None:
    assert code_of(CODE.replace(now, then)) == code_of(CODE)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (b"radius**2", b"radius**3"), (b"radius**2", b"radius**2.0"), (b"True", b"None"), (b'"!"', b'"?"'),
        (b".2f", b".3f"), (b"math.pi", b"math.e"), (b"import math", b"import math as maths"), (b"*, ", b""),
        (b"text = ", b"text: str = "),
    ],
)  # fmt: skip
def test_what_it_computes_counts(now: bytes, then: bytes) -> None:
    assert code_of(CODE.replace(now, then)) != code_of(CODE)


def test_it_is_the_same_in_every_python() -> None:
    assert code_of(CODE).hex() == DIGEST


def test_measures_of_the_library_have_it_and_submissions_of_participants_do_not() -> None:
    found = find_named("num_params")
    assert found is not None
    path = next(name for name in found.files if name.startswith("baselines/size/"))
    commented = replace(found, files=found.files | {path: found.files[path] + b"\n# a comment\n"})
    changed = replace(found, files=found.files | {path: found.files[path] + b"\nOTHER = 1\n"})
    assert commented.digest == found.digest != changed.digest
    theirs = replace(found, is_baseline=False)
    assert replace(commented, is_baseline=False).digest != theirs.digest


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


@pytest.mark.rest
@pytest.mark.parametrize("family", families())
def test_its_files_are_enough(family: str, tmp_path: Path) -> None:
    """A process with only those files of the library that the submission holds finds all measures of their families."""
    submission = submission_of(family)
    write_files(submission.files, tmp_path)
    command = [sys.executable, "-I", "-c", LISTING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    place, *names = json.loads(done.stdout)
    assert Path(place).is_relative_to(tmp_path)
    shown = families_in(submission)
    assert names == [name for name, one in baselines.MEASURES.items() if one.family.replace(" ", "_") in shown]


@pytest.fixture
def copied_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the library that is used in place of the original."""
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
def test_an_edit_makes_new_versions_of_what_is_made_of_the_file(
    edited: str, changed: set[str], copied_library: Path
) -> None:
    forget()
    before = {family: submission_of(family).digest for family in families()}
    forget()
    with (copied_library / edited).open("a") as file:
        file.write("EDITED = True\n")
    after = {family: submission_of(family).digest for family in families()}
    assert {family for family in families() if before[family] != after[family]} == changed
