"""Tests of mutated files with every reader of strangers' files; `make fuzz` tries them for an hour.

As a program, it answers for faulty readers, which a test puts in place of the real readers.
"""

import itertools
import os
import threading
from pathlib import Path

import pytest

from harness.errors import UserError
from tests.fuzz import bounded
from tests.fuzz.bounded import ENDED, FAILED, HANGS, MEMORY, READ, Bounded, Reader, main
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
def test_samples_are_read_and_after_a_change_a_result_or_a_documented_error_comes_out(
    names: list[str], tmp_path: Path
) -> None:
    wrong = [
        f"{name}, seed {seed}: {outcome.how}\n{outcome.text}"
        for name, seed, outcome in fuzz(names, itertools.chain([None], range(MANY)), tmp_path)
        if not outcome.is_right or (seed is None and outcome.how != READ)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_seed_decides_what_is_changed(tmp_path: Path) -> None:
    found = []
    for number, seed in enumerate((1, 1, 2)):
        place = tmp_path / str(number)
        place.mkdir()
        READERS["import: table"].make(place)
        change_files("import: table", place, seed)
        found.append((place / "models.csv").read_bytes())
    assert found[0] == found[1] != found[2]


def _say_nothing(_directory: Path) -> None:
    raise UserError("")


#: Name -> faulty reader, how its reading ends, and a text about it.
FAULTY = {
    "right": (lambda _: None, READ, ""),
    "raises": (lambda _: 1 / 0, FAILED, "ZeroDivisionError"),
    "takes memory": (lambda _: bytearray(2 * MEMORY), FAILED, "MemoryError"),
    "says nothing": (_say_nothing, FAILED, "an error without a text"),
    "ends": (lambda _: os._exit(3), ENDED, "the process ended with status 3"),
    "hangs": (lambda _: threading.Event().wait(), HANGS, "no answer in 5 s"),
}


def test_what_is_wrong_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "DEADLINE_S", 5.0)
    monkeypatch.setattr(bounded, "MODULE", "tests.fuzz.test_fuzzed_readers")
    with Bounded() as process:
        for name in (*FAULTY, "right"):
            _, how, text = FAULTY[name]
            found = process.read(name, tmp_path)
            assert (found.how, text in found.text) == (how, True), found


if __name__ == "__main__":
    main({name: Reader(lambda _: None, read) for name, (read, _, _) in FAULTY.items()})
