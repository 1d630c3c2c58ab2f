"""Tests of plans: the identity of calls, their order, and baselines that share a sandbox on one model."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, Nowhere, make_model, make_submission, make_task

import harness
from harness.errors import UserError
from harness.execution import settings
from harness.execution.batches import make_batches, modules, write_batch
from harness.execution.budget import TimeBudget
from harness.execution.executor import Executor
from harness.execution.order import Order
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings, loader_digest
from harness.sandbox.job import GIB, Limits
from harness.submission import Submission
from harness.submission.submission import Metadata
from harness.task.task import Task
from harness.worker.runtimes import RUNTIMES

ONE = make_task([make_model("model_0")])


def only_call(
    submission: Submission | None = None,
    task: Task = ONE,
    settings: RunSettings = SETTINGS,
    executor: Executor = NOWHERE_TO_RUN,
) -> PlannedCall:
    (call,) = plan_calls([submission or make_submission()], [task], settings, executor)
    return call


#: What differs from the usual call -> a call.
OTHER_CALLS = {
    "submission": only_call(make_submission(content=b"2")),
    "model": only_call(task=make_task([make_model("model_0", "retrained")])),
    "data": only_call(task=make_task([make_model("model_0")], data="more data")),
    "time limit": only_call(settings=replace(SETTINGS, time_limit_s=300.5)),
    "time budget": only_call(settings=replace(SETTINGS, time_budget=TimeBudget.AVERAGE)),
    "memory limit": only_call(settings=replace(SETTINGS, limits=Limits(memory_bytes=2 * GIB))),
    "seed": only_call(settings=replace(SETTINGS, seed=1)),
    "runtime of the user": only_call(settings=replace(SETTINGS, runtime="keras2")),
    "runtime of the submission": only_call(make_submission(runtime="keras2")),
    "sandbox": only_call(executor=Nowhere("none")),
}


def test_another_call_has_another_key_and_what_a_measure_sees_decides_about_the_seed() -> None:
    usual = only_call()
    assert [name for name, other in OTHER_CALLS.items() if other.key == usual.key] == []
    differing = {"seed", "submission", "model"}
    assert len({usual.seed, *(OTHER_CALLS[name].seed for name in differing)}) == 4
    faster = replace(SETTINGS, time_limit_s=1.0, limits=Limits(memory_bytes=GIB))
    assert only_call(settings=faster).seed == usual.seed, "limits change no number"


def test_the_same_call_keeps_its_key_in_one_version_of_the_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    assert only_call().key == only_call().key
    assert only_call(settings=replace(SETTINGS, runtime="tensorflow")).key == only_call().key, "the default"
    other_limits = Limits(memory_bytes=4 * GIB, processes=7, startup_s=1.0)
    assert (before := only_call(settings=replace(SETTINGS, limits=other_limits)).key) == only_call().key
    monkeypatch.setattr(harness, "__version__", "0.2.0")
    assert only_call().key != before


def test_a_call_is_the_same_in_whatever_company_and_submissions_and_tasks_keep_their_order() -> None:
    submissions, tasks = [make_submission("x", b"x"), make_submission()], [make_task(6, "z"), make_task(6)]
    everything = plan_calls(submissions, tasks, SETTINGS, NOWHERE_TO_RUN)
    alone = {(c.key, c.seed) for c in plan_calls([make_submission()], [make_task(6)], SETTINGS, NOWHERE_TO_RUN)}
    assert {(c.key, c.seed) for c in everything[-6:]} == alone
    assert len({call.key for call in everything}) == len(everything) == 24
    expected = [("x", "z"), ("x", "toy"), ("margin", "z"), ("margin", "toy")]
    assert [(c.submission.name, c.task.name) for c in everything] == [one for one in expected for _ in range(6)]


def test_the_user_decides_about_the_runtime_before_the_submission() -> None:
    for user, submission, expected in (
        (None, None, "tensorflow"), (None, "torch", "torch"), ("jax", "torch", "jax"), ("keras2", None, "keras2"),
        ("tensorflow", "keras2", "tensorflow"),
    ):  # fmt: skip
        call = only_call(make_submission(runtime=submission), settings=replace(SETTINGS, runtime=user))
        assert call.runtime == expected, (user, submission)
    problem = (
        "--runtime torch: a is a measure of the library, which needs tensorflow; name only submissions that are files"
    )
    with pytest.raises(UserError, match=problem):
        only_call(baseline("a"), settings=replace(SETTINGS, runtime="torch"))


def test_every_model_has_a_seed_of_its_own() -> None:
    calls = plan_calls([make_submission(), make_submission("x", b"x")], [make_task(50)], SETTINGS, NOWHERE_TO_RUN)
    assert len({call.seed for call in calls}) == 100
    assert all(0 <= call.seed < 2**32 for call in calls), "what NumPy takes"


@pytest.mark.parametrize("repeat", [0, 1])
def test_the_seed_tells_nothing_that_a_call_is_not_shown(repeat: int) -> None:
    """Otherwise a submission could use the seed to test guesses about a model's files."""
    shown = [make_model("model_0", "trained with dropout", "weights"), make_model("model_7", "without", "weights")]
    tasks = [make_task([model], name) for model, name in zip(shown, ("a", "b"), strict=True)]
    calls = plan_calls([make_submission()], tasks, SETTINGS, NOWHERE_TO_RUN, repeat)
    first, second = (call for call in calls if call.repeat == repeat)
    assert first.seed == second.seed
    assert first.key != second.key


def test_the_order_of_models_is_drawn_anew_for_every_submission_and_run() -> None:
    def order(content: bytes) -> tuple[str, ...]:
        calls = plan_calls([make_submission(content=content)], [task], SETTINGS, NOWHERE_TO_RUN)
        return tuple(call.model.digest for call in calls)

    task = make_task(20)
    orders = {tuple(model.digest for model in task.models), order(b"1"), order(b"1"), order(b"2")}
    assert (len(orders), len({tuple(sorted(found)) for found in orders})) == (4, 1)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the harness, whose files decide the loader's digest."""
    copy = tmp_path / "harness"
    for folder in ("worker", "format", "sandbox"):
        shutil.copytree(Path(settings.__file__).parents[1] / folder, copy / folder)
    monkeypatch.setattr(settings, "_HARNESS", copy)
    loader_digest.cache_clear()
    yield copy
    loader_digest.cache_clear()


def edit(file: Path) -> None:
    file.write_text(file.read_text() + "\nANOTHER = 1\n")
    loader_digest.cache_clear()


def test_every_key_changes_with_what_loads_and_calls_but_not_with_what_only_isolates(copied: Path) -> None:
    files = ("worker/runtimes/runtime.py", "worker/main.py", "format/layers.py", "sandbox/staging.py")
    keys = [only_call().key]
    for file in files:
        edit(copied / file)
        keys.append(only_call().key)
        assert keys[-1] not in keys[:-1], file
    edit(copied / "sandbox" / "seccomp.py")
    assert only_call().key == keys[-1]


def test_a_runtime_depends_on_no_other(copied: Path) -> None:
    before = {name: loader_digest(name) for name in RUNTIMES}
    assert len(set(before.values())) == len(RUNTIMES)
    edit(copied / "worker" / "runtimes" / "torch.py")
    assert [name for name in RUNTIMES if loader_digest(name) != before[name]] == ["torch"]
    edit(copied / "worker" / "runtimes" / "tensorflow.py")
    changed = {name for name in RUNTIMES if loader_digest(name) != before[name]}
    assert changed == {"torch", "tensorflow", "keras2"}, "Keras 2 is built on TensorFlow"


FILES: dict[str, Any] = {}


def submission(name: str, **more: Any) -> Submission:
    made = replace(make_submission(name, name.encode()), **more)
    FILES[made.digest] = made.files
    return made


def baseline(name: str, **more: Any) -> Submission:
    return submission(name, is_baseline=True, **more)


def plan(*submissions: Submission, models: int = 1) -> list[Order]:
    calls = plan_calls(submissions, [make_task(models)], SETTINGS, NOWHERE_TO_RUN)
    return [call.order(number) for number, call in enumerate(calls)]


def names(orders: list[Order]) -> list[list[str]]:
    """Return the names of the submissions of each batch, which are the text of their files."""
    return [[FILES[one.submission]["complexity.py"].decode() for one in batch] for batch in make_batches(orders)]


def test_baselines_share_a_sandbox_on_each_model_and_a_participants_submission_is_alone() -> None:
    orders = plan(baseline("a"), submission("theirs"), baseline("b"), submission("others"), models=3)
    assert sorted(names(orders)) == sorted([["a", "b"], ["theirs"], ["others"]] * 3)
    assert all(len({order.model for order in batch}) == 1 for batch in make_batches(orders))
    assert names(plan(baseline("a")) * 2) == [["a"], ["a"]], "a call that is made twice is made in two sandboxes"
    assert names(plan(baseline("a"), baseline("b", metadata=Metadata(runtime="keras2")))) == [["a"], ["b"]]


def test_measures_that_are_made_of_other_files_share_a_sandbox_with_all_of_them(tmp_path: Path) -> None:
    one, other = (
        baseline(name, files={"complexity.py": name.encode(), f"baselines/{name}/it.py": b"", "common.py": b""})
        for name in "ab"
    )
    [batch] = make_batches(plan(one, other))
    write_batch(batch, FILES.__getitem__, tmp_path)
    own = [(tmp_path / f"{modules(batch)[order.number]}.py").read_bytes() for order in batch]
    assert own == [b"a", b"b"]
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")} - {"complexity.py"}
    assert found == {"baseline_0.py", "baseline_1.py", "baselines/a/it.py", "baselines/b/it.py", "common.py"}


def test_only_a_participants_module_is_called_complexity() -> None:
    """Only in modules of this name does the worker restore names of NumPy and Python from 2020."""
    orders = plan(baseline("a"), submission("theirs"))
    found = [modules(batch)[batch[0].number] for batch in make_batches(orders)]
    assert dict(zip(map(tuple, names(orders)), found, strict=True)) == {("a",): "baseline_0", ("theirs",): "complexity"}
