"""The optional file `metadata`."""

from pathlib import Path

import pytest
from submission_files import MEASURE, problem_of, write_folder

from harness.submission import Submission, find_submission
from harness.submission.metadata import MAX_BYTES, Metadata


def folder(directory: Path, metadata: bytes, name: str = "metadata") -> Path:
    return write_folder(directory / "margin", {"complexity.py": MEASURE, name: metadata})


def read(directory: Path, metadata: bytes, name: str = "metadata") -> Submission:
    submission = find_submission(str(folder(directory, metadata, name)))
    assert submission.problem is None
    return submission


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml", "metadata.yml"])
def test_all_keys(name: str, tmp_path: Path) -> None:
    text = b"name: Margin\nteam: Seven\ndescription: >\n  of the\n  output\npaper: arXiv:1912.02178\nkeras: 2\n"
    expected = Metadata("Margin", "Seven", "of the output\n", "arXiv:1912.02178", keras=2)
    assert read(tmp_path, text, name).metadata == expected


@pytest.mark.parametrize("text", [b"", b"# nothing yet\n", b"name:\nteam:\nkeras:\n", b"year: 2020\n"])
def test_keys_may_be_absent_empty_or_unknown(text: bytes, tmp_path: Path) -> None:
    submission = read(tmp_path, text)
    assert (submission.metadata, submission.name) == (Metadata(), "margin")


def test_a_number_is_a_name_too(tmp_path: Path) -> None:
    assert read(tmp_path, b"name: 42\n").name == "42"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"keras: 4\n", "metadata: keras: expected 2 or 3, found 4"),
        (b"keras: '2'\n", "metadata: keras: expected 2 or 3, found '2'"),
        (b"keras: true\n", "metadata: keras: expected 2 or 3, found True"),
        (b"keras: [2]\n", "metadata: keras: expected 2 or 3, found [2]"),
        (b"- name\n- team\n", "metadata: expected `key: value` lines, found list"),
        (b"just a sentence\n", "metadata: expected `key: value` lines, found str"),
        (b"name: [a\n", "metadata: expected YAML: "),
        (b"name: \xff\xfe\n", "metadata: expected YAML: "),
        (b"name: !!python/object/apply:os.system [id]\n", "metadata: expected YAML: "),
        (b"name: 2020-13-45\n", "metadata: expected YAML: "),
        (b"[" * 1500, "metadata: expected YAML: "),
        (b"#" * (MAX_BYTES + 1), f"metadata: expected at most {MAX_BYTES} bytes, found {MAX_BYTES + 1}"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: bytes, problem: str, tmp_path: Path) -> None:
    found = problem_of(folder(tmp_path, text))
    assert found.startswith(problem)
    assert len(found.splitlines()) == 1


def test_malformed_metadata_leave_the_name_of_the_folder(tmp_path: Path) -> None:
    submission = find_submission(str(folder(tmp_path, b"name: Margin\nkeras: 4\n")))
    assert (submission.name, submission.metadata) == ("margin", Metadata())


def test_keras_is_a_whole_number(tmp_path: Path) -> None:
    submission = find_submission(str(folder(tmp_path, b"keras: 2.0\n")))
    assert submission.problem is not None or submission.metadata.keras.__class__ is int


def test_aliases_do_not_make_a_text_larger_than_its_file(tmp_path: Path) -> None:
    laughs = ["l0: &l0 [x, x, x, x, x, x, x, x, x]"]
    laughs += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 5)]
    submission = find_submission(str(folder(tmp_path, "\n".join([*laughs, "description: *l4"]).encode())))
    assert len(submission.metadata.description) <= MAX_BYTES
    assert len(submission.problem or "") <= 1000


@pytest.mark.parametrize(
    "text",
    [
        b"name: 0x" + b"f" * 5000,
        "\n".join(["k0: &k0 [x]", *(f"k{i}: &k{i} [*k{i - 1}]" for i in range(1, 2500)), "name: *k2499"]).encode(),
    ],
    ids=["a number too long to print", "a list too deep to print"],
)
def test_a_name_that_cannot_be_printed_is_a_problem_of_the_submission(text: bytes, tmp_path: Path) -> None:
    assert problem_of(folder(tmp_path, text)).startswith("metadata: ")
