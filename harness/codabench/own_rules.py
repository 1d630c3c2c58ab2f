"""Rules that keep a competition's secrets, and those of our own programs.

The places are those of revision c7dbc756 of https://github.com/codalab/codabench.
"""

from collections.abc import Iterator
from typing import Any

from harness.codabench.opened import Mark, Member, OpenedBundle
from harness.codabench.rules import Lines, rule
from harness.codabench.settings import KEY, TASKS
from harness.format.layout import MARKS, REFERENCE, WEIGHTS
from harness.plain_yaml import parse_yaml

#: Most bytes of a file that is read.
MAX_BYTES = 64 * 1024

#: Parts of a phase that participants download.
DOWNLOADS = ("starting_kit", "public_data")


@rule("compute_worker/compute_worker.py:847")
def commands(bundle: OpenedBundle) -> Lines:
    """Each program says what to run."""
    for part in ("ingestion_program", "scoring_program"):
        for task, path in bundle.parts(part):
            with bundle.files(path) as files:
                if not _command(files.get("metadata.yaml") or files.get("metadata")):
                    yield f"task {task.get('name')}: {part}: no `command` in its metadata.yaml"


@rule("compute_worker/compute_worker.py:937")
def separate_scoring(bundle: OpenedBundle) -> Lines:
    """Reference data are never in the container that calls submissions."""
    for task in bundle.content["tasks"]:
        if task.get("ingestion_only_during_scoring"):
            yield f"task {task.get('name')}: ingestion_only_during_scoring mounts reference data beside the submission"


@rule("docs/codabench.md")
def programs_kept(bundle: OpenedBundle) -> Lines:
    """Programs contain the key of the competition, and hidden tasks."""
    if bundle.content.get("make_programs_available"):
        yield "make_programs_available: the programs contain secrets"


@rule("docs/codabench.md")
def secrets_kept(bundle: OpenedBundle) -> Lines:
    """No secret is among what participants may see, nor any reference data where submissions run."""
    references, secrets = _secrets(bundle)
    for task, path in (*bundle.parts("input_data"), *bundle.parts("ingestion_program")):
        with bundle.files(path) as files:
            found = [name for name, file in files.items() if file.mark in references or name.endswith(f"/{REFERENCE}")]
        yield from (f"task {task.get('name')}: {path}: {name} is reference data" for name in found)
    for path in _open_places(bundle):
        with bundle.files(path) as files:
            found = [name for name, file in files.items() if file.mark in secrets]
        yield from (f"{path}: {name} is also {secrets[files[name].mark]}" for name in found)


@rule("docs/hidden-tasks.md")
def outputs_hidden(bundle: OpenedBundle) -> Lines:
    """What a submission prints and returns on hidden tasks stays with the organiser."""
    hidden = {task.get("index") for task, path in bundle.parts("reference_data") if _hidden_tasks(bundle, path)}
    if hidden and not bundle.content.get("queue"):
        yield "no queue: hidden tasks need workers of your own, whose containers have no network"
    for phase in bundle.content["phases"]:
        for what in ("output", "prediction_output", "score_output"):
            if set(phase.get("tasks") or ()) & hidden and not phase.get(f"hide_{what}"):
                yield f"phase {phase.get('name')}: hide_{what}: expected true, because its tasks are hidden"


def _secrets(bundle: OpenedBundle) -> tuple[set[Mark], dict[Mark, str]]:
    """Return the marks of all reference data, and those of what nobody may see, with what it is."""
    references: set[Mark] = set()
    secrets: dict[Mark, str] = {}
    for _, path in bundle.parts("reference_data"):
        hidden = _hidden_tasks(bundle, path)
        with bundle.files(path) as files:
            for name, file in files.items():
                if not name.endswith(f"/{REFERENCE}"):
                    continue
                references.add(file.mark)
                if (owner := name.split("/")[-2]) in hidden:
                    secrets[file.mark] = f"the hidden reference data of {owner}"
    for part in ("ingestion_program", "scoring_program"):
        for task, path in bundle.parts(part):
            with bundle.files(path) as files:
                for name, file in files.items():
                    if name == KEY:
                        secrets[file.mark] = "the key of the competition"
                    elif name.startswith(f"{TASKS}/") and name.endswith(f"/{WEIGHTS}"):
                        secrets[file.mark] = f"a model of the hidden phase {task.get('name')}"
    return references, secrets


def _hidden_tasks(bundle: OpenedBundle, path: str) -> set[str]:
    """Return the tasks in some reference data that are marked as hidden."""
    with bundle.files(path) as files:
        marks = {name: file for name, file in files.items() if "/" in name and name.split("/")[-1] in MARKS}
        return {name.split("/")[-2] for name, file in marks.items() if not _is_public(file)}


def _is_public(mark: Member) -> bool:
    """Whether a mark says that its task is not hidden, and nothing else."""
    try:
        return bool(parse_yaml(mark.read(MAX_BYTES)) == {"hidden": False})
    except ValueError:
        return False


def _open_places(bundle: OpenedBundle) -> Iterator[str]:
    """Yield the archives that participants, or commands of submissions, can read."""
    owners: list[tuple[dict[str, Any], tuple[str, ...]]] = [(phase, DOWNLOADS) for phase in bundle.content["phases"]]
    owners += [(solution, ("path",)) for solution in bundle.content.get("solutions") or ()]
    found = [str(owner[key]) for owner, keys in owners for key in keys if key in owner and bundle.has(owner[key])]
    yield from dict.fromkeys([*found, *(path for _, path in bundle.parts("input_data"))])


def _command(file: Member | None) -> object:
    if file is None:
        return None
    try:
        content = parse_yaml(file.read(MAX_BYTES))
    except ValueError:
        return None
    return content.get("command") if isinstance(content, dict) else None
