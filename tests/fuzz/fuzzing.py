"""Changes the files of a reader's sample at random, and lets the reader read them."""

import random
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.fuzz.bounded import Bounded, Outcome
from tests.fuzz.form_changes import mutated
from tests.fuzz.readers import READERS


def fuzz(
    names: list[str], seeds: Iterable[int | None], scratch: Path, kept: Path | None = None
) -> Iterator[tuple[str, int | None, Outcome]]:
    """Yield reader, seed and outcome of each reading; with each seed, each reader reads once.

    Args:
        names: names of the readers.
        seeds: each seed decides which file is changed, and how; with None, none is changed.
        scratch: an empty directory.
        kept: where the files of wrong readings are kept, in a directory SEED-READER.
    """
    for name in names:
        (scratch / _folder(name)).mkdir()
        READERS[name].make(scratch / _folder(name))
        assert any(path.is_file() for path in (scratch / _folder(name)).glob(READERS[name].changed)), name
    with Bounded() as bounded:
        for seed in seeds:
            for name in names:
                place = scratch / "mutated"
                shutil.copytree(scratch / _folder(name), place)
                if seed is not None:
                    change_files(name, place, seed)
                outcome = bounded.read(name, place)
                if kept is not None and not outcome.is_right:
                    shutil.copytree(place, kept / f"{seed}-{_folder(name)}", dirs_exist_ok=True)
                shutil.rmtree(place)
                yield name, seed, outcome


def change_files(name: str, directory: Path, seed: int) -> None:
    chance = random.Random(f"{seed} {name}")
    files = sorted(path for path in directory.glob(READERS[name].changed) if path.is_file())
    for file in chance.sample(files, min(len(files), chance.choice((1, 1, 1, 2)))):
        form = (file.suffix or file.name).removeprefix(".")
        file.write_bytes(mutated(file.read_bytes(), form, chance))


def _folder(name: str) -> str:
    return "".join(character if character.isalnum() else "_" for character in name)
