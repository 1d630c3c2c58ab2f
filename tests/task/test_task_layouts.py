"""Tests of layouts of tasks, of the mark of hidden tasks, and of models that have not learned."""

import json
import shutil
import statistics
import subprocess
import sys

import pytest
from throwaway import GAPS, edit_json, make_task

from harness.errors import UserError
from harness.task.layout import TaskDirectory, hidden_names
from harness.task.task import read_tasks

GAPS_OF_ALL = ["0.0500", "0.1925", "0.1750", "0.4000"]  # smallest, mean, median, largest

RESOLUTION = "8 networks cannot show more than p = 0.0625: no measure can be told from chance on this task alone"


@pytest.mark.parametrize("layout", ["flat", "full"])
def test_both_layouts_are_valid_and_the_directory_may_be_the_task_itself(tmp_path, pgdl, monkeypatch, layout):
    task = make_task(tmp_path, layout=layout)
    make_task(tmp_path, layout=layout, name="second", n_train=30)
    said = "8 models, 3 hyperparameters, {} training samples, outputs are logits: valid"
    tiny, second = ([f"{n}: {said.format(of)}", f"{n}: note: {RESOLUTION}"] for n, of in (("tiny", 24), ("second", 30)))
    outcome = pgdl("task", "validate", tmp_path)
    assert (outcome.code, outcome.lines) == (0, [*second, *tiny])
    assert pgdl("task", "validate", task).lines == tiny
    monkeypatch.chdir(task)
    assert pgdl("task", "validate", ".").lines == pgdl("task", "validate", "--tasks", ".").lines == tiny


@pytest.mark.parametrize(("layout", "places"), [("flat", [""]), ("full", ["", "input_data", "reference_data"])])
def test_a_task_is_no_model_whatever_its_name(tmp_path, layout, places):
    """`pgdl task import models.csv` makes a task of the name `models`."""
    for name in ("models", "tiny"):
        make_task(tmp_path, layout=layout, name=name)
    for place in places:
        found = TaskDirectory(tmp_path / place).all()
        assert [(task.name, task.reference is not None) for task in found] == [("models", True), ("tiny", True)]


def test_a_link_to_a_task_is_a_task_of_its_own_name(tmp_path):
    """Otherwise, one of two links to tasks of one name would take the place of the other."""
    (tmp_path / "tasks").mkdir()
    for link in ("v1", "v2"):
        (tmp_path / "tasks" / link).symlink_to(make_task(tmp_path / link))
    found = [(task.name, task.reference_only) for task in TaskDirectory(tmp_path / "tasks").tasks]
    assert found == [("v1", False), ("v2", False)]
    assert [task.name for task in TaskDirectory(tmp_path / "tasks/v1").tasks] == ["v1"]


def test_reference_data_initial_weights_and_test_shards_are_optional(tmp_path, pgdl):
    task = make_task(tmp_path, initial_weights=False)
    shutil.rmtree(task / "dataset_1/test")
    assert pgdl("task", "validate", tmp_path).code == 0
    (task / "model_configs.json").unlink()
    verdict, note = pgdl("task", "validate", tmp_path).lines
    assert verdict == "tiny: 8 models, unknown hyperparameters, 24 training samples, outputs are logits: valid"
    assert note.startswith("tiny: note: no model has weights_init.hdf5: model.initial_weights is None there")
    cells = pgdl("task", "list", tmp_path).lines[1].split()
    assert (cells[:3], cells[-1]) == (["tiny", "no", "8"], "unknown"), "it is not hidden for that"


def test_leftovers_of_archivers_and_links_that_lead_nowhere_are_ignored(tmp_path, pgdl, task):
    before = pgdl("task", "list", tmp_path).lines
    (task / "nowhere").symlink_to("missing")
    (task / "circle").symlink_to("circle")
    assert pgdl("task", "list", tmp_path).lines == before
    make_task(tmp_path / "__MACOSX")
    (tmp_path / ".hidden" / "model_0").mkdir(parents=True)
    (tmp_path / ".DS_Store").write_bytes(b"")
    (task / ".model_8").mkdir()
    (task / "dataset_1/train/._shard_0.tfrecord").write_bytes(b"")
    assert len(pgdl("task", "validate", tmp_path).lines) == 2


def test_reference_data_without_models_is_checked_but_not_a_task(tmp_path, pgdl):
    make_task(tmp_path, layout="full")
    shutil.copytree(tmp_path / "reference_data/tiny", tmp_path / "reference_data/only")
    assert [task.name for task in TaskDirectory(tmp_path).runnable()] == ["tiny"]
    assert list(TaskDirectory(tmp_path).references()) == ["tiny", "only"]
    assert pgdl("task", "validate", tmp_path).lines[-2] == (
        "only: reference data of 8 models, 3 hyperparameters, no models to run: valid"
    )
    with pytest.raises(UserError, match="no task 'only': expected one of tiny, found reference data without models"):
        TaskDirectory(tmp_path).runnable(["only"])
    with pytest.raises(UserError, match="found only reference data, of only, tiny"):
        TaskDirectory(tmp_path / "reference_data").runnable()
    assert list(TaskDirectory(tmp_path / "reference_data/only").references()) == ["only"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "tinny"], "no task 'tinny': expected one of tiny; did you mean 'tiny'?"),
        (["tiny/dataset_1"], "no task here: expected TASK/model_* or input_data/TASK/model_*, found neither; name"),
        (["nowhere"], "nowhere: no such directory; a task in a directory is named by --task NAME --tasks DIR"),
    ],
)
def test_what_cannot_be_found(tmp_path, pgdl, monkeypatch, arguments, message, task):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGDL_TASKS", ".")
    assert message in pgdl("task", "validate", *arguments).refusal()


def test_list_and_show(tmp_path, pgdl):
    make_task(tmp_path, n_test=48)
    header, row = (line.split() for line in pgdl("task", "list", tmp_path).lines)
    assert " ".join(header) == "task hidden models min gap mean median max size hyperparameters"
    assert (row[:7], row[-3:]) == (["tiny", "no", "8", *GAPS_OF_ALL], ["activation,", "depth,", "width"])
    shown = pgdl("task", "show", tmp_path, "--task", "tiny").out
    rows = [line.split() for line in shown.splitlines()]
    assert ["(all)", "8", *GAPS_OF_ALL] in rows
    assert ["tanh", "4", "0.0500", "0.1975", "0.1700", "0.4000"] in rows
    variance = sum(gap * (1 - gap) / 48 for gap in GAPS) / 8  # train accuracies are 1
    share = variance / statistics.pvariance(GAPS)
    for expected in (
        "8 models, 24 training samples of shape (4,) in 3 classes",
        "8 architectures of 2 to 3 layers: Dense; outputs are logits",
        f"standard error of a gap: {variance**0.5:.4f}, from 48 test samples, {share:.0%} of the variance of the gaps",
    ):
        assert expected in shown
    (described,) = json.loads(pgdl("task", "show", tmp_path, "--format", "json").out)
    assert described["gap_error"] == pytest.approx({"n_test": 48, "standard_error": variance**0.5, "share": share})


@pytest.mark.rest
def test_nothing_heavy_is_imported(tmp_path, task):
    """No command imports TensorFlow; listing tasks needs neither HDF5 nor protocol buffers."""
    program = """if True:
        import json, sys
        from harness.cli.main import cli
        heavy = ("tensorflow", "keras", "h5py", "google.protobuf")
        cli.main(["task", sys.argv[1], sys.argv[2]], standalone_mode=False)
        print(json.dumps([name for name in heavy if name in sys.modules]))
    """
    imported = {}
    for command in ("list", "validate"):
        arguments = [sys.executable, "-c", program, command, str(tmp_path)]
        printed = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
        imported[command] = json.loads(printed.splitlines()[-1])
    assert imported == {"list": [], "validate": ["h5py", "google.protobuf"]}


@pytest.mark.parametrize(
    "command", [["build", "task_data/recipes/digits_nin.toml"], ["import", "models.csv", "--data", "none.npz"]]
)
def test_a_task_that_would_hide_those_in_the_flat_layout_is_refused(tmp_path, pgdl, command):
    make_task(tmp_path, name="mine")
    err = pgdl("task", *command, "--output", tmp_path).refusal()
    assert f"{tmp_path}: cannot take another task: expected no tasks, or input_data/TASK, found mine in" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("layout", ["flat", "full"])
@pytest.mark.parametrize("reference", [True, False])
def test_a_marked_task_is_hidden_with_or_without_reference_data(tmp_path, layout, reference):
    make_task(tmp_path, layout=layout, hidden=True, reference=reference)
    make_task(tmp_path, layout=layout, name="public")
    tasks = read_tasks(TaskDirectory(tmp_path).runnable())
    assert {task.name: task.hidden for task in tasks} == {"public": False, "tiny": True}
    assert hidden_names(TaskDirectory(tmp_path).all()) == {"tiny"}


def test_it_is_hidden_wherever_one_looks_from(tmp_path):
    make_task(tmp_path, layout="full", hidden=True)
    for mark in ("hidden: true", "hidden: false"):  # one mark is enough
        (tmp_path / "input_data/tiny/metadata").write_text(mark)
        for place in ("input_data", "input_data/tiny", "reference_data", "reference_data/tiny"):
            assert hidden_names(TaskDirectory(tmp_path / place).all()) == {"tiny"}, (mark, place)


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml", "metadata.yml"])
def test_no_ending_unmarks_a_task_and_every_command_says_so(tmp_path, pgdl, name, task):
    (task / name).write_text("hidden: true")
    assert hidden_names(TaskDirectory(tmp_path).runnable()) == {"tiny"}
    assert pgdl("task", "validate", tmp_path).lines == ["tiny: 8 models, hidden: valid"]
    assert pgdl("task", "list", tmp_path).lines[1].split()[:2] == ["tiny", "yes"]
    assert pgdl("task", "show", tmp_path).out.startswith("tiny (flat, hidden) in ")


NO_MARK, NO_KEY = "not a mark: expected one line, `hidden: true` or `hidden: false`", "keys: expected hidden, once"

#: Problem -> contents with this problem.
NO_MARKS = {
    f"{NO_MARK}, found nothing": [""],
    f"{NO_MARK}, found text": ["hidden"],
    NO_MARK: ["- hidden: true"],
    f"{NO_KEY}, found 'hiden'": ["hiden: true"],
    f"{NO_KEY}, found nothing": ["{}"],
    f"{NO_KEY}, found 'hidden, name'": ["hidden: true\nname: x"],
    "hidden: expected true or false, found 1": ["hidden: 1"],
    "hidden: expected true or false, found 'true'": ["hidden: 'true'"],
    "hidden: expected true or false, found None": ["hidden:"],
    "not plain YAML: expected one line": ["hidden: !!bool maybe", "hidden: &a true", "? [hidden]\n: true", "hidden: ["],
    "not plain YAML: expected": ["hidden: true\nhidden: false"],
    "too large: expected at most 65536 bytes, found 70014 bytes": ["hidden: true #" + 70_000 * "x"],
}


@pytest.mark.parametrize("problem", NO_MARKS)
def test_anything_else_is_refused(tmp_path, refused, problem, task):
    for content in NO_MARKS[problem]:
        (task / "metadata").write_text(content)
        refused(task, "metadata", problem)
        with pytest.raises(UserError):
            hidden_names(TaskDirectory(tmp_path).runnable())


def test_a_mark_that_is_no_file_is_refused(refused, task):
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
    err = pgdl("task", "list", tmp_path).refusal()
    assert "reference_data/tiny/metadata: cannot tell whether the task is hidden" in err


def test_models_at_chance_accuracy_are_named(tmp_path, pgdl, task):
    def noted():
        return [line for line in pgdl("task", "validate", tmp_path).lines if "chance reaches" in line]

    assert noted() == []
    unlearned = {"train_acc": 0.4, "test_acc": 0.4}
    for model, said in (("1", "model_1 has"), ("2", "2 models (model_1, model_2) have")):
        edit_json(task / "model_configs.json", lambda content, model=model: content[model].update(metrics=unlearned))
        (line,) = noted()
        assert line.startswith(f"tiny: note: {said} a train accuracy that chance reaches (up to 0.")
