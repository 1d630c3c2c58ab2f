"""Only the harness' own baselines share a sandbox, and only on one model."""

from dataclasses import replace

from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

from harness.execution.batches import make_batches, modules, write_batch
from harness.execution.plan import plan_calls
from harness.submission.submission import Metadata

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
    """Digests of submissions do not tell names; the files do, here."""
    return [FILES[order.submission]["complexity.py"].decode() for order in batch]


def test_baselines_share_a_sandbox_on_each_model():
    batches = make_batches(plan(baseline("a"), baseline("b"), baseline("c")))
    assert [names(batch) for batch in batches] == [["a", "b", "c"]] * 3
    assert all(len({order.model for order in batch}) == 1 for batch in batches)


def test_a_participants_submission_is_alone():
    batches = make_batches(plan(baseline("a"), submission("theirs"), baseline("b"), submission("others")))
    assert sorted(map(names, batches)) == sorted([["a", "b"], ["theirs"], ["others"]] * 3)


def test_a_call_that_is_made_twice_is_made_in_two_sandboxes():
    calls = plan(baseline("a"), models=1)
    assert [names(batch) for batch in make_batches([*calls, *calls])] == [["a"], ["a"]]


def test_baselines_with_another_keras_are_apart():
    other = baseline("b", metadata=Metadata(runtime="keras2"))
    assert [names(batch) for batch in make_batches(plan(baseline("a"), other, models=1))] == [["a"], ["b"]]


def test_every_measure_is_a_module_of_its_own(tmp_path):
    [batch] = make_batches(plan(baseline("a"), baseline("b"), models=1))
    write_batch(batch, FILES.__getitem__, tmp_path)
    found = [(tmp_path / f"{modules(batch)[order.number]}.py").read_bytes() for order in batch]
    assert found == [b"a", b"b"]


def test_measures_that_are_made_of_other_files_share_a_sandbox_with_all_of_them(tmp_path):
    one, other = (
        baseline(name, files={"complexity.py": name.encode(), f"baselines/{name}/it.py": b"", "common.py": b""})
        for name in "ab"
    )
    [batch] = make_batches(plan(one, other, models=1))
    write_batch(batch, FILES.__getitem__, tmp_path)
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")} - {"complexity.py"}
    assert found == {"baseline_0.py", "baseline_1.py", "baselines/a/it.py", "baselines/b/it.py", "common.py"}


def test_only_a_participants_module_is_called_complexity():
    """The worker gives names of 2020 only to a module of that name."""
    batches = make_batches(plan(baseline("a"), submission("theirs"), models=1))
    found = {names(batch)[0]: modules(batch)[batch[0].number] for batch in batches}
    assert found == {"a": "baseline_0", "theirs": "complexity"}
