"""What can be handed in: a .py file, a directory, a zip, or the name of a baseline."""

from pathlib import Path

import pytest
from submission_files import MEASURE, problem_of, write_folder, write_zip

import baselines
from harness.errors import UserError
from harness.submission import find_submission, find_submissions, write_files

HELPED = {"complexity.py": MEASURE, "helpers/margins.py": b"K = 3\n", "table.bin": bytes(range(256))}

needs_a_baseline = pytest.mark.skipif(not baselines.MEASURES, reason="no baselines are installed")


def test_a_single_file_is_the_complexity_py_whatever_its_name(tmp_path: Path) -> None:
    write_folder(tmp_path, {"margin.py": MEASURE})
    submission = find_submission(str(tmp_path / "margin.py"))
    assert (submission.name, submission.files) == ("margin", {"complexity.py": MEASURE})
    assert (submission.problem, submission.is_baseline) == (None, False)


def test_a_directory_brings_all_its_files(tmp_path: Path) -> None:
    submission = find_submission(str(write_folder(tmp_path / "margin", HELPED)))
    assert (submission.name, submission.files, submission.problem) == ("margin", HELPED, None)


def test_a_zip_brings_all_its_files(tmp_path: Path) -> None:
    submission = find_submission(str(write_zip(tmp_path / "margin.zip", HELPED.items())))
    assert (submission.name, submission.files, submission.problem) == ("margin", HELPED, None)


def test_what_is_written_for_the_sandbox_is_what_was_read(tmp_path: Path) -> None:
    submission = find_submission(str(write_folder(tmp_path / "margin", HELPED)))
    write_files(submission.files, tmp_path / "staged")
    written = {p.relative_to(tmp_path / "staged").as_posix(): p for p in (tmp_path / "staged").rglob("*.*")}
    assert {name: file.read_bytes() for name, file in written.items()} == HELPED


def test_what_archivers_and_python_leave_behind_is_no_part_of_it(tmp_path: Path) -> None:
    litter = {
        "__MACOSX/._complexity.py": b"\0",
        "__pycache__/complexity.cpython-311.pyc": b"\0",
        "helpers/__pycache__/margins.cpython-311.pyc": b"\0",
        ".DS_Store": b"\0",
        "._complexity.py": b"\0",
        "helpers/Thumbs.db": b"\0",
        "Desktop.ini": b"\0",
        ".git/config": b"\0",
    }
    folder = write_folder(tmp_path / "folder", HELPED | litter)
    archive = write_zip(tmp_path / "archive.zip", [("helpers/", b""), *(HELPED | litter).items()])
    assert find_submission(str(folder)).files == HELPED
    assert find_submission(str(archive)).files == HELPED


def test_the_only_folder_at_the_top_is_the_submission(tmp_path: Path) -> None:
    metadata = {"metadata": b"runtime: jax\n"}
    plain = find_submission(str(write_folder(tmp_path / "plain/mine", HELPED | metadata)))
    notes: list[str] = []
    packed = [(f"inside/{name}", content) for name, content in (HELPED | metadata).items()]
    archive = write_zip(tmp_path / "mine.zip", [("__MACOSX/inside/._complexity.py", b"\0"), ("inside/", b""), *packed])
    folder = write_folder(tmp_path / "mine", dict(packed))
    for path, source in ((archive, archive), (folder, folder / "inside")):
        (found,) = find_submissions([str(path)], note=notes.append)
        assert (found.name, found.files, found.digest) == ("mine", plain.files, plain.digest)
        assert (found.metadata.runtime, found.source, found.problem) == ("jax", str(source), None)
        assert notes.pop() == f"{path}: its only folder, inside, is the submission"
        assert not notes


@pytest.mark.parametrize(
    ("names", "remedy"),
    [
        (["outer/sub/complexity.py", "outer/sub/helpers.py"], "the folder outer/sub itself"),
        (["sub/complexity.py", "README.md"], "the folder sub itself"),
        (["sub/complexity.py", "other/complexity.py"], ""),
        (["sub/my_complexity.py"], ""),
    ],
)
def test_the_one_folder_that_could_be_meant_is_named(names: list[str], remedy: str, tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "margin.zip", [(name, MEASURE) for name in names])
    folder = write_folder(tmp_path / "margin", dict.fromkeys(names, MEASURE))
    found = ", ".join(sorted(names))
    for path, verb in ((archive, "zip"), (folder, "hand in")):
        expected = f"expected a file complexity.py at the top, found {found}"
        assert problem_of(path) == (f"{expected}; {verb} {remedy}" if remedy else expected)


@pytest.mark.parametrize("more", ["README.md", "other/complexity.py"])
def test_a_folder_beside_anything_else_is_told_where_complexity_py_was_found(tmp_path: Path, more: str) -> None:
    problem = problem_of(write_zip(tmp_path / "margin.zip", [("margin/complexity.py", MEASURE), (more, b"")]))
    assert problem.startswith("expected a file complexity.py at the top, found ")
    assert "margin/complexity.py" in problem


def test_a_zip_of_windows_has_backslashes(tmp_path: Path) -> None:
    members = [("helpers\\", b""), *((name.replace("/", "\\"), content) for name, content in HELPED.items())]
    assert find_submission(str(write_zip(tmp_path / "mine.zip", members))).files == HELPED
    for name in ("..\\x", "\\x", "a\\..\\..\\x"):
        assert "expected a path inside the zip" in problem_of(write_zip(tmp_path / "mine.zip", [(name, b"")]))


def test_without_complexity_py_it_is_told_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert problem_of(tmp_path / "empty").endswith("found nothing")
    many = write_folder(tmp_path / "many", {f"{letter}.py": MEASURE for letter in "fedcba"})
    assert problem_of(many).endswith("found a.py, b.py, c.py, d.py ...")


def test_a_file_of_another_kind_is_a_wrong_argument(tmp_path: Path) -> None:
    write_folder(tmp_path, {"notes.txt": b"", "Makefile": b""})
    with pytest.raises(UserError, match=r"notes\.txt: not a submission: expected .*, found \.txt$"):
        find_submission(str(tmp_path / "notes.txt"))
    with pytest.raises(UserError, match=r"found no suffix$"):
        find_submission(str(tmp_path / "Makefile"))


def test_a_name_of_nothing_says_where_the_baselines_are_listed() -> None:
    with pytest.raises(UserError, match=r"^no-such-thing: no such file, directory, zip or baseline; ") as error:
        find_submission("no-such-thing")
    assert str(error.value).endswith("; pgdl measures lists the baselines")


@needs_a_baseline
def test_a_misspelt_baseline_is_recognised() -> None:
    name = max(baselines.MEASURES, key=len)
    with pytest.raises(UserError, match=f"did you mean '{name}'\\?$"):
        find_submission(name[:-1] + "_")


@needs_a_baseline
def test_a_baseline_is_a_submission_that_carries_what_it_is_made_of() -> None:
    name = next(iter(baselines.MEASURES))
    submission = find_submission(name)
    assert (submission.name, submission.is_baseline, submission.problem) == (name, True, None)
    assert submission.metadata.about.description == baselines.MEASURES[name].meaning
    assert f"load({name!r})" in submission.files["complexity.py"].decode()
    root = Path(baselines.__file__).parent
    family = baselines.MEASURES[name].family.replace(" ", "_")
    parts = [
        root / "__init__.py",
        *(file for part in ("core", "network", family) for file in root.glob(f"{part}/*.py")),
    ]
    assert set(submission.files) == {"complexity.py", *(f"baselines/{file.relative_to(root)}" for file in parts)}


@needs_a_baseline
def test_a_baseline_goes_before_a_path_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(iter(baselines.MEASURES))
    write_folder(tmp_path / name, {"complexity.py": MEASURE})
    monkeypatch.chdir(tmp_path)
    notes: list[str] = []
    (found,) = find_submissions([name], note=notes.append)
    assert found.is_baseline
    assert notes == [f"{name} means the library's measure; the path here is ./{name}"]
    assert find_submission(f"./{name}", "mine").source == str(tmp_path / name)


def test_among_several_files_those_that_are_no_submissions_are_left_out(tmp_path: Path) -> None:
    write_folder(tmp_path, {"b.py": MEASURE, "README.md": b"# Read me", "__pycache__/b.pyc": b""})
    notes: list[str] = []
    arguments = [str(tmp_path / name) for name in ("README.md", "__pycache__", "b.py")]
    assert [submission.name for submission in find_submissions(arguments, note=notes.append)] == ["b"]
    assert [note.split(": ")[:2] for note in notes] == [["skipped", arguments[0]], ["skipped", arguments[1]]]
    with pytest.raises(UserError, match=r"README.md: not a submission: expected a .py file, a directory or a .zip"):
        find_submissions(arguments[:1])


def test_what_is_misspelt_gets_a_suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "my_measure", {"complexity.py": MEASURE})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="did you mean 'my_measure'"):
        find_submission("my_mesure")
    with pytest.raises(UserError, match="did you mean 'jacobian_norm'"):
        find_submission("jacobian_nrom")
    with pytest.raises(UserError, match="no such directory"):
        find_submission("no/such/place/my_measure")
    with pytest.raises(UserError, match=r"^my_measure/complexity\.py: cannot be read: Not a directory: expected a dir"):
        find_submission("my_measure/complexity.py/complexity.py")


def test_several_submissions_keep_their_order(tmp_path: Path) -> None:
    write_folder(tmp_path, {"b.py": MEASURE, "a.py": MEASURE})
    found = find_submissions((str(tmp_path / "b.py"), str(tmp_path / "a.py")))
    assert [submission.name for submission in found] == ["b", "a"]


def test_two_submissions_of_one_name_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "one" / "margin.py", tmp_path / "two" / "margin.py"
    for file in (first, second):
        write_folder(file.parent, {file.name: MEASURE})
    with pytest.raises(UserError, match="a second submission named 'margin'; give each") as error:
        find_submissions((str(first), str(second)))
    assert str(error.value).startswith(f"{second}: ")
