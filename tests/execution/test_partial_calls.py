"""Tests of conclusions about whole calls from calls on parts of the training data."""

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from harness.execution.check import try_submission
from harness.execution.order import FinishedCall, Order
from harness.execution.partial_calls import CallOnPart, CallsOnParts, _may_grow
from harness.execution.plan import plan_calls
from harness.outcome import CallResult, Outcome
from harness.task.data import TrainingData
from harness.task.selection import select_examples
from harness.task.task import Task
from tests.execution.planned_things import NOWHERE, NOWHERE_TO_RUN, SETTINGS, Answering, make_submission, make_task

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def partial(*parts: tuple[int, float], stopped_s: float = 0.0, last: Outcome = Outcome.OK) -> CallsOnParts:
    """Return calls on parts of 50,000 examples: (number of examples, seconds); the last call has the outcome `last`."""
    (call, *_) = plan_calls([make_submission()], [make_task(1)], SETTINGS, NOWHERE_TO_RUN)
    outcomes = [Outcome.OK] * (len(parts) - 1) + [last]
    results = [CallResult(outcome, call_wall_s=wall) for outcome, (_, wall) in zip(outcomes, parts, strict=True)]
    done = [FinishedCall(call, result, NOW, {}, "bubblewrap/fast") for result in results]
    return CallsOnParts(tuple(CallOnPart(n, one) for (n, _), one in zip(parts, done, strict=True)), 50_000, stopped_s)


def test_seconds_of_a_whole_call() -> None:
    growing, steady = [(128, 2.0), (512, 3.0), (2048, 7.0)], [(128, 2.0), (512, 7.0), (2048, 6.9)]
    for case, parts, stopped_s, least, most in (
        ("growing as from the last part but one", growing, 25.0, 25.0, 7.0 + (50_000 - 2048) * 4.0 / 1536),
        ("growing no more", steady, 0.0, 6.9, 6.9),
        ("stopped later", steady, 25.0, 25.0, 25.0),
        ("one part grows with examples", [(128, 4.0)], 0.0, 4.0, 4.0 * 50_000 / 128),
    ):
        assert partial(*parts, stopped_s=stopped_s).seconds == pytest.approx((least, most)), case


def test_what_more_examples_or_more_time_could_change_is_not_known() -> None:
    """A part that took too long tells nothing but the one before; the largest part tells why no call ended well."""
    unknown = {one for one in Outcome if partial((32, 1.0), last=one).is_unknown}
    assert unknown == {Outcome.TIMEOUT, Outcome.EXCEPTION, Outcome.BAD_VALUE, Outcome.CRASH}
    found = partial((128, 2.0), (512, 12.0), last=Outcome.TIMEOUT)
    assert (found.last.n_examples, found.is_unknown) == (128, False)
    small, large = (partial((number, 1.0), last=Outcome.EXCEPTION).parts[0] for number in (32, 128))
    assert CallsOnParts((small, large), 50_000).last is large


@pytest.mark.parametrize(
    ("n_examples", "seconds", "outcome", "grows"),
    [
        (128, 3.0, Outcome.OK, True), (128, 3.1, Outcome.OK, False), (12_500, 1.0, Outcome.OK, True),
        (12_501, 1.0, Outcome.OK, False), (128, 1.0, Outcome.EXCEPTION, True), (512, 1.0, Outcome.EXCEPTION, False),
        (128, 1.0, Outcome.TIMEOUT, False),
    ],
)  # fmt: skip
def test_a_part_grows_fourfold_if_12_seconds_and_the_examples_suffice(n_examples, seconds, outcome, grows) -> None:
    part = partial((n_examples, seconds), last=outcome).parts[0]
    assert _may_grow(part, SimpleNamespace(data=SimpleNamespace(n_samples=50_000))) is grows


def test_a_part_has_examples_at_even_distances_and_a_digest_of_its_own(tmp_path) -> None:
    np.save(tmp_path / "inputs.npy", np.arange(100, dtype=np.float32).reshape(100, 1))
    np.save(tmp_path / "labels.npy", np.repeat(np.arange(4), 25).astype(np.int32))
    task = Task("toy", (), TrainingData(NOWHERE, tmp_path, "data"), reference=None)
    part, other = select_examples(task, 12).data, select_examples(task, 13).data
    (tmp_path / "staged").mkdir()
    part.write_canonical(tmp_path / "staged")
    inputs, labels = (np.load(tmp_path / "staged" / name) for name in ("inputs.npy", "labels.npy"))
    assert inputs[:, 0].tolist() == [0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99]
    assert np.bincount(labels).tolist() == [3, 3, 3, 3]
    assert (part.n_samples, len({task.data.digest, part.digest, other.digest})) == (12, 3)


class Scripted(Answering):
    """An executor that answers the first calls with these outcomes, and later calls with OK, each after 1 s."""

    def __init__(self, *outcomes: Outcome) -> None:
        super().__init__()
        self.outcomes = list(outcomes)

    def answer(self, order: Order) -> CallResult:
        outcome = self.outcomes.pop(0) if self.outcomes else Outcome.OK
        return CallResult(outcome, 1.0 if outcome is Outcome.OK else None, call_wall_s=1.0)


@pytest.mark.parametrize("outcomes", [(Outcome.TIMEOUT, Outcome.OK), (Outcome.OK, Outcome.TIMEOUT)])
def test_if_only_one_of_the_first_two_calls_ends_in_time_both_give_way_to_parts(outcomes, tmp_path) -> None:
    np.save(tmp_path / "inputs.npy", np.zeros((200, 3), np.float32))
    np.save(tmp_path / "labels.npy", np.zeros(200, np.int32))
    task = Task("toy", make_task(2).models, TrainingData(NOWHERE, tmp_path, "data"), reference=None)
    trial = try_submission(make_submission(), [task], SETTINGS, Scripted(*outcomes), None, patience_s=25.0)
    assert (trial.passed, trial.repeatable, len(trial.done)) == (True, True, 2)
    assert set(trial.partial) == {("toy", "model_0"), ("toy", "model_1")}
