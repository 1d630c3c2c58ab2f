"""The digest says whether two submissions are the same, whatever they came in."""

from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
from hypothesis import assume, given, settings
from submission_files import MEASURE, write_folder, write_zip

from harness.inspector.archive import read_zip
from harness.inspector.folder import read_folder
from harness.inspector.main import inspect
from harness.submission import Submission, find_submission

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


@fast
@given(files, files)
def test_only_equal_files_have_equal_digests(first: dict[str, bytes], second: dict[str, bytes]) -> None:
    assert (digest(first) == digest(second)) == (first == second)


def test_bytes_do_not_wander_between_names_and_contents() -> None:
    variants = [{"ab": b"c"}, {"a": b"bc"}, {"a": b"", "b": b"c"}, {"a": b"b", "c": b""}, {"a 1 b": b"c"}]
    assert len({digest(variant) for variant in variants}) == len(variants)


def test_neither_the_name_nor_the_order_of_files_matters() -> None:
    assert digest({"a": b"1", "b": b"2"}, "x") == digest({"b": b"2", "a": b"1"}, "y")
