"""Tests of the forms of a submission: a .py file, a directory, a zip, a baseline; its name and its source."""

import re
from pathlib import Path

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given
from submission_files import MEASURE, problem_of, write_folder, write_zip

import baselines
from harness.errors import UserError
from harness.submission import find_flaw, find_submission, find_submissions, write_files
from harness.submission.name import clean

pytestmark = pytest.mark.usefixtures("read_here")

HELPED = {"complexity.py": MEASURE, "helpers/margins.py": b"K = 3\n", "table.bin": bytes(range(256))}


def test_a_file_a_folder_and_a_zip_bring_all_their_files_into_the_sandbox(tmp_path):
    file = write_folder(tmp_path, {"margin.py": MEASURE}) / "margin.py"  # is complexity.py, whatever its name
    folder, archive = write_folder(tmp_path / "margin", HELPED), write_zip(tmp_path / "margin.zip", HELPED.items())
    for path, files in ((file, {"complexity.py": MEASURE}), (folder, HELPED), (archive, HELPED)):
        found = find_submission(str(path))
        assert (found.name, found.files, found.problem, found.is_baseline) == ("margin", files, None, False)
    write_files(found.files, tmp_path / "staged")
    written = {p.relative_to(tmp_path / "staged").as_posix(): p for p in (tmp_path / "staged").rglob("*.*")}
    assert {name: file.read_bytes() for name, file in written.items()} == HELPED


def test_what_archivers_and_python_leave_behind_is_no_part_of_it(tmp_path):
    names = (
        "__MACOSX/._complexity.py", "__pycache__/complexity.cpython-311.pyc", "._complexity.py", ".DS_Store",
        "helpers/__pycache__/margins.cpython-311.pyc", "helpers/Thumbs.db", "Desktop.ini", ".git/config",
    )  # fmt: skip
    litter = dict.fromkeys(names, b"\0")
    folder = write_folder(tmp_path / "folder", HELPED | litter)
    archive = write_zip(tmp_path / "archive.zip", [("helpers/", b""), *(HELPED | litter).items()])
    assert find_submission(str(folder)).files == HELPED
    assert find_submission(str(archive)).files == HELPED


def test_the_only_folder_at_the_top_is_the_submission(tmp_path):
    metadata = {"metadata": b"runtime: jax\n"}
    plain = find_submission(str(write_folder(tmp_path / "plain/mine", HELPED | metadata)))
    notes: list[str] = []
    packed = [(f"inside/{name}", content) for name, content in (HELPED | metadata).items()]
    archive = write_zip(tmp_path / "mine.zip", [("__MACOSX/inside/._complexity.py", b"\0"), ("inside/", b""), *packed])
    folder = write_folder(tmp_path / "mine", dict(packed))
    for path, source in ((archive, archive), (folder, folder / "inside")):
        ((found,), _) = find_submissions([str(path)], note=notes.append)
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
        ([], ""),
    ],
)
def test_the_one_folder_that_could_be_meant_is_named(names, remedy, tmp_path):
    archive = write_zip(tmp_path / "margin.zip", [(name, MEASURE) for name in names])
    (tmp_path / "margin").mkdir()
    folder = write_folder(tmp_path / "margin", dict.fromkeys(names, MEASURE))
    expected = f"expected a file complexity.py at the top, found {', '.join(sorted(names)) or 'nothing'}"
    for path, verb in ((archive, "zip"), (folder, "hand in")):
        assert problem_of(path) == (f"{expected}; {verb} {remedy}" if remedy else expected)


def test_of_several_files_in_a_folder_some_are_told(tmp_path):
    write_folder(tmp_path / "many", {f"{letter}.py": MEASURE for letter in "fedcba"})
    found = "found a.py, b.py, c.py, d.py ...; to hand in a single .py file, name the file itself"
    assert problem_of(tmp_path / "many").endswith(found)


def test_a_zip_of_windows_has_backslashes(tmp_path):
    members = [("helpers\\", b""), *((name.replace("/", "\\"), content) for name, content in HELPED.items())]
    assert find_submission(str(write_zip(tmp_path / "mine.zip", members))).files == HELPED
    for name in ("..\\x", "\\x", "a\\..\\..\\x"):
        assert "expected a path inside the zip" in problem_of(write_zip(tmp_path / "mine.zip", [(name, b"")]))


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("", "^'': no such file, directory, zip or measure; "),  # and not the current directory
        ("no-such-thing", "^no-such-thing: no such file, .* or measure; .*pgdl measures lists the measures$"),
        ("my_mesure", "did you mean 'my_measure'"),
        ("jacobian_nrom", r"did you mean 'jacobian_norm'\?$"),
        ("no/such/place/my_measure", "no such directory"),
        ("my_measure/complexity.py/complexity.py", "^my_measure/complexity.py: cannot be read: Not a directory"),
        ("notes.txt", r"^/.*/notes\.txt: not a submission: expected .*, found \.txt$"),
        ("Makefile", r"found no suffix$"),
    ],
)
def test_what_is_no_submission_is_a_wrong_argument(argument, told, tmp_path, monkeypatch):
    write_folder(tmp_path, {"my_measure/complexity.py": MEASURE, "notes.txt": b"", "Makefile": b""})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=told):
        find_submission(argument)


@pytest.mark.parametrize("name", ["num_params", "hessian_trace:folded=True,n_samples=9"])
def test_a_baseline_carries_what_it_is_made_of_and_goes_before_a_path(name, tmp_path, monkeypatch):
    write_folder(tmp_path / name, {"complexity.py": MEASURE})
    monkeypatch.chdir(tmp_path)
    notes: list[str] = []
    ((submission,), _) = find_submissions([name], note=notes.append)
    assert notes == [f"{name} means the library's measure; the path here is ./{name}"]
    measure = baselines.MEASURES[name.partition(":")[0]]
    assert (submission.name, submission.metadata.name, submission.is_baseline) == (name, name, True)
    assert (submission.problem, submission.source) == (None, "library")
    assert submission.metadata.about.description == measure.meaning
    assert f"load({name!r})" in submission.files["complexity.py"].decode()
    root = Path(baselines.__file__).parent
    folders = ("core", "network", measure.family.replace(" ", "_"))
    parts = [root / "__init__.py", *(file for part in folders for file in root.glob(f"{part}/*.py"))]
    assert set(submission.files) == {"complexity.py", *(f"baselines/{file.relative_to(root)}" for file in parts)}
    assert find_submission(f"./{name}", "mine").source == str(tmp_path / name)


def test_of_several_files_those_that_are_no_submissions_are_refused(tmp_path, monkeypatch):
    write_folder(tmp_path, {"b.py": MEASURE, "README.md": b"# Read me", "c.PY": MEASURE, "__pycache__/b.pyc": b""})
    (tmp_path / "link.py").symlink_to("b.py")
    monkeypatch.chdir(tmp_path)
    found, refused = find_submissions(["README.md", "__pycache__", "b.py", "c.PY", "link.py"])
    assert [one.name for one in found] == ["b"]
    expected = "not a submission: expected a .py file, a directory or a .zip, found"
    assert refused == [
        f"{tmp_path}/README.md: {expected} .md",
        f"{tmp_path}/c.PY: {expected} .PY; rename it in lower case",
        f"{tmp_path}/link.py: cannot be read: expected a regular file, found a symbolic link; name the file itself",
    ]
    assert find_submissions(["__pycache__"]) == ([], [f"{tmp_path}/__pycache__: {expected} no suffix"])
    with pytest.raises(UserError, match="no such file"):
        find_submissions(["b.py", "c.py"])


def name_of(path: Path) -> str:
    return find_submission(str(path)).name


def with_metadata(directory: Path, name: str) -> Path:
    text = yaml.safe_dump({"name": name}).encode()
    return write_folder(directory / "folder", {"complexity.py": MEASURE, "metadata": text})


def test_files_and_folders_give_their_name(tmp_path, monkeypatch):
    write_folder(tmp_path, {"margin.v2.py": MEASURE, "a.b/complexity.py": MEASURE})
    write_zip(tmp_path / "team-7.zip", [("complexity.py", MEASURE)])
    names = {"margin.v2.py": "margin.v2", "a.b": "a.b", "team-7.zip": "team-7", "a.b/complexity.py": "a.b"}
    for path, name in names.items():
        assert name_of(tmp_path / path) == name
    monkeypatch.chdir(tmp_path / "a.b")
    assert name_of(Path("complexity.py")) == name_of(Path()) == "a.b"


CLEANED = {
    "a|b": "a_b",
    "<b>x</b>": "_b_x__b_",
    "[red]x": "_red_x",
    "one\ntwo\tthree": "one_two_three",
    "\x1b[31mred": "__31mred",
    "../../etc": "_._.._etc",
    "  spaces  ": "spaces",
    "größe π": "gro_e _",
    "Cafe\u0301 \uff21\uff11": "Cafe A1",  # an accent of its own, and full-width characters
    "m\u0430rgin": "m_rgin",  # a Cyrillic a
    "-1+100": "_1+100",
    "=cmd()": "_cmd__",
    "__bold__": "__bold__",
    "www.evil.example": "www.evil.example",
    "x" * 100: "x" * 80,
}


def test_odd_characters_are_replaced():
    assert {name: clean(name) for name in CLEANED} == CLEANED


@given(st.text(max_size=100))
def test_every_name_is_one_printable_cell_of_a_table(written):
    name = clean(written)
    assert 1 <= len(name) <= 80
    assert name.isprintable()
    assert name.isascii()
    assert not set(name) & set("|<>[]/\\`\"'&;$")
    assert name[0] not in "-+=@. "


@pytest.mark.parametrize("name", ["vc_dim", "VC-dim", "noisy_oracle", "Noisy Oracle", "hyperparameters"])
def test_a_name_of_the_harness_own_is_refused(name, tmp_path):
    file = write_folder(tmp_path, {f"{name}.py": MEASURE}) / f"{name}.py"
    claiming = with_metadata(tmp_path, name)
    for arguments in (([str(file)],), ([str(claiming)], [name])):
        found, (line,) = find_submissions(*arguments)
        assert not found
        assert re.search(f"cannot be called '{name}': .*; rename it, or name it with --as NAME", line)
    assert find_submission(str(file), "mine").name == "mine"
    claimed = find_submission(str(claiming))
    assert (claimed.name, "expected a name of your own" in str(claimed.problem)) == ("folder", True)


def test_a_given_name_goes_before_all_others(tmp_path):
    folder = with_metadata(tmp_path, "Margin of team 7")
    assert find_submission(str(folder), "anna").name == "anna"
    assert name_of(with_metadata(tmp_path, "\x1b[31mred ")) == "__31mred"
    with pytest.raises(UserError, match="cannot be a name: expected at most 80 ASCII letters"):
        find_submission(str(folder), "größe")
    with pytest.raises(UserError, match=r"^'': cannot be a name"):  # of a variable that is not set
        find_submission(str(folder), "")


def test_names_are_given_to_paths_in_their_order(tmp_path):
    files = [str(tmp_path / student / "margin.py") for student in ("anna", "bert")]
    for file in files:
        write_folder(Path(file).parent, {"margin.py": MEASURE})
    found, _ = find_submissions([files[0], "random", files[1]], ["anna", "bert"])
    assert [submission.name for submission in found] == ["anna", "random", "bert"]
    with pytest.raises(UserError, match=r"--as: expected one for each SUBMISSION .* \(2 in all\), found 1"):
        find_submissions([*files, "random"], ["anna"])


def test_names_of_files_are_theirs_whatever_the_metadata_say(tmp_path):
    """Two participants may hand in the same file, or a file that claims the name of another participant."""
    members = [("complexity.py", MEASURE), ("metadata", b"name: bob\n")]
    files = [write_zip(tmp_path / f"{name}.zip", members) for name in ("alice", "bob")]
    folder = write_folder(tmp_path / "v1.2", dict(members))
    arguments = [*map(str, files), "vc_dim", str(folder)]
    found, _ = find_submissions(arguments, as_files=True)
    assert [one.name for one in found] == ["alice", "bob", "vc_dim", "v1.2"]


CALL = "complexity(model, dataset)"
FOUND = f"expected a function {CALL}, found"


@pytest.mark.parametrize(
    ("source", "flaw"),
    [
        ("", f"{FOUND} none"),
        ("def complexty(model, dataset):\n    return 1", f"{FOUND} complexty"),
        ("".join(f"def f{n}(): pass\n" for n in range(9)), f"{FOUND} f0, f1, f2, f3, f4, ..."),
        *(
            (f"def complexity({arguments}): return 1", f"expected {CALL}, found complexity({arguments}")
            for arguments in ("model", "model, data, labels", "model, program_dir", "program_dir, model, dataset")
        ),
        ("def mine(model): return 1\ncomplexity = mine", f"expected {CALL}, found mine(model)"),
        ("print(complexity)", "expected a function complexity"),
        ("x = 1\ndef complexity(model:\n", "line 2: "),
        ("x = 'a\0b'", "source code "),
        ("\u00ff", "expected a function complexity"),
    ],
)
def test_a_flaw(source, flaw):
    assert find_flaw(source.encode()).startswith(flaw)


@pytest.mark.parametrize(
    "source",
    [
        "def complexity(model, dataset): return 1",
        "def complexity(model, dataset, program_dir): return 1",
        "def complexity(*args): return 1",
        "def complexity(model, *, dataset=None): return 1",
        "def complexity(model, dataset, steps=3): return 1",
        "def complexity(model): return 1\ncomplexity = print",
        "def complexity(model): return 1\nglobals()['complexity'] = print",
        "@decorated\ndef complexity(model): return 1",
        "complexity = lambda model, dataset: 1",
        "def mine(model): return 1\nmine = print\ncomplexity = mine",
        "from other import complexity",
        "from other import measure as complexity",
        "from other import *",
        "if True:\n    def complexity(model, dataset): return 1",
        "exec('def complexity(model, dataset): return 1')",
        "globals()['complexity'] = print",
        "import sys\nsys.modules[__name__].__dict__['complexity'] = print",
        "class complexity: pass",
        "for complexity in []: pass",
        "(" * 5_000,  # with any message of the parser
        "x = " + "-" * 200_000 + "1",
    ],
)
def test_what_only_a_run_can_tell(source):
    flaw = find_flaw(source.encode())
    assert flaw == "" or "line 1" in flaw or "too" in flaw


@pytest.mark.rest
def test_a_source_that_takes_too_much_memory_is_left_to_the_run():
    assert find_flaw(b"complexity = [" + b"0," * 20_000_000 + b"]") == ""
