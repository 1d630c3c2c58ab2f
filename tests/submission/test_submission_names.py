"""The name by which a submission stands on the board."""

from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given, settings
from submission_files import MEASURE, write_folder, write_zip

from harness.submission import find_submission


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
        ("../../etc", ".._.._etc"),
        ("  spaces  ", "spaces"),
        ("größe π", "größe π"),
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
    assert not set(name) & set("|<>[]/\\`\"'&;$")
