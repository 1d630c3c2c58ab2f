"""The name by which a submission stands on the board."""

from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given, settings
from submission_files import MEASURE, write_folder, write_zip

from harness.errors import UserError
from harness.submission import find_submission, find_submissions, names_of_files


def name_of(path: Path) -> str:
    return find_submission(str(path)).name


def with_metadata(directory: Path, name: str) -> Path:
    text = yaml.safe_dump({"name": name}).encode()
    return write_folder(directory / "folder", {"complexity.py": MEASURE, "metadata": text})


def test_files_and_folders_give_their_name(tmp_path: Path) -> None:
    write_folder(tmp_path, {"margin.v2.py": MEASURE, "a.b/complexity.py": MEASURE})
    write_zip(tmp_path / "team-7.zip", [("complexity.py", MEASURE)])
    assert name_of(tmp_path / "margin.v2.py") == "margin.v2"
    assert name_of(tmp_path / "a.b") == "a.b"
    assert name_of(tmp_path / "team-7.zip") == "team-7"


def test_complexity_py_in_a_folder_is_named_after_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path / "margin", {"complexity.py": MEASURE})
    assert name_of(folder / "complexity.py") == "margin"
    monkeypatch.chdir(folder)
    assert name_of(Path("complexity.py")) == "margin"
    assert name_of(Path()) == "margin"


def test_the_name_in_the_metadata_wins(tmp_path: Path) -> None:
    assert name_of(with_metadata(tmp_path, "Margin of team 7")) == "Margin of team 7"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a|b", "a_b"),
        ("<b>x</b>", "_b_x__b_"),
        ("[red]x", "_red_x"),
        ("one\ntwo\tthree", "one_two_three"),
        ("\x1b[31mred", "__31mred"),
        ("../../etc", "_._.._etc"),
        ("  spaces  ", "spaces"),
        ("größe π", "gr__e _"),
        ("m\u0430rgin", "m_rgin"),  # a Cyrillic a
        ("-1+100", "_1+100"),
        ("=cmd()", "_cmd__"),
        ("__bold__", "__bold__"),
        ("www.evil.example", "www.evil.example"),
        ("x" * 100, "x" * 80),
    ],
)
def test_odd_characters_are_replaced(written: str, shown: str, tmp_path: Path) -> None:
    assert name_of(with_metadata(tmp_path, written)) == shown


@settings(deadline=None, max_examples=20)
@given(st.text(min_size=1, max_size=100))
def test_every_name_is_one_printable_cell_of_a_table(written: str) -> None:
    with TemporaryDirectory() as directory:
        name = name_of(with_metadata(Path(directory), written))
    assert 1 <= len(name) <= 80
    assert name.isprintable()
    assert name.isascii()
    assert not set(name) & set("|<>[]/\\`\"'&;$")
    assert name[0] not in "-+=@. "


RESERVED = ["vc_dim", "VC-dim", "noisy_oracle", "Noisy Oracle", "hyperparameters"]


@pytest.mark.parametrize("name", RESERVED)
def test_a_name_of_the_harness_own_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_bytes(MEASURE)
    with pytest.raises(UserError, match=f"cannot be called '{name}': .*; name it with --as NAME"):
        find_submissions([str(tmp_path / f"{name}.py")])
    with pytest.raises(UserError, match="cannot be called"):
        find_submissions([str(with_metadata(tmp_path, "mine"))], [name])
    (found,) = find_submissions([str(tmp_path / f"{name}.py")], ["mine"])
    assert found.name == "mine"


@pytest.mark.parametrize("name", RESERVED)
def test_metadata_that_claim_such_a_name_make_the_submission_invalid(name: str, tmp_path: Path) -> None:
    found = find_submission(str(with_metadata(tmp_path, name)))
    assert found.name == "folder"
    assert found.problem is not None
    assert "expected a name of your own" in found.problem


def test_a_given_name_goes_before_all_others(tmp_path: Path) -> None:
    folder = with_metadata(tmp_path, "Margin of team 7")
    assert find_submission(str(folder), "anna").name == "anna"
    with pytest.raises(UserError, match="cannot be a name: expected at most 80 ASCII letters"):
        find_submission(str(folder), "größe")
    with pytest.raises(UserError, match=r"^'': cannot be a name"):  # of a variable that is not set
        find_submission(str(folder), "")


def test_names_are_given_to_paths_in_their_order(tmp_path: Path) -> None:
    files = [str(tmp_path / student / "margin.py") for student in ("anna", "bert")]
    for file in files:
        write_folder(Path(file).parent, {"margin.py": MEASURE})
    found = find_submissions([files[0], "random", files[1]], ["anna", "bert"])
    assert [submission.name for submission in found] == ["anna", "random", "bert"]
    with pytest.raises(UserError, match=r"--as: expected one for each SUBMISSION .* \(2 in all\), found 1"):
        find_submissions([*files, "random"], ["anna"])


def test_the_source_is_the_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "margin.py").write_bytes(MEASURE)
    monkeypatch.chdir(tmp_path)
    assert find_submission("margin.py").source == str(tmp_path / "margin.py")
    assert find_submission("random").source == "library"


def test_names_of_files_are_theirs_whatever_the_metadata_say(tmp_path: Path) -> None:
    """As for the submissions of participants, two of whom hand in one file, or the name of another."""
    members = [("complexity.py", MEASURE), ("metadata", b"name: bob\n")]
    files = [write_zip(tmp_path / f"{name}.zip", members) for name in ("alice", "bob")]
    folder = write_folder(tmp_path / "v1.2", dict(members))
    arguments = [*map(str, files), "vc_dim", str(folder)]
    names = names_of_files(arguments)
    assert names == ["alice", "bob", "v1.2"]
    assert [one.name for one in find_submissions(arguments, names)] == ["alice", "bob", "vc_dim", "v1.2"]
