"""Tests of bundles made from a description of twenty lines: content, secrets in the right files, refusals."""

import io
import zipfile
from pathlib import Path

import pytest
import yaml
from organised import TOML, organise
from PIL import Image

REFERENCE = "model_configs.json"

LOGO = "logo.png: expected a complete PNG, JPEG or GIF picture"
TEXT = "expected a text in UTF-8, not empty, without NUL"


def inner(archive: zipfile.ZipFile, name: str) -> dict[str, bytes]:
    """Return member -> content of an archive in the bundle."""
    with zipfile.ZipFile(io.BytesIO(archive.read(name))) as opened:
        return {member: opened.read(member) for member in opened.namelist()}


@pytest.fixture
def parts(bundled) -> dict[str, dict[str, bytes]]:
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        return {name: inner(archive, name) for name in archive.namelist() if name.endswith(".zip")}


def tasks_in(files):
    return {name.split("/")[-2] for name in files if name.endswith(REFERENCE)}


def test_one_command_makes_a_bundle_and_the_same_files_the_same_bytes(folder, pgdl):
    toml = organise(folder)
    for name in ("first.zip", "second.zip"):
        made = pgdl("codabench", "bundle", toml, "--output", name)
        assert made.code == 0, made.err
        for line in ("Feedback: public, tiny", "Final: hidden, checked on tiny", f"Written: {name}"):
            assert line in made.out
    assert Path("first.zip").read_bytes() == Path("second.zip").read_bytes()


def test_reference_data_are_where_scores_are_made_and_in_the_kit_and_no_test_data_travel(parts):
    found = {name: tasks_in(files) for name, files in parts.items()}
    assert {name: tasks for name, tasks in found.items() if tasks} == {
        "phase_0_reference_data.zip": {"tiny"},
        "phase_1_reference_data.zip": {"tiny"},
        "starting_kit.zip": {"tiny"},
    }
    assert not [member for files in parts.values() for member in files if "/dataset_1/test/" in member]


def test_nothing_of_a_hidden_task_is_in_the_bundle(bundled, parts):
    whole = (bundled / "bundle.zip").read_bytes()
    contents = [whole, *(content for files in parts.values() for content in files.values())]
    names = [name for files in parts.values() for name in files]
    assert not [content for content in contents if b"secret" in content]
    assert not [name for name in names if "secret" in name]
    hidden = {path.read_bytes() for path in bundled.rglob("secret/**/weights.hdf5")}
    assert len(hidden) == 8
    assert hidden.isdisjoint(contents)


def test_the_description_is_what_the_platform_reads(bundled):
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        content = yaml.safe_load(archive.read("competition.yaml"))
    first, last = content["phases"]
    assert (first["start"], first["end"]) == ("2027-01-10 00:00:00", "2027-02-28 12:00:00")
    assert last["start"] == "2027-03-01 12:00:00", "in UTC"
    assert "end" not in last
    assert not content["registration_auto_approve"]
    columns = content["leaderboards"][0]["columns"]
    assert [column["key"] for column in columns] == [
        "complete", "final", "score", "low", "high", "chance", "seconds", "task_0",
    ]  # fmt: skip
    assert columns[1]["title"] == "final (-1: not yet)"


@pytest.mark.rest
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('tasks = ["tiny"]', "tasks = []", "phase 'Feedback': tasks: expected one or more"),
        ('tasks = ["tiny"]', "", "phases.0.tasks: expected a value, found none"),
        ("end = 2027-02-28", "end = 2026-02-28", "phase 'Feedback': end: expected after its start"),
        ("end = 2027-02-28", "end = 2027-03-28", "phase 'Final': start: expected after the end of phase 'Feedback'"),
        ("end = 2027-02-28T12:00:00\n", "", "phase 'Feedback': end: expected a date, because a phase follows"),
        ("hidden = true", "hidden = false", "phase 'Final': hidden: expected true, because it has a check_task"),
        ('check_task = "tiny"\n', "", "phase 'Final': check_task: expected a public task, because the phase is hidden"),
        ('"task_data"', '"nowhere"', "no such directory; name the directory of the tasks as `tasks` in /"),
        ('hidden = true\ncheck_task = "tiny"\n', "", "'secret' is marked as hidden: a bundle is public; write"),
        ('tasks = ["tiny"]', 'tasks = ["tiny", "secret"]', "expected public tasks, which everybody can download"),
        ('tasks = ["secret"]', 'tasks = ["secret", "tiny"]', "but a hidden phase has tiny, too"),
        ('tasks = ["tiny"]', 'tasks = ["tinny"]', "no task 'tinny': expected one of"),
        ('"logo.png"', '"terms.md"', "terms.md: expected a complete PNG, JPEG or GIF picture, not in CMYK"),
        ('"terms.md"', '"none.md"', "none.md: cannot be read: found No such file or directory"),
        ('terms = "terms.md"', 'terms = "terms.md"\nqueue = "mine"', "queue: expected"),
        ('terms = "terms.md"', 'terms = "terms.md"\ncontact_email = "me"', "contact_email: expected text of"),
        ("time_limit = 5\n", "time_limit = 5\nmax_submissions = 3000000000\n", "max_submissions: expected less"),
        ("Predict gen", "Predict the secret of gen", "competition.yaml: names the hidden task 'secret'"),
        ("time_limit = 5\nexecution", "time_limits = 5\nexecution", "unknown key; did you mean 'time_limit'?"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_competition_is_refused_in_one_line(folder, pgdl, before, after, said):
    assert before in TOML
    toml = organise(folder, TOML.replace(before, after, 1))
    assert said in pgdl("codabench", "bundle", toml, "--output", "bundle.zip").refusal()
    assert not Path("bundle.zip").exists()


def test_the_platforms_own_workers_have_ten_minutes(folder, pgdl):
    public = TOML.partition('[[phases]]\nname = "Final"')[0]
    assert pgdl("codabench", "bundle", organise(folder, public), "--output", "bundle.zip").code == 0
    longer = organise(folder, public.replace("execution_time_limit = 600", "execution_time_limit = 3600"))
    made = pgdl("codabench", "bundle", longer, "--output", "bundle.zip")
    assert "execution_time_limit: expected at most 600 s on the platform's workers" in made.err


def test_a_hidden_task_is_marked_as_such(folder, pgdl):
    """Without the mark, the organiser's own board would publish the results on the task."""
    toml = organise(folder)
    for mark in folder.rglob("secret/metadata"):
        mark.unlink()
    made = pgdl("codabench", "bundle", toml, "--output", "bundle.zip")
    assert "secret: not marked as hidden, although its phase is hidden; write `hidden: true` into a file" in made.err


def test_too_little_time_for_all_calls_is_noted(folder, pgdl):
    toml = TOML.replace("time_limit = 5\n", "time_limit = 300\n", 1)
    made = pgdl("codabench", "bundle", organise(folder, toml), "--output", "bundle.zip")
    assert made.code == 0
    assert "calls that use all of their 300 s take 2400 s in sum; a container has 540 s" in made.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: Image.new("CMYK", (8, 8)).save("logo.png", "JPEG"), LOGO),
        (lambda: Image.new("RGB", (1000, 5)).save("logo.png"), LOGO),
        (lambda: Path("overview.md").write_bytes(b"\xff"), f"overview.md: {TEXT}"),
        (lambda: Path("terms.md").write_text("Be\0fair"), f"terms.md: {TEXT}"),
        (lambda: Path("terms.md").write_text("\n"), f"terms.md: {TEXT}"),
    ],
    ids=["CMYK", "flat", "no UTF-8", "NUL", "empty"],
)
def test_what_the_platform_would_refuse_is_refused_here(folder, pgdl, change, said):
    toml = organise(folder)
    change()
    assert said in pgdl("codabench", "bundle", toml, "--output", "bundle.zip").refusal()
    assert not Path("bundle.zip").exists()


@pytest.mark.parametrize("file", ["weights.hdf5", REFERENCE])
def test_a_copy_of_a_hidden_tasks_file_is_found_under_any_name(folder, pgdl, file):
    toml = organise(folder)
    for hidden, shared in zip(folder.rglob(f"secret/**/{file}"), folder.rglob(f"tiny/**/{file}"), strict=True):
        hidden.write_bytes(shared.read_bytes())
    made = pgdl("codabench", "bundle", toml, "--output", "bundle.zip")
    assert made.code == 2
    assert f"{hidden.name}, of a hidden task" in made.err
    assert len(made.err.splitlines()) <= 8, "not a line for each model"
    assert not Path("bundle.zip").exists()


def test_a_page_is_searched_even_if_it_is_called_as_the_description_in_the_bundle(folder, pgdl):
    toml = organise(folder, TOML.replace("overview.md", "competition.yaml"))
    Path("competition.yaml").write_text("The secret of generalization.\n")
    said = pgdl("codabench", "bundle", toml, "--output", "bundle.zip").refusal()
    assert "competition.yaml: names the hidden task 'secret'" in said
