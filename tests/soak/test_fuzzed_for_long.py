"""An hour of mutated files with every reader of strangers' files: no crash, no hang, no gigabyte of memory.

Run by `make fuzz`; PGDL_FUZZ_S sets another time in seconds. Files of wrong readings are kept in build/fuzz.
"""

import itertools
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.fuzzing import fuzz
from tests.fuzz.readers import READERS

SECONDS = float(os.environ.get("PGDL_FUZZ_S", "3600"))
KEPT = Path(__file__).parents[2] / "build/fuzz"

pytestmark = pytest.mark.timeout(2 * SECONDS + 600)


def seeds() -> Iterator[int]:
    """Yield seeds from a random first seed, until the time is over."""
    end = time.monotonic() + SECONDS
    first = random.SystemRandom().randrange(10**9)
    return itertools.takewhile(lambda _: time.monotonic() < end, itertools.count(first))


def test_a_result_or_a_documented_error_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "scratch").mkdir()
    KEPT.mkdir(parents=True, exist_ok=True)
    counts, wrong = Counter[tuple[str, str]](), []
    for name, seed, outcome in fuzz(list(READERS), seeds(), tmp_path / "scratch", KEPT):
        counts[name, outcome.how] += 1
        if not outcome.is_right:
            wrong.append(f"{name}, seed {seed}: {outcome.how}\n{outcome.text}")
    with capsys.disabled():
        print(f"\n{counts.total()} readings")
        for name in READERS:
            print(f"{name:24}", *(f"{how} {count}" for (one, how), count in sorted(counts.items()) if one == name))
    assert not wrong, "\n".join(wrong)
