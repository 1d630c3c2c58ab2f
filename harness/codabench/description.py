"""The file `competition.yaml` of a bundle, which describes the competition to the platform."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import yaml

from harness.codabench.columns import described
from harness.codabench.competition import CodabenchCompetition, PlannedPhase

NAME, VERSION = "competition.yaml", 2  #: name of the file, version of its format

#: Kinds of archives of each phase, and names of the archives of the whole competition.
INPUT, REFERENCE, INGESTION, SCORING = "input_data", "reference_data", "ingestion_program", "scoring_program"
PARTS = (INGESTION, SCORING, REFERENCE, INPUT)
STARTING_KIT, SOLUTION = "starting_kit.zip", "solution.zip"


def archive_of(number: int, part: str) -> str:
    """Return the file name of the archive with `part` (one of `PARTS`) of the phase at position `number`."""
    return f"phase_{number}_{part}.zip"


def describe(competition: CodabenchCompetition, phases: Sequence[PlannedPhase], files: Mapping[str, str]) -> bytes:
    """Return the content of competition.yaml. `files` maps paths of logo, terms and pages to names in the bundle.

    On the platform, each phase has a single task, which contains all public tasks of the phase.
    """
    columns = {name: key for one in phases for name, key in one.settings.columns.items()}
    has_final = any(one.phase.hidden for one in phases)
    content: dict[str, Any] = {
        "version": VERSION,
        "title": competition.title,
        "description": competition.description,
        "image": files[competition.image],
        "terms": files[competition.terms],
        "docker_image": competition.docker_image,
        "registration_auto_approve": competition.registration_auto_approve,
        "enable_detailed_results": True,
        "pages": [{"title": page.title, "file": files[page.file]} for page in competition.pages],
        "tasks": [_task(number, one) for number, one in enumerate(phases)],
        "phases": [_phase(number, one) for number, one in enumerate(phases)],
        "solutions": [
            {"index": 0, "name": "template", "path": SOLUTION, "tasks": list(range(len(phases)))},
        ],
        "leaderboards": [
            {
                "title": "Results", "key": "results", "submission_rule": "Force_Last",
                "columns": described(columns, has_final=has_final),
            }
        ],
    }  # fmt: skip
    for key in ("queue", "contact_email"):
        if getattr(competition, key) is not None:
            content[key] = str(getattr(competition, key))
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120).encode()


def _task(number: int, one: PlannedPhase) -> dict[str, Any]:
    head = {"index": number, "name": one.phase.name, "description": ", ".join(one.phase.public_tasks)}
    return head | {part: archive_of(number, part) for part in PARTS}


def _phase(number: int, one: PlannedPhase) -> dict[str, Any]:
    phase = one.phase
    limits = ("execution_time_limit", "max_submissions_per_day", "max_submissions", "auto_migrate_to_this_phase")
    found = {"index": number, "name": phase.name, "description": phase.description, "start": _text(phase.start)}
    if phase.end is not None:
        found["end"] = _text(phase.end)
    found |= {key: getattr(phase, key) for key in limits}
    return found | {"tasks": [number], "starting_kit": STARTING_KIT}


def _text(moment: datetime) -> str:
    """Return a time as text, because the platform drops the hours of a YAML timestamp."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"
