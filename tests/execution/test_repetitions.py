"""Tests of repeated calls with other seeds: same settings, separate sandboxes, and the choice of their models."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.repeated_models import choose_repeated
from harness.execution.run import make_plan
from harness.records import Records
from harness.submission import Submission
from tests.records.evaluation_rows import evaluation

#: Model and seed of the two calls on `make_task(2)`, as computed without repetitions.
SEEDS = [("model_0", 265699536), ("model_1", 741829411)]


def calls(repeats: int, models: int = 2, submission: Submission | None = None) -> list[PlannedCall]:
    chosen = submission or make_submission()
    return plan_calls([chosen], [make_task(models)], SETTINGS, NOWHERE_TO_RUN, repeats)


def test_repetitions_differ_from_the_call_that_counts_in_seed_key_and_number_alone() -> None:
    planned = sorted(calls(3), key=lambda call: (call.repeat, call.model.id))
    assert [(call.model.id, call.seed) for call in planned[:2]] == SEEDS
    assert {call.key for call in planned[:2]} == {call.key for call in calls(0)}
    for model in ("model_0", "model_1"):
        alike = [call for call in planned if call.model.id == model]
        assert [call.repeat for call in alike] == [0, 1, 2, 3]
        assert len({call.seed for call in alike}) == len({call.key for call in alike}) == 4
        plain = [replace(call, seed=0, key="", repeat=0) for call in alike]
        assert all(call == plain[0] for call in plain)
        assert len({call.configuration.id for call in alike}) == 1


def test_only_some_models_of_a_large_task_are_called_again_the_same_for_every_submission() -> None:
    planned, others = calls(2, 96), calls(2, 96, make_submission("other", b"other"))
    again = [{call.model.id for call in planned if call.repeat == repeat} for repeat in (1, 2)]
    assert len(planned) == 96 + 2 * 24
    assert again == 2 * [{call.model.id for call in others if call.repeat}]


def test_a_repetition_may_come_before_the_call_itself() -> None:
    """The position of a call must not tell a submission whether it is a repetition."""
    assert any([call.repeat for call in calls(1, 8)] != [0] * 8 + [1] * 8 for _ in range(3))


def test_more_repetitions_add_only_those_that_are_missing(tmp_path: Path) -> None:
    with Records(str(tmp_path / "results.db")) as records:

        def missing(repeats: int) -> list[PlannedCall]:
            return make_plan(calls(repeats, 10), records).missing

        for call in missing(2):
            records.add(evaluation(key=call.key, model=call.model.id, repeat=call.repeat))
        assert missing(2) == missing(0) == []
        assert Counter(call.repeat for call in missing(4)) == {3: 8, 4: 8}


#: Usual small grids, and all full grids of more than 36 models, whose hyperparameters have 2 to 5 values; the
#: hyperparameter that changes slowest comes first.
SMALL: list[tuple[int, ...]] = [(2, 2, 2, 2, 2), (4, 4, 2), (2, 4, 4), (2, 2, 2, 4), (3, 3, 3), (2, 2, 2, 2)]
GRIDS = SMALL + [
    sizes
    for length in (3, 4, 5, 6)
    for sizes in itertools.product((2, 3, 4, 5), repeat=length)
    if 36 < math.prod(sizes) <= 150
]


def starts(models: int) -> list[list[int]]:
    """Return drawn samples of model numbers: for each number, a sample that begins with it."""
    found: dict[int, list[int]] = {}
    for seed in itertools.count():
        sample = choose_repeated(range(models), seed, "toy")
        found.setdefault(sample[0], sample)
        if len(found) == models:
            return list(found.values())
    raise AssertionError


def test_a_quarter_is_repeated_at_least_8_at_most_all_and_seed_and_task_decide_where_it_starts() -> None:
    for models, repeated in ((1, 1), (5, 5), (8, 8), (9, 8), (32, 8), (33, 9), (96, 24), (500, 125)):
        for seed in range(5):
            sample = choose_repeated(range(models), seed, "toy")
            assert len(set(sample)) == len(sample) == repeated, models
            assert sample == choose_repeated(range(models), seed, "toy")
    assert len({tuple(choose_repeated(range(96), seed, task)) for seed in (0, 1) for task in ("toy", "second")}) == 4


def test_every_value_of_every_hyperparameter_is_in_it_wherever_it_starts() -> None:
    samples = {models: starts(models) for models in {math.prod(sizes) for sizes in GRIDS}}
    assert len(GRIDS) > 100
    for sizes in GRIDS:
        cells = list(itertools.product(*map(range, sizes)))
        for sample in samples[len(cells)]:
            found = [len(set(values)) for values in zip(*(cells[position] for position in sample), strict=True)]
            assert found == list(sizes), sample


def test_every_model_is_as_likely_as_any_other() -> None:
    """Otherwise the chosen models would not represent all models."""
    assert set(Counter(itertools.chain(*starts(40))).values()) == {10}
