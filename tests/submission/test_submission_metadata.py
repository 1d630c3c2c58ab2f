"""Tests of the optional file `metadata`: its texts are harmless lines on the board."""

from pathlib import Path

import pytest
from submission_files import MEASURE, problem_of, write_folder

from harness.about import About
from harness.inspector.metadata import MAX_BYTES
from harness.submission import Submission, find_submission, find_submissions
from harness.submission.name import clean
from harness.submission.submission import Metadata

pytestmark = pytest.mark.usefixtures("read_here")


def folder(directory: Path, metadata: bytes, name: str = "metadata") -> Path:
    return write_folder(directory / "margin", {"complexity.py": MEASURE, name: metadata})


def read(directory: Path, metadata: bytes, name: str = "metadata") -> Submission:
    submission = find_submission(str(folder(directory, metadata, name)))
    assert submission.problem is None
    return submission


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml", "metadata.yml"])
def test_all_keys(name: str, tmp_path: Path) -> None:
    text = b"name: Margin\nteam: Seven\ndescription: >\n  of the\n  output\npaper: arXiv:1912.02178\nkeras: 2\n"
    expected = Metadata("Margin", About("Seven", "of the output", "arXiv:1912.02178"), runtime="keras2")
    assert read(tmp_path, text, name).metadata == expected


@pytest.mark.parametrize("text", [b"", b"# nothing yet\n", b"name:\nteam:\nkeras:\n", b"year: 2020\n"])
def test_keys_may_be_absent_empty_or_unknown(text: bytes, tmp_path: Path) -> None:
    submission = read(tmp_path, text)
    assert (submission.metadata, submission.name) == (Metadata(), "margin")


@pytest.mark.rest
@pytest.mark.parametrize(
    "text",
    [
        b"description: Smoothness gap",
        b"command: python3 $ingestion_program/ingestion.py $input $output $ingestion_program $submission_program\n",
        b"Influence functions.\n\tOf the last layer: see the paper.\n",
        b"description: Margins: of the output, & of *every* layer\n", b"description: |of the output\n  twice\n",
        b"description: &margin [of, the, output]\nteam: !!binary x\npaper: *margin\n", b"- margins\n- norms\n",
        b"* margins\n* norms\n", b"!important\n", b"---\na: 1\n---\nb: 2\n", b"[" * 1500,
        b"description: " + b"[" * 60_000, b"caf\xe9: \xff\xfe\n", b"a \x00 b: c\n", b"#" * (MAX_BYTES + 1),
        b"Our name: none\n",
    ],
)  # fmt: skip
def test_what_decides_nothing_makes_no_submission_invalid(text: bytes, tmp_path: Path) -> None:
    """Files named `metadata`, such as those of the competition, may have any content."""
    submission = read(tmp_path, text)
    assert (submission.name, submission.metadata.runtime, submission.metadata.name) == ("margin", None, "")


def test_a_long_name_is_cut(tmp_path: Path) -> None:
    assert read(tmp_path, b"name: 0x" + b"f" * 5000).name == "0x" + "f" * 78


@pytest.mark.parametrize("text", ["2020-13-45", "true", "~", "0x1F", "1_000", "1e3", "12:30:45", ".nan", "0o17", "42"])
def test_every_value_is_the_text_that_is_written(text: str, tmp_path: Path) -> None:
    submission = read(tmp_path, f"name: {text}\nteam: {text}  # or so\n".encode())
    assert (submission.name, submission.metadata) == (clean(text), Metadata(text, About(text)))
    for two in (b"2", b"'2'", b'"2"'):
        assert read(tmp_path, b"keras: %b\n" % two).metadata.runtime == "keras2"


@pytest.mark.parametrize(
    ("text", "expected"), [("true", True), ("'true'", True), ("false", False), ("", False), ("~", None), ("yes", None)]
)
def test_deterministic_is_true_or_false(text: str, expected: bool | None, tmp_path: Path) -> None:
    path = folder(tmp_path, f"deterministic: {text}\n".encode())
    if expected is None:
        assert problem_of(path) == f"metadata: deterministic: expected true or false, found {text!r}"
    else:
        assert find_submission(str(path)).metadata == Metadata(deterministic=expected)


#: Contents and how their problem begins, behind "metadata: ".
REFUSED = [
    *((f"keras: {text}\n", f"keras: expected 2 or 3, found '{text}'") for text in ("4", "2.0", "true")),
    ("keras: [2]\n", "keras: expected plain text, found a list"),
    ("keras: 2\nkeras: 3\n", "keras: expected plain text, found it twice"),
    ("keras: !!int 2\n", "keras: expected plain text, found the tag 'tag:yaml.org,2002:int'"),
    ("!!str keras: 2\n", "keras: expected plain text, found the tag 'tag:yaml.org,2002:str'"),
    ("team: &a 2\nkeras: *a\n", "keras: expected plain text, found the alias *a"),
    ("keras: " + ":".join(["59"] * 5000), "keras: expected 2 or 3, found '59:59"),
    ("description: Margins: of the output\nkeras: 2\n", "expected YAML: mapping values are not"),
    ("name: [a\n", "expected YAML: while parsing a flow sequence in line 1, column 7 expected ',' or ']'"),
    (b"name: \xff\xfe\n", "expected UTF-8, found b'\\xff'"),
    ("name: !!bool maybe\n", "name: expected plain text, found the tag 'tag:yaml.org,2002:bool'"),
    ("name: !!timestamp foo\n", "name: expected plain text, found the tag"),
    ("name: !!int ''\n", "name: expected plain text, found the tag"),
    ("name: !!python/object/apply:os.system [id]\n", "name: expected plain text, found the tag"),
    ("name: &a x\n", "name: expected plain text, found the anchor &a"),
    ("name: {a: b}\n", "name: expected plain text, found a mapping"),
    ("a: &a {keras: 2}\nname: x\n<<: *a\n", "expected `key: value` lines, found a merge"),
    *((text, "expected YAML: ") for text in ("deterministic: [true\n", "\ufeffkeras: [2\n", '{"keras": 2')),
    ("- name: x\n- keras: 2\n", "expected `key: value` lines, found a list"),
    ("a: 1\n---\nkeras: 2\n", "expected `key: value` lines, found a second document"),
    ("a: " + "[" * 60_000 + "\nname: x\n", "expected at most 20 brackets within brackets"),
    ("#" * MAX_BYTES + "\nname: x\n", f"expected at most {MAX_BYTES} bytes, found {MAX_BYTES + 9}"),
]


@pytest.mark.parametrize(("text", "problem"), REFUSED)
def test_what_would_decide_something_is_refused_in_one_line(text: str | bytes, problem: str, tmp_path: Path) -> None:
    found = find_submission(str(folder(tmp_path, text if isinstance(text, bytes) else text.encode())))
    assert str(found.problem).startswith(f"metadata: {problem}")
    assert len(str(found.problem).splitlines()) == 1
    assert (found.name, found.metadata) == ("margin", Metadata())


def test_aliases_and_merges_stand_for_nothing(tmp_path: Path) -> None:
    """Expanding a thousand bytes of aliases would take minutes, or gigabytes."""
    laughs = ["l0: &l0 [x, x, x, x, x, x, x, x, x]"]
    laughs += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 30)]
    merges = ["m0: &m0 {x: y}"]
    merges += [f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}]}}" for i in range(1, 30)]
    text = "\n".join([*laughs, *merges, "description: *l29", "team: *m29", "keras: 2"])
    assert read(tmp_path, text.encode()).metadata == Metadata(runtime="keras2")


def test_keys_that_are_misspelt_are_mentioned(tmp_path: Path) -> None:
    text = b"nmae: mine\nkeres: 2\nversion: 3\ncompetition: pgdl\n"
    folder = write_folder(tmp_path / "folder", {"complexity.py": MEASURE, "metadata": text})
    notes: list[str] = []
    ((found,), _) = find_submissions([str(folder)], note=notes.append)
    assert (found.name, found.metadata.runtime) == ("folder", None)
    assert notes == [
        f"{folder}: metadata: unknown key 'nmae'; did you mean 'name'?",
        f"{folder}: metadata: unknown key 'keres'; did you mean 'keras'?",
    ]


def test_texts_are_printable_lines_of_limited_length() -> None:
    about = About.from_texts(" The\n\tSeven \x1b[31m\u202e", "word " * 200, "x" * 300)
    assert about.team == "The Seven ?[31m?"
    assert (len(about.description), about.description[-6:]) == (500, " word\N{HORIZONTAL ELLIPSIS}")
    assert about.paper == "x" * 300


ADDRESSES = ["https://arxiv.org/abs/2012.07976", "HTTP://example.org:8080/a?b=c#d", "https://[::1]/"]


@pytest.mark.parametrize(
    "paper",
    [
        *ADDRESSES,
        "", "arXiv:2012.07976", "Jiang et al. 2020", "javascript:alert(1)", "data:text/html,x", "//example.org", "https://",
        "https://arxiv.org@example.org/", "https://\u0430rxiv.org/", "https://arxiv.org/ see there", "https://[x]/",
        'https://a"b/', "https://a:b/", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_an_address_is_a_link_and_anything_else_is_text(paper: str) -> None:
    assert About(paper=paper).link == (paper if paper in ADDRESSES else "")
