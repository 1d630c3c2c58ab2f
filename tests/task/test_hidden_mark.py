"""A file `metadata` marks a task as hidden; what it says is read to the letter."""

import pytest
from throwaway import make_task

from harness.errors import UserError
from harness.task.layout import TaskDirectory, hidden_names
from harness.task.task import read_tasks


@pytest.mark.parametrize("layout", ["flat", "full"])
@pytest.mark.parametrize("reference", [True, False])
def test_a_marked_task_is_hidden_with_or_without_reference_data(tmp_path, layout, reference):
    make_task(tmp_path, layout=layout, hidden=True, reference=reference)
    make_task(tmp_path, layout=layout, name="public")
    assert {task.name: task.hidden for task in read_tasks(TaskDirectory(tmp_path).runnable())} == {
        "public": False,
        "tiny": True,
    }
    assert hidden_names(TaskDirectory(tmp_path).all()) == {"tiny"}


@pytest.mark.parametrize("place", ["input_data", "input_data/tiny", "reference_data", "reference_data/tiny"])
def test_it_is_hidden_wherever_one_looks_from(tmp_path, place):
    make_task(tmp_path, layout="full", hidden=True)
    assert hidden_names(TaskDirectory(tmp_path / place).all()) == {"tiny"}


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml", "metadata.yml"])
def test_no_ending_unmarks_a_task(tmp_path, name):
    task = make_task(tmp_path)
    (task / name).write_text("hidden: true")
    assert hidden_names(TaskDirectory(tmp_path).runnable()) == {"tiny"}


def test_one_mark_is_enough(tmp_path):
    task = make_task(tmp_path, layout="full", hidden=True)
    (task / "metadata").write_text("hidden: false")
    assert hidden_names(TaskDirectory(tmp_path).runnable()) == {"tiny"}


def test_every_command_says_so(tmp_path, pgdl):
    make_task(tmp_path, hidden=True)
    validated = pgdl("task", "validate", tmp_path).lines
    assert validated == ["tiny: 8 models, hidden: valid"]
    assert pgdl("task", "list", tmp_path).lines[1].split()[:2] == ["tiny", "yes"]
    assert pgdl("task", "show", tmp_path).out.startswith("tiny (flat, hidden, ")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "not a mark: expected one line, `hidden: true` or `hidden: false`, found nothing"),
        ("hidden", "not a mark: expected one line, `hidden: true` or `hidden: false`, found text"),
        ("- hidden: true", "not a mark: expected one line"),
        ("hiden: true", "keys: expected hidden, once, found 'hiden'"),
        ("{}", "keys: expected hidden, once, found nothing"),
        ("hidden: true\nname: x", "keys: expected hidden, once, found 'hidden, name'"),
        ("hidden: true\nhidden: false", "keys: expected hidden, once, found 'hidden, hidden'"),
        ("hidden: 1", "hidden: expected true or false, found '1'"),
        ("hidden: 'true'", "hidden: expected true or false, found 'true'"),
        ("hidden:", "hidden: expected true or false, found ''"),
        ("hidden: !!bool maybe", "hidden: expected true or false, found 'maybe'"),
        ("hidden: !!timestamp x", "hidden: expected true or false, found 'x'"),
        ("? [hidden]\n: true", "keys: expected hidden, once, found 'a list'"),
        ("hidden: [", "not YAML: expected one line"),
        ("hidden: true #" + 70_000 * "x", "too large: expected at most 65536 bytes, found 70014 bytes"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(tmp_path, refused, content, problem):
    task = make_task(tmp_path)
    (task / "metadata").write_text(content)
    refused(task, "metadata", problem)
    with pytest.raises(UserError):
        hidden_names(TaskDirectory(tmp_path).runnable())


def test_a_mark_that_is_no_file_is_refused(tmp_path, refused):
    task = make_task(tmp_path)
    (task / "metadata").symlink_to("nowhere")
    refused(task, "metadata", "cannot be read: found No such file or directory")


def test_the_mark_of_reference_data_without_models_is_checked_too(tmp_path, pgdl):
    make_task(tmp_path, layout="full", hidden=True)
    assert pgdl("task", "validate", tmp_path / "reference_data").lines == [
        "tiny: reference data of 8 models, no models to run, hidden: valid"
    ]
    (tmp_path / "reference_data/tiny/metadata").write_text("hidden: maybe")
    outcome = pgdl("task", "validate", tmp_path / "reference_data")
    assert (outcome.code, outcome.lines[1]) == (2, "tiny: 1 problem: invalid")


def test_a_mark_out_of_reach_does_not_pass_for_none(tmp_path, pgdl):
    make_task(tmp_path, layout="full", reference=False)
    (tmp_path / "reference_data").mkdir()
    (tmp_path / "reference_data/tiny").symlink_to("tiny")  # leads to itself
    outcome = pgdl("task", "list", tmp_path)
    assert outcome.code == 2
    assert "reference_data/tiny/metadata: cannot tell whether the task is hidden" in outcome.err
