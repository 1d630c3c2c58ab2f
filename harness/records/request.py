"""Requests of `pgdl run`: a version of a submission, its path, and a task."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import Column, String, Text

from harness.records.tables import DIGEST, WORD, Flag, Stored, UtcDateTime, longest, table_of


@dataclass(frozen=True, slots=True)
class Request(Stored):
    """One submission and task of one `pgdl run`, even if all calls were recorded already. Rows are only ever added.

    They tell the most recently requested version of a submission, and the submission that owns a name.
    """

    # fmt: off
    submission: Annotated[str, Column(String(80), index=True, info=WORD, comment="Name of the submission.")]
    submission_digest: Annotated[str, Column(String(64), info=DIGEST, comment=
        "SHA-256 of the submission's files, of the code alone for a measure of the library; identifies its "
        "version.")]
    source: Annotated[str, Column(Text, info=longest(8192), comment=
        "Path of the submission; `library` for a measure of the library.")]
    is_baseline: Annotated[bool, Column(Flag, comment="Whether the submission is one of the harness' own baselines.")]
    task: Annotated[str, Column(String(200), comment="Name of the task.")]
    configuration: Annotated[str, Column(String(12), info=DIGEST, comment="The requested configuration.")]
    settings: Annotated[str, Column(Text, info=longest(8192), comment=
        "The requested configuration, all its parts as JSON.")]
    deterministic: Annotated[bool, Column(Flag, comment=
        "Whether the submission's metadata says that its value depends on no seed.")]
    team: Annotated[str, Column(Text, info=longest(4096), comment=
        "Who made the submission, by its metadata; may be empty.")]
    description: Annotated[str, Column(Text, info=longest(4096), comment=
        "What it does, by its metadata or, for a measure, by the library; may be empty.")]
    paper: Annotated[str, Column(Text, info=longest(4096), comment=
        "Address or title of its paper, by its metadata; may be empty.")]
    requested_at: Annotated[datetime, Column(UtcDateTime, comment="Time of the request (UTC).")]
    merged_at: Annotated[datetime | None, Column(UtcDateTime, comment=
        "Time of its addition from another database; empty if it was asked here.")] = None
    # fmt: on


REQUESTS = table_of("requests", Request)
