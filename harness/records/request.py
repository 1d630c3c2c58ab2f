"""Requests of `pgdl run`: a version of a submission, its path, and a task."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from harness.records.tables import DIGEST, WORD, Base, Flag, UtcDateTime, longest


class Request(Base, kw_only=True):
    """One submission and task of one `pgdl run`, even if all calls were recorded already. Rows are only ever added.

    They tell the most recently requested version of a submission, and the submission that owns a name.
    """

    __tablename__ = "requests"

    id: Mapped[int] = mapped_column(primary_key=True, init=False, comment="Number of the row.")
    submission: Mapped[str] = mapped_column(String(80), index=True, info=WORD, comment="Name of the submission.")
    submission_digest: Mapped[str] = mapped_column(
        String(64),
        info=DIGEST,
        comment="SHA-256 of the submission's files, of the code alone for a measure of the library; identifies "
        "its version.",
    )
    source: Mapped[str] = mapped_column(
        Text, info=longest(8192), comment="Path of the submission; `library` for a measure of the library."
    )
    is_baseline: Mapped[bool] = mapped_column(
        Flag, comment="Whether the submission is one of the harness' own baselines."
    )
    task: Mapped[str] = mapped_column(String(200), comment="Name of the task.")
    configuration: Mapped[str] = mapped_column(String(12), info=DIGEST, comment="The requested configuration.")
    settings: Mapped[str] = mapped_column(
        Text, info=longest(8192), comment="The requested configuration, all its parts as JSON."
    )
    deterministic: Mapped[bool] = mapped_column(
        Flag, comment="Whether the submission's metadata says that its value depends on no seed."
    )
    team: Mapped[str] = mapped_column(
        Text,
        info=longest(4096),
        comment="Who made the submission, by its metadata; may be empty.",
    )
    description: Mapped[str] = mapped_column(
        Text, info=longest(4096),
        comment="What it does, by its metadata or, for a measure, by the library; may be empty.",
    )  # fmt: skip
    paper: Mapped[str] = mapped_column(
        Text,
        info=longest(4096),
        comment="Address or title of its paper, by its metadata; may be empty.",
    )
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime, comment="Time of the request (UTC).")
    merged_at: Mapped[datetime | None] = mapped_column(
        UtcDateTime,
        default=None,
        comment="Time of its addition from another database; empty if it was asked here.",
    )
