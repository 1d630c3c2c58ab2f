"""Tests of mutated files with every reader of strangers' files; `make fuzz` tries them for an hour."""

from pathlib import Path

import pytest

from tests.fuzz import bounded
from tests.fuzz.bounded import ENDED, FAILED, HANGS, READ, Bounded
from tests.fuzz.fuzzing import change_files, fuzz
from tests.fuzz.readers import READERS

pytestmark = pytest.mark.rest

#: Readings of each reader.
MANY = 12

#: Names in groups that processes of the tests share.
GROUPS = [list(READERS)[n::4] for n in range(4)]


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize("names", GROUPS, ids=range(len(GROUPS)))
def test_a_result_or_a_documented_error_comes_out(names: list[str], tmp_path: Path) -> None:
    wrong = [
        f"{name}, seed {seed}: {outcome.how}\n{outcome.text}"
        for name, seed, outcome in fuzz(names, iter(range(MANY)), tmp_path)
        if not outcome.is_right
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", READERS)
def test_samples_are_read_as_they_are(name: str, tmp_path: Path) -> None:
    READERS[name].make(tmp_path)
    READERS[name].read(tmp_path)
    assert any(path.is_file() for path in tmp_path.glob(READERS[name].changed))


def test_a_seed_decides_what_is_changed(tmp_path: Path) -> None:
    name, found = "import: table", []
    for number, seed in enumerate((1, 1, 2)):
        place = tmp_path / str(number)
        place.mkdir()
        READERS[name].make(place)
        change_files(name, place, seed)
        found.append((place / "models.csv").read_bytes())
    assert found[0] == found[1] != found[2]


def test_what_is_wrong_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad readers must be noticed: they raise, use too much memory, end their process, or never end."""
    monkeypatch.setattr(bounded, "DEADLINE_S", 5.0)
    monkeypatch.setattr(bounded, "MODULE", "tests.fuzz.wrong_readers")
    with Bounded() as process:
        for name, how, text in (
            ("right", READ, ""),
            ("raises", FAILED, "ZeroDivisionError"),
            ("takes memory", FAILED, "MemoryError"),
            ("says nothing", FAILED, "an error without a text"),
            ("ends", ENDED, "the process ended with status 3"),
            ("hangs", HANGS, "no answer in 5 s"),
            ("right", READ, ""),
        ):
            found = process.read(name, tmp_path)
            assert (found.how, text in found.text) == (how, True), found
