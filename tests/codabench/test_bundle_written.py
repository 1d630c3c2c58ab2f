"""From a description of twenty lines to a bundle: what is in it, where its secrets are, and what is refused."""

import io
import zipfile
from pathlib import Path

import pytest
import yaml
from organised import TOML, organise

REFERENCE = "model_configs.json"


def inner(archive: zipfile.ZipFile, name: str) -> dict[str, bytes]:
    """The files of an archive in the bundle."""
    with zipfile.ZipFile(io.BytesIO(archive.read(name))) as opened:
        return {member: opened.read(member) for member in opened.namelist()}


@pytest.fixture
def parts(bundled) -> dict[str, dict[str, bytes]]:
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        return {name: inner(archive, name) for name in archive.namelist() if name.endswith(".zip")}


def tasks_in(files):
    return {name.split("/")[-2] for name in files if name.endswith(REFERENCE)}


def test_one_command_makes_a_valid_bundle(folder, pgdl):
    assert len(TOML.split("[[phases]]")[0].splitlines()) <= 20
    made = pgdl("codabench", "bundle", organise(folder), "--output", "bundle.zip")
    assert made.code == 0, made.err
    assert "Feedback: public, tiny" in made.out
    assert "Final: hidden, secret" in made.out
    assert "competition.key is new: keep it secret" in made.err
    for secret in ("competition.key", "bundle.zip"):
        assert (folder / secret).stat().st_mode & 0o077 == 0
    checked = pgdl("codabench", "validate", "bundle.zip")
    assert (checked.code, checked.out) == (0, "bundle.zip: valid\n")


def test_the_same_files_give_the_same_bytes(folder, pgdl):
    toml = organise(folder)
    for name in ("first.zip", "second.zip"):
        assert pgdl("codabench", "bundle", toml, "--output", name).code == 0
    assert Path("first.zip").read_bytes() == Path("second.zip").read_bytes()


def test_reference_data_are_where_scores_are_made_and_of_public_tasks_in_the_kit(parts):
    found = {name: tasks_in(files) for name, files in parts.items()}
    assert {name: tasks for name, tasks in found.items() if tasks} == {
        "phase_0_reference_data.zip": {"tiny"},
        "phase_1_reference_data.zip": {"secret"},
        "starting_kit.zip": {"tiny"},
    }


def test_hidden_tasks_are_in_the_ingestion_program_alone(parts):
    with_models = {name for name, files in parts.items() if any("secret/model_0" in member for member in files)}
    assert with_models == {"phase_1_ingestion_program.zip"}
    assert "phase_1_input_data.zip" not in parts


def test_only_programs_have_the_key(parts, bundled):
    key = (bundled / "competition.key").read_bytes()
    holders = {name for name, files in parts.items() if any(key.strip() in content for content in files.values())}
    assert holders == {f"phase_{number}_{part}_program.zip" for number in (0, 1) for part in ("ingestion", "scoring")}


def test_no_test_data_travel(parts):
    assert not [member for files in parts.values() for member in files if "/dataset_1/test/" in member]


def test_the_description_is_what_the_platform_reads(bundled):
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        content = yaml.safe_load(archive.read("competition.yaml"))
    first, last = content["phases"]
    assert (first["start"], first["end"]) == ("2027-01-10 00:00:00", "2027-02-28 12:00:00")
    assert last["start"] == "2027-03-01 12:00:00", "in UTC"
    assert "end" not in last
    assert [phase["hide_output"] for phase in (first, last)] == [False, True]
    keys = [column["key"] for column in content["leaderboards"][0]["columns"]]
    assert keys == ["complete", "score", "low", "high", "chance", "seconds", "task_0", "task_1"]
    assert not content["make_programs_available"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('tasks = ["tiny"]', "tasks = []", "phase 'Feedback': tasks: expected one or more"),
        ('tasks = ["tiny"]', "", "phases.0.tasks: expected a value, found none"),
        ("end = 2027-02-28", "end = 2026-02-28", "phase 'Feedback': end: expected after its start"),
        ("end = 2027-02-28", "end = 2027-03-28", "phase 'Final': start: expected after the end of phase 'Feedback'"),
        ("end = 2027-02-28T12:00:00\n", "", "phase 'Feedback': end: expected a date, because a phase follows"),
        ("hidden = true", "hidden = false", "the reference data of 'secret', which is marked as hidden"),
        ('tasks = ["secret"]', 'tasks = ["secret", "tiny"]', "the reference data of 'tiny', which phase 'Final' hides"),
        ('tasks = ["tiny"]', 'tasks = ["tinny"]', "no task 'tinny': expected one of"),
        ('"logo.png"', '"terms.md"', "terms.md: not a logo: expected a whole image, PNG, JPEG, GIF"),
        ('"terms.md"', '"none.md"', "none.md: cannot be read: found No such file or directory"),
        ("queue = ", "# queue = ", "phase 'Final': hidden: expected with the `queue` of your own workers"),
        ("time_limit = 5\nexecution", "time_limits = 5\nexecution", "unknown key; did you mean 'time_limit'?"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_competition_is_refused_in_one_line(folder, pgdl, before, after, said):
    assert before in TOML
    made = pgdl("codabench", "bundle", organise(folder, TOML.replace(before, after, 1)), "--output", "bundle.zip")
    assert made.code == 2
    assert said in made.err
    assert len(made.err.splitlines()) == 1
    assert not Path("bundle.zip").exists()


def test_the_platforms_own_workers_have_ten_minutes(folder, pgdl):
    public = TOML.partition('[[phases]]\nname = "Final"')[0].replace("queue = ", "# queue = ")
    assert pgdl("codabench", "bundle", organise(folder, public), "--output", "bundle.zip").code == 0
    longer = organise(folder, public.replace("execution_time_limit = 600", "execution_time_limit = 3600"))
    made = pgdl("codabench", "bundle", longer, "--output", "bundle.zip")
    assert "execution_time_limit: expected at most 600 s on the platform's workers" in made.err


def test_too_little_time_for_all_calls_is_noted(folder, pgdl):
    toml = TOML.replace("time_limit = 5\n", "time_limit = 300\n", 1)
    made = pgdl("codabench", "bundle", organise(folder, toml), "--output", "bundle.zip")
    assert made.code == 0
    assert "calls that use all of their 300 s take 2400 s one after the other, and a container has 540 s" in made.err


def test_a_bundle_that_is_not_there_is_one_line(folder, pgdl):
    ended = pgdl("codabench", "validate", "nothing.zip")
    assert (ended.code, ended.err) == (2, "pgdl: nothing.zip: cannot be read: found No such file or directory\n")


def test_another_key_is_another_competition(folder, pgdl):
    toml = organise(folder)
    (folder / "competition.key").write_text("not hexadecimal\n")
    assert "competition.key: not a key" in pgdl("codabench", "bundle", toml, "--output", "bundle.zip").err
