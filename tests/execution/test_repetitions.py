"""Tests of repeated calls with other seeds: same settings, separate sandboxes, and the choice of their models."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, make_model, make_submission, make_task

from harness.execution.budget import Clocks, TimeBudget
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.repeated_models import choose_repeated
from harness.execution.run import Plan, make_plan
from harness.records import Records
from harness.submission import Submission
from tests.records.evaluation_rows import evaluation

#: Model and seed of the two calls on `make_task(2)`, as computed without repetitions.
SEEDS = [("model_0", 265699536), ("model_1", 741829411)]


def calls(repeats: int, models: int = 2, submission: Submission | None = None) -> list[PlannedCall]:
    chosen = submission or make_submission()
    return plan_calls([chosen], [make_task(models)], SETTINGS, NOWHERE_TO_RUN, repeats)


@pytest.mark.parametrize("repeats", [0, 3])
def test_the_call_that_counts_keeps_its_seed_and_key(repeats: int) -> None:
    counting = [(call.model.id, call.seed, call.key) for call in calls(repeats) if call.repeat == 0]
    assert [(model, seed) for model, seed, _ in sorted(counting)] == SEEDS
    assert sorted(counting) == sorted((call.model.id, call.seed, call.key) for call in calls(0))


def test_repetitions_differ_from_the_call_in_seed_key_and_number_alone() -> None:
    for model in ("model_0", "model_1"):
        alike = [call for call in calls(3) if call.model.id == model]
        assert sorted(call.repeat for call in alike) == [0, 1, 2, 3]
        assert len({call.seed for call in alike}) == len({call.key for call in alike}) == 4
        plain = [replace(call, seed=0, key="", repeat=0) for call in alike]
        assert all(call == plain[0] for call in plain)
        assert len({call.configuration.id for call in alike}) == 1


def test_the_seed_of_a_repetition_tells_nothing_that_a_call_is_not_shown() -> None:
    alike = [make_model("model_0", "one training", "alike"), make_model("model_1", "another training", "alike")]
    planned = plan_calls([make_submission()], [make_task(alike)], SETTINGS, NOWHERE_TO_RUN, 1)
    assert set(Counter(call.seed for call in planned).values()) == {2}


def test_only_some_models_of_a_large_task_are_called_again() -> None:
    planned = calls(2, 96)
    again = [{call.model.id for call in planned if call.repeat == repeat} for repeat in (1, 2)]
    assert len(planned) == 96 + 2 * 24
    assert again[0] == again[1]
    others = calls(2, 96, make_submission("other", b"other"))
    assert {call.model.id for call in others if call.repeat} == again[0], "the same for every submission"


def test_a_repetition_may_come_before_the_call_itself() -> None:
    """The position of a call must not tell a submission whether it is a repetition."""
    assert any([call.repeat for call in calls(1, 8)] != [0] * 8 + [1] * 8 for _ in range(3))


def record(records: Records, call: PlannedCall, **columns: object) -> None:
    records.add(evaluation(key=call.key, model=call.model.id, repeat=call.repeat, **columns))


def plan(records: Records, repeats: int) -> Plan:
    return make_plan(calls(repeats, 10), records)


def test_more_repetitions_add_only_those_that_are_missing(tmp_path: Path) -> None:
    with Records(str(tmp_path / "results.db")) as records:
        for call in plan(records, 2).missing:
            record(records, call)
        assert plan(records, 2).missing == []
        assert plan(records, 0).missing == []
        assert Counter(call.repeat for call in plan(records, 4).missing) == {3: 8, 4: 8}


def test_a_repetition_takes_nothing_from_the_budget_of_the_calls_that_count(tmp_path: Path) -> None:
    average = replace(SETTINGS, time_limit_s=10.0, time_budget=TimeBudget.AVERAGE)
    arguments = [make_submission()], [make_task(10)], average, NOWHERE_TO_RUN
    with Records(str(tmp_path / "results.db")) as records:
        for call in plan_calls(*arguments, 2):
            if call.repeat == 1:
                record(records, call, call_wall_s=12.0)
        resumed = make_plan(plan_calls(*arguments, 2), records)
    clocks, orders = Clocks(), {call.repeat: call.order(0) for call in resumed.calls}
    clocks.update(orders.values())
    left = {repeat: clocks.of(order).left() for repeat, order in orders.items()}
    assert left == {0: pytest.approx(100.0), 1: pytest.approx(100.0 - 8 * 12.0), 2: pytest.approx(100.0)}


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


@pytest.mark.parametrize(
    ("models", "repeated"), [(1, 1), (5, 5), (8, 8), (9, 8), (32, 8), (33, 9), (96, 24), (500, 125)]
)
def test_a_quarter_at_least_8_at_most_all(models: int, repeated: int) -> None:
    for seed in range(5):
        sample = choose_repeated(range(models), seed, "toy")
        assert len(set(sample)) == len(sample) == repeated


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


def test_seed_and_task_decide_where_it_starts() -> None:
    first = choose_repeated(range(96), 0, "toy")
    assert choose_repeated(range(96), 0, "toy") == first
    assert len({tuple(choose_repeated(range(96), seed, task)) for seed in (0, 1) for task in ("toy", "second")}) == 4
