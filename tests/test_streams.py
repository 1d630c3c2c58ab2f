"""Tests of random streams: any two places in the project draw independent numbers, even with the same seed."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from baselines.core import streams as of_measures
from harness.corpus.datasets import with_label_noise
from scoring import streams
from scoring.streams import stream, stream_seed

ROOT = Path(__file__).parent.parent
FILES = [file for room in ("baselines", "harness", "scoring") for file in (ROOT / room).rglob("*.py")]

#: Calls that seed a generator without a purpose, and the files that may make such calls: they turn a purpose or a
#: call's seed into seeds, or repeat the draws of a published program.
BARE = re.compile(r"default_rng\(|SeedSequence\(|RandomState|random\.seed\(|set_random_seed\(|from_seed\(|PRNGKey")
MAY = {
    "baselines/consistency/winner.py", "baselines/core/streams.py", "harness/api/library.py",
    "harness/corpus/augmentation.py", "harness/corpus/trainer.py", "harness/worker/runtimes/runtime.py",
    "scoring/streams.py",
}  # fmt: skip

#: Number of draws per stream, and largest accepted correlation of independent streams: five standard deviations.
N, INDEPENDENT = 4000, 5 / 4000**0.5


@pytest.fixture(scope="module")
def purposes() -> list[str]:
    """Return the purposes in all calls of `stream` and `stream_seed` in the program, with repetitions."""
    found = []
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("stream", "stream_seed"):
                assert isinstance(node.args[0], ast.Constant), f"{file}: a purpose is a plain text"
                found.append(node.args[0].value)
    return found


def correlation(*draws: np.ndarray) -> float:
    """Return the largest absolute correlation of any two of these draws."""
    return float(np.abs(np.triu(np.corrcoef(draws), 1)).max())


def test_every_purpose_is_at_one_place_and_nothing_draws_without_a_purpose(purposes: list[str]) -> None:
    assert len(purposes) > 30
    assert sorted(purposes) == sorted(set(purposes))
    assert {str(file.relative_to(ROOT)) for file in FILES if BARE.search(file.read_text())} == MAY
    stateless = [file for file in (ROOT / "baselines").rglob("*.py") if "tf.random." in file.read_text()]
    assert stateless
    assert [file.name for file in stateless if "stream_seed(" not in file.read_text()] == []


@pytest.mark.parametrize("seed", [0, 2020])
def test_streams_with_the_same_seed_are_independent(seed: int, purposes: list[str]) -> None:
    orders = [stream(purpose, seed).permutation(N) for purpose in purposes]
    numbers = [stream(purpose, seed).standard_normal(N) for purpose in purposes]
    others = [np.random.default_rng(stream_seed(purpose, seed)).standard_normal(N) for purpose in purposes]
    assert correlation(*orders) < INDEPENDENT
    assert correlation(*numbers, *others) < INDEPENDENT


@pytest.mark.parametrize(("one", "other"), [((0, 1), (1, 0)), ((0,), (0, 0)), ((1, 11), (11, 1)), ((1,), ("1",))])
def test_seeds_are_not_mistaken_for_each_other(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert correlation(stream("sample", *one).random(N), stream("sample", *other).random(N)) < INDEPENDENT


def test_the_same_seeds_give_the_same_draws_also_in_measures() -> None:
    """The file streams.py exists twice, since a measure's sandbox contains nothing of `scoring`."""
    assert (stream("sample", 3).permutation(9) == stream("sample", 3).permutation(9)).all()
    assert stream_seed("sample", 3) == stream_seed("sample", 3) < 2**31
    assert Path(of_measures.__file__).read_text() == Path(streams.__file__).read_text()


def test_a_sample_has_its_share_of_wrong_labels() -> None:
    """If label noise and samples used the same permutation, a sample would begin with all wrong labels."""
    labels = np.zeros(320, np.int32)
    wrong = with_label_noise(labels, 10, 0.1, seed=0) != labels
    drawn = stream("sample", 0).permutation(320)
    assert wrong.sum() == 32
    assert wrong[drawn[:160]].sum() == pytest.approx(16, abs=3 * 2.7)  # hypergeometric: standard deviation 2.7
