"""Tests of plans: the identity of calls, their order, and baselines that share a sandbox on one model."""

from dataclasses import replace

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, Nowhere, make_model, make_submission, make_task

import harness
from harness.execution.batches import make_batches, modules, write_batch
from harness.execution.budget import TimeBudget
from harness.execution.executor import Executor
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings
from harness.sandbox.job import GIB, Limits
from harness.submission import Submission
from harness.submission.submission import Metadata
from harness.task.task import Task

ONE = make_task([make_model("model_0")])


def only_call(
    submission: Submission | None = None,
    task: Task = ONE,
    settings: RunSettings = SETTINGS,
    executor: Executor = NOWHERE_TO_RUN,
) -> PlannedCall:
    (call,) = plan_calls([submission or make_submission()], [task], settings, executor)
    return call


def order(submission: Submission, task: Task, settings: RunSettings = SETTINGS) -> list[str]:
    """Return the digests of the models in the order of the calls."""
    return [call.model.digest for call in plan_calls([submission], [task], settings, NOWHERE_TO_RUN)]


@pytest.mark.parametrize(
    "other",
    [
        only_call(make_submission(content=b"2")),
        only_call(task=make_task([make_model("model_0", "retrained")])),
        only_call(task=make_task([make_model("model_0")], data="more data")),
        only_call(settings=replace(SETTINGS, time_limit_s=300.5)),
        only_call(settings=replace(SETTINGS, time_budget=TimeBudget.AVERAGE)),
        only_call(settings=replace(SETTINGS, limits=Limits(memory_bytes=2 * GIB))),
        only_call(settings=replace(SETTINGS, seed=1)),
        only_call(settings=replace(SETTINGS, runtime="keras2")),
        only_call(make_submission(runtime="keras2")),
        only_call(executor=Nowhere("none")),
    ],
    ids=[
        "submission", "model", "data", "time limit", "time budget", "memory limit", "seed", "runtime of the user",
        "runtime of the submission", "sandbox",
    ],
)  # fmt: skip
def test_another_call_has_another_key(other: PlannedCall) -> None:
    assert other.key != only_call().key


def test_the_same_call_keeps_its_key_in_one_version_of_the_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    assert only_call().key == only_call().key
    assert only_call(settings=replace(SETTINGS, runtime="tensorflow")).key == only_call().key, "the default"
    other_limits = Limits(memory_bytes=4 * GIB, processes=7, startup_s=1.0)
    assert (before := only_call(settings=replace(SETTINGS, limits=other_limits)).key) == only_call().key
    monkeypatch.setattr(harness, "__version__", "0.2.0")
    assert only_call().key != before


def test_a_call_is_the_same_in_whatever_company() -> None:
    tasks = [make_task(6, "other"), make_task(6)]
    everything = plan_calls([make_submission("x", b"x"), make_submission()], tasks, SETTINGS, NOWHERE_TO_RUN)
    alone = {
        (call.key, call.seed) for call in plan_calls([make_submission()], [make_task(6)], SETTINGS, NOWHERE_TO_RUN)
    }
    chosen = {(c.key, c.seed) for c in everything if c.submission.name == "margin" and c.task.name == "toy"}
    assert chosen == alone
    assert len({call.key for call in everything}) == len(everything) == 24


def test_submissions_and_tasks_keep_their_order() -> None:
    submissions = [make_submission("b", b"b"), make_submission("a", b"a")]
    calls = plan_calls(submissions, [make_task(2, "z"), make_task(2, "y")], SETTINGS, NOWHERE_TO_RUN)
    assert [(call.submission.name, call.task.name) for call in calls] == [
        place for place in [("b", "z"), ("b", "y"), ("a", "z"), ("a", "y")] for _ in range(2)
    ]


@pytest.mark.parametrize(
    ("user", "submission", "expected"),
    [
        (None, None, "tensorflow"), (None, "torch", "torch"), ("jax", "torch", "jax"), ("keras2", None, "keras2"),
        ("tensorflow", "keras2", "tensorflow"),
    ],
)  # fmt: skip
def test_the_user_decides_about_the_runtime_before_the_submission(
    user: str | None, submission: str | None, expected: str
) -> None:
    call = only_call(make_submission(runtime=submission), settings=replace(SETTINGS, runtime=user))
    assert call.runtime == expected


def test_every_model_has_a_seed_of_its_own() -> None:
    calls = plan_calls([make_submission(), make_submission("x", b"x")], [make_task(50)], SETTINGS, NOWHERE_TO_RUN)
    assert len({call.seed for call in calls}) == 100
    assert all(0 <= call.seed < 2**32 for call in calls), "what NumPy takes"


def test_the_seed_depends_on_the_run_the_submission_and_the_model() -> None:
    others = [
        only_call(settings=replace(SETTINGS, seed=1)),
        only_call(make_submission(content=b"2")),
        only_call(task=make_task([make_model("model_0", "retrained")])),
    ]
    assert len({only_call().seed, *(call.seed for call in others)}) == 4
    faster = replace(SETTINGS, time_limit_s=1.0, limits=Limits(memory_bytes=GIB))
    assert only_call(settings=faster).seed == only_call().seed, "limits change no number"


def test_the_seed_tells_nothing_that_a_call_is_not_shown() -> None:
    """Otherwise a submission could use the seed to test guesses about a model's files."""
    shown = [make_model("model_0", "trained with dropout", "weights"), make_model("model_7", "without", "weights")]
    first, second = (only_call(task=make_task([model], name)) for model, name in zip(shown, ("a", "b"), strict=True))
    assert first.seed == second.seed
    assert first.key != second.key


def test_the_order_of_models_is_drawn_anew_for_every_submission_and_run() -> None:
    task = make_task(20)
    in_order = [model.digest for model in task.models]
    orders = [
        order(make_submission(), task),
        order(make_submission(), task),
        order(make_submission(content=b"2"), task),
    ]
    assert all(sorted(found) == sorted(in_order) for found in orders)
    assert len({tuple(found) for found in [in_order, *orders]}) == 4


FILES = {}


def submission(name, **more):
    made = replace(make_submission(name, name.encode()), **more)
    FILES[made.digest] = made.files
    return made


def baseline(name, **more):
    return submission(name, is_baseline=True, **more)


def plan(*submissions, models=3):
    calls = plan_calls(submissions, [make_task(models)], SETTINGS, NOWHERE_TO_RUN)
    return [call.order(number) for number, call in enumerate(calls)]


def names(batch):
    """Return the names of a batch's submissions, which are the text of their files."""
    return [FILES[order.submission]["complexity.py"].decode() for order in batch]


def test_baselines_share_a_sandbox_on_each_model_and_a_participants_submission_is_alone():
    batches = make_batches(plan(baseline("a"), submission("theirs"), baseline("b"), submission("others")))
    assert sorted(map(names, batches)) == sorted([["a", "b"], ["theirs"], ["others"]] * 3)
    assert all(len({order.model for order in batch}) == 1 for batch in batches)


def test_a_call_that_is_made_twice_is_made_in_two_sandboxes():
    calls = plan(baseline("a"), models=1)
    assert [names(batch) for batch in make_batches([*calls, *calls])] == [["a"], ["a"]]


def test_baselines_with_another_keras_are_apart():
    other = baseline("b", metadata=Metadata(runtime="keras2"))
    assert [names(batch) for batch in make_batches(plan(baseline("a"), other, models=1))] == [["a"], ["b"]]


def test_measures_that_are_made_of_other_files_share_a_sandbox_with_all_of_them(tmp_path):
    one, other = (
        baseline(name, files={"complexity.py": name.encode(), f"baselines/{name}/it.py": b"", "common.py": b""})
        for name in "ab"
    )
    [batch] = make_batches(plan(one, other, models=1))
    write_batch(batch, FILES.__getitem__, tmp_path)
    own = [(tmp_path / f"{modules(batch)[order.number]}.py").read_bytes() for order in batch]
    assert own == [b"a", b"b"]
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")} - {"complexity.py"}
    assert found == {"baseline_0.py", "baseline_1.py", "baselines/a/it.py", "baselines/b/it.py", "common.py"}


def test_only_a_participants_module_is_called_complexity():
    """Only in modules of this name does the worker restore names of NumPy and Python from 2020."""
    batches = make_batches(plan(baseline("a"), submission("theirs"), models=1))
    found = {names(batch)[0]: modules(batch)[batch[0].number] for batch in batches}
    assert found == {"a": "baseline_0", "theirs": "complexity"}
