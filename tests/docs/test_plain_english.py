"""Tests that the project's sentences can be understood at the first reading."""

import subprocess
from pathlib import Path

import pytest
from plain_english import points_of, sentences_of

pytestmark = pytest.mark.rest

ROOT = Path(__file__).parents[2]

#: Sentences of five points and more that stay as they are.
EXCEPTIONS: set[str] = set()


def test_no_sentence_has_to_be_read_twice() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout of git")
    files = [ROOT / name for name in listed.stdout.split() if (ROOT / name).is_file()]
    hard = [
        f"{path.relative_to(ROOT)}:{line} ({points_of(sentence)}): {sentence}"
        for path in files
        for line, sentence in sentences_of(path)
        if points_of(sentence) >= 5 and sentence not in EXCEPTIONS
    ]
    assert not hard, "rewrite these sentences:\n" + "\n".join(hard)


@pytest.mark.parametrize(
    ("hard", "plain"),
    [
        ("What it has of what it was given is what it is.", "The copy has the attributes of the original."),
        ("Of those that have none, each of them is one.", "Layers without weights are counted, too."),
    ],
)
def test_noun_clauses_and_pronouns_cost_points(hard: str, plain: str) -> None:
    assert points_of(hard) >= 5
    assert points_of(plain) == 0
