"""Tests of the rules for changes of a repository: what keeps and what breaks each of them."""

from types import SimpleNamespace

import pytest

from harness.ci.report import Line
from harness.ci.rules import Rules

LINE = Line("mine", "submissions/mine.py", "new", score=5.0, calls_ok=8, calls_expected=8)
FIVE, OTHERS = [f"submissions/n{number}.py" for number in range(5)], ["tool.py"]


def change(touched=(), others=(), overwritten=(), base="b" * 40):
    return SimpleNamespace(touched=touched, others=others, overwritten=overwritten, base=base)


@pytest.mark.parametrize(
    ("rules", "kept", "broken", "said"),
    [
        (Rules(at_most=4), change(FIVE[:4]), change(FIVE), "touches 5 submissions, more than 4: none was evaluated"),
        (Rules(at_most=4), change(FIVE, base=None), change(FIVE), "more than 4"),
        (Rules(only_submissions=True), change(FIVE), change(FIVE, OTHERS), "files that belong to no submission"),
        (
            Rules(only_new=True),
            change(FIVE),
            change(overwritten=["a", "b"]),
            "overwrites submissions of the base: a, b",
        ),
        (Rules(at_most=9), change(FIVE, OTHERS, ["a"]), change(2 * FIVE), "more than 9"),
    ],
)
def test_a_change(rules, kept, broken, said):
    assert rules.broken_by_change(kept) == []
    (line,) = rules.broken_by_change(broken)
    assert said in line


@pytest.mark.parametrize(
    ("rules", "kept", "broken", "said"),
    [
        (Rules(min_score=5.0), {}, {"score": 4.99}, "mine: score 4.99, expected at least 5"),
        (Rules(min_score=0.0), {"score": 0.0}, {"score": None}, "mine: no score, expected at least 0"),
        (Rules(require_check=True), {}, {"calls_ok": 7}, "mine: 1 of 8 calls have no value"),
        (Rules(), {"calls_ok": 0}, {"machine_failed": 2}, "mine: the machine failed on 2 models; run the job again"),
        (Rules(), {"score": None}, {"change": "refused", "problem": "no function"}, "mine: no function"),
        (Rules(min_score=9), {"change": "removed"}, {}, "mine: score 5, expected at least 9"),
        (Rules(min_score=9), {"calls_ok": 0, "calls_expected": 0}, {}, "mine: score 5"),
    ],
)
def test_a_submission(rules, kept, broken, said):
    assert rules.broken_by(Line(**vars(LINE) | kept)) == []
    (line,) = rules.broken_by(Line(**vars(LINE) | broken))
    assert line.startswith(said)
