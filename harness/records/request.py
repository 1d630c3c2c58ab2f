"""What `pgdl run` was asked for: which version of a submission, from where, on which task."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from harness.records.tables import Base, UtcDateTime


class Request(Base, kw_only=True):
    """One submission and task of one `pgdl run`, whether or not a call was still to be made. Rows are only ever added.

    They say which version of a submission was asked for last, and whose a name is.
    """

    __tablename__ = "requests"

    id: Mapped[int] = mapped_column(primary_key=True, init=False, comment="Counts the rows of this table.")
    submission: Mapped[str] = mapped_column(String(80), index=True, comment="Name of the submission.")
    submission_digest: Mapped[str] = mapped_column(String(64), comment="SHA-256 of its files: which version it is.")
    source: Mapped[str] = mapped_column(Text, comment="Where it lay; `library` for a measure of the library.")
    task: Mapped[str] = mapped_column(String(200), comment="Name of the task.")
    configuration: Mapped[str] = mapped_column(String(12), comment="The configuration that was asked for.")
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime, comment="When (UTC).")
