"""The record of one call: a row of the table `evaluations`, with an explanation of every column."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Float, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from harness.records.tables import DIGEST, WORD, Base, Flag, UtcDateTime, longest


class Evaluation(Base, kw_only=True):
    """One call of one submission on one model, whatever its outcome. Rows are only ever added.

    Of several rows with the same `key` the newest counts.
    """

    __tablename__ = "evaluations"
    # A version's newest records are found in this index alone, however many others there are; so are the versions.
    __table_args__ = (
        Index("ix_evaluations_version", "submission", "submission_digest", "configuration", "task", "key"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, init=False, comment="Number of the row.")
    key: Mapped[str] = mapped_column(
        String(64), index=True, info=DIGEST,
        comment="Identifies the call: SHA-256 of names and digests of submission, model and data, seed and "
        "configuration.",
    )  # fmt: skip
    submission: Mapped[str] = mapped_column(String(80), index=True, info=WORD, comment="Name of the submission.")
    submission_digest: Mapped[str] = mapped_column(
        String(64),
        info=DIGEST,
        comment="SHA-256 of the submission's files, of the code alone for a measure of the library; identifies "
        "its version.",
    )
    is_baseline: Mapped[bool] = mapped_column(
        Flag, comment="Whether the submission is one of the harness' own baselines."
    )
    task: Mapped[str] = mapped_column(String(200), index=True, comment="Name of the task.")
    model: Mapped[str] = mapped_column(String(200), comment="Name of the model's directory, e.g. model_12.")
    model_digest: Mapped[str] = mapped_column(String(64), info=DIGEST, comment="SHA-256 of the model's files.")
    data_digest: Mapped[str] = mapped_column(String(64), info=DIGEST, comment="SHA-256 of the training shards.")
    repeat: Mapped[int] = mapped_column(
        comment="0: the call that counts; from 1: its repetitions with other seeds (`--repeat`)."
    )
    outcome: Mapped[str] = mapped_column(
        String(32), comment="Outcome of the call, one of a closed set (docs/outcomes.md)."
    )
    value: Mapped[float | None] = mapped_column(
        Float(53), comment="The measure's value; empty unless the outcome is OK."
    )
    message: Mapped[str] = mapped_column(Text, comment="Why there is no value, in one line.")
    startup_wall_s: Mapped[float] = mapped_column(
        Float(53),
        comment="Seconds to start the sandbox and import the framework; 0 if the call reused a running sandbox.",
    )
    load_wall_s: Mapped[float] = mapped_column(Float(53), comment="Seconds to load the model and the data.")
    load_cpu_s: Mapped[float] = mapped_column(
        Float(53), comment="Processor seconds until the model was loaded; 0 if the call reused a running sandbox."
    )
    call_wall_s: Mapped[float] = mapped_column(
        Float(53), comment="Seconds of the call alone; the time limit applies to these."
    )
    call_cpu_s: Mapped[float] = mapped_column(Float(53), comment="Processor seconds of the call alone.")
    peak_memory_bytes: Mapped[int] = mapped_column(
        BigInteger,
        comment="Peak memory of all the call's processes, without pages of files on a disk, sampled every 50 ms.",
    )
    time_limit_s: Mapped[float] = mapped_column(
        Float(53), comment="The time limit in force: seconds per call; `time_budget` says how it is applied."
    )
    time_budget: Mapped[str] = mapped_column(
        String(16),
        info=WORD,
        comment="`each`: the limit applies to every call; `average`: limit times number of models applies to the task.",
    )
    memory_limit_bytes: Mapped[int] = mapped_column(BigInteger, comment="The memory limit in force.")
    configuration: Mapped[str] = mapped_column(
        String(12), info=DIGEST, comment="Identifies run seed, runtime, limits, kind of sandbox and versions."
    )
    run_seed: Mapped[int] = mapped_column(BigInteger, comment="Seed of the run (`--seed`).")
    seed: Mapped[int] = mapped_column(
        BigInteger, comment="Seed of Python, NumPy and the framework in the call, derived from the run's seed."
    )
    runtime: Mapped[str] = mapped_column(
        String(16), info=WORD, comment="Runtime of the call: `tensorflow`, `keras2`, `jax` or `torch`."
    )
    sandbox: Mapped[str] = mapped_column(String(32), info=WORD, comment="Kind of isolation; `none` never ranks.")
    versions: Mapped[str] = mapped_column(
        Text, info=longest(4096), comment="Versions of the libraries that affect values."
    )
    harness_version: Mapped[str] = mapped_column(String(32), info=WORD, comment="Version of pgdl-harness.")
    loader: Mapped[str] = mapped_column(
        String(64),
        info=DIGEST,
        comment="SHA-256 of the harness' own code that loaded the model and called the submission.",
    )
    environment: Mapped[dict[str, Any]] = mapped_column(
        JSON,
        comment="Versions of Python, framework, Keras, NumPy and the kernel; processor, class of machine, threads, "
        "device; on a cluster the machine.",
    )
    output_tail: Mapped[str] = mapped_column(Text, comment="End of the submission's output.")
    started_at: Mapped[datetime] = mapped_column(UtcDateTime, comment="Start of the call (UTC).")
    finished_at: Mapped[datetime] = mapped_column(UtcDateTime, comment="End of the call (UTC).")
