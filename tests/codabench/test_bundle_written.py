"""Tests of bundles made from a description of twenty lines: content, secrets in the right files, refusals."""

import zipfile
from pathlib import Path

import pytest
import yaml
from organised import TOML, inner, organise
from PIL import Image

REFERENCE = "model_configs.json"

LOGO = "logo.png: expected a complete PNG, JPEG or GIF picture"
TEXT = "expected a text in UTF-8, not empty, without NUL"


@pytest.fixture
def parts(bundled) -> dict[str, dict[str, bytes]]:
    """Archive in the bundle -> member -> content."""
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        opened = {name: inner(bundled / "bundle.zip", name) for name in archive.namelist() if name.endswith(".zip")}
    return {name: {member: one.read(member) for member in one.namelist()} for name, one in opened.items()}


@pytest.fixture
def bundle(folder, pgdl):
    """Return a function that runs `pgdl codabench bundle` on a description, in which texts were replaced."""

    def run(*replaced, output="bundle.zip"):
        toml = TOML
        for before, after in replaced:
            assert before in toml
            toml = toml.replace(before, after, 1)
        return pgdl("codabench", "bundle", organise(folder, toml), "--output", output)

    return run


def test_one_command_makes_a_bundle_and_the_same_files_the_same_bytes(bundle):
    for name in ("first.zip", "second.zip"):
        made = bundle(output=name)
        assert made.code == 0, made.err
        for line in ("Feedback: public, tiny", "Final: hidden, checked on tiny", f"Written: {name}"):
            assert line in made.out
    assert Path("first.zip").read_bytes() == Path("second.zip").read_bytes()


def test_reference_data_are_where_scores_are_made_and_in_the_kit_and_nothing_of_test_data_and_hidden_tasks_is_there(
    bundled, parts
):
    found = {name: {file.split("/")[-2] for file in files if file.endswith(REFERENCE)} for name, files in parts.items()}
    where = ("phase_0_reference_data.zip", "phase_1_reference_data.zip", "starting_kit.zip")
    assert {name: tasks for name, tasks in found.items() if tasks} == {name: {"tiny"} for name in where}
    names = [name for files in parts.values() for name in files]
    contents = [content for files in parts.values() for content in files.values()]
    assert not [name for name in names if "/dataset_1/test/" in name or "secret" in name]
    assert not [one for one in [*contents, (bundled / "bundle.zip").read_bytes()] if b"secret" in one]
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
def test_what_cannot_be_a_competition_is_refused_in_one_line(bundle, before, after, said):
    assert said in bundle((before, after)).refusal()
    assert not Path("bundle.zip").exists()


def test_the_platforms_own_workers_have_ten_minutes_and_too_little_time_for_all_calls_is_noted(bundle):
    public = (TOML[TOML.index('[[phases]]\nname = "Final"') :], "")
    assert bundle(public).code == 0
    made = bundle(public, ("execution_time_limit = 600", "execution_time_limit = 3600"))
    assert "execution_time_limit: expected at most 600 s on the platform's workers" in made.err
    made = bundle(("time_limit = 5\n", "time_limit = 300\n"))
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
def test_what_the_platform_would_refuse_is_refused_here(folder, bundle, change, said):
    organise(folder)
    change()
    assert said in bundle().refusal()
    assert not Path("bundle.zip").exists()


def test_what_would_reveal_a_hidden_task_is_found(folder, bundle):
    """Such as a copy of its files under any name, or a page that is called as the description in the bundle."""
    organise(folder)
    Path("competition.yaml").write_text("The secret of generalization.\n")
    said = bundle(("overview.md", "competition.yaml")).refusal()
    assert "competition.yaml: names the hidden task 'secret'" in said
    for file in ("weights.hdf5", REFERENCE):
        pairs = [*zip(folder.rglob(f"secret/**/{file}"), folder.rglob(f"tiny/**/{file}"), strict=True)]
        before = [hidden.read_bytes() for hidden, _ in pairs]
        for hidden, shared in pairs:
            hidden.write_bytes(shared.read_bytes())
        made = bundle()
        assert (made.code, f"{file}, of a hidden task" in made.err) == (2, True)
        assert len(made.err.splitlines()) <= 8, "not a line for each model"
        for (hidden, _), content in zip(pairs, before, strict=True):
            hidden.write_bytes(content)
    for mark in folder.rglob("secret/metadata"):
        mark.unlink()
    made = bundle()  # without the mark, the organiser's own board would publish the results on the task
    assert "secret: not marked as hidden, although its phase is hidden; write `hidden: true` into a file" in made.err
    assert not Path("bundle.zip").exists()
