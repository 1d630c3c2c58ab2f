"""The record of one call: a row of the table `evaluations`, every column explained where it stands."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Float, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from harness.records.tables import Base, UtcDateTime


class Evaluation(Base, kw_only=True):
    """One call of one submission on one model, whatever became of it. Rows are only ever added.

    Of several rows with the same `key` the newest counts.
    """

    __tablename__ = "evaluations"

    id: Mapped[int] = mapped_column(primary_key=True, init=False, comment="Counts the rows of this table.")
    key: Mapped[str] = mapped_column(
        String(64), index=True,
        comment="What makes a call the same call: SHA-256 of names and digests of submission, model and data, seed "
        "and configuration.",
    )  # fmt: skip
    submission: Mapped[str] = mapped_column(String(80), index=True, comment="Name of the submission.")
    submission_digest: Mapped[str] = mapped_column(String(64), comment="SHA-256 of its files: which version it is.")
    is_baseline: Mapped[bool] = mapped_column(comment="Whether it is one of the harness' own baselines.")
    task: Mapped[str] = mapped_column(String(200), index=True, comment="Name of the task.")
    model: Mapped[str] = mapped_column(String(200), comment="Name of the model's directory, e.g. model_12.")
    model_digest: Mapped[str] = mapped_column(String(64), comment="SHA-256 of the model's files.")
    data_digest: Mapped[str] = mapped_column(String(64), comment="SHA-256 of the training shards.")
    outcome: Mapped[str] = mapped_column(
        String(32), comment="What became of the call, one of a closed set (docs/outcomes.md)."
    )
    value: Mapped[float | None] = mapped_column(
        Float(53), comment="The measure's value; empty unless the outcome is OK."
    )
    message: Mapped[str] = mapped_column(Text, comment="Why there is no value, in one line.")
    startup_wall_s: Mapped[float] = mapped_column(
        Float(53),
        comment="Seconds to start the sandbox and import TensorFlow; 0 for a baseline that found one started.",
    )
    load_wall_s: Mapped[float] = mapped_column(Float(53), comment="Seconds to load the model and the data.")
    load_cpu_s: Mapped[float] = mapped_column(Float(53), comment="Processor seconds until the model was loaded.")
    call_wall_s: Mapped[float] = mapped_column(
        Float(53), comment="Seconds of the call alone; this is what the time limit bounds."
    )
    call_cpu_s: Mapped[float] = mapped_column(Float(53), comment="Processor seconds of the call alone.")
    peak_memory_bytes: Mapped[int] = mapped_column(
        BigInteger, comment="Largest memory of all the call's processes, looked at every 50 ms."
    )
    time_limit_s: Mapped[float] = mapped_column(
        Float(53), comment="The time limit in force: seconds per call; `time_budget` says how they add up."
    )
    time_budget: Mapped[str] = mapped_column(
        String(16),
        comment="`each`: the limit binds every call; `average`: its sum over a task's models binds the task.",
    )
    memory_limit_bytes: Mapped[int] = mapped_column(BigInteger, comment="The memory limit in force.")
    configuration: Mapped[str] = mapped_column(
        String(12), comment="Tells apart how calls were made: run seed, Keras, limits, kind of sandbox, versions."
    )
    run_seed: Mapped[int] = mapped_column(BigInteger, comment="Seed of the run (`--seed`).")
    seed: Mapped[int] = mapped_column(
        BigInteger, comment="Seed of Python, NumPy and TensorFlow before the call, derived from the run's."
    )
    keras: Mapped[int] = mapped_column(comment="Which Keras `tf.keras` meant: 2 or 3.")
    sandbox: Mapped[str] = mapped_column(String(32), comment="How the call was isolated; `none` never ranks.")
    versions: Mapped[str] = mapped_column(Text, comment="Versions of the libraries that values depend on.")
    harness_version: Mapped[str] = mapped_column(String(32), comment="Version of pgdl-harness.")
    environment: Mapped[dict[str, Any]] = mapped_column(
        JSON, comment="Versions of Python, TensorFlow, Keras, NumPy, the kernel; processor, threads and GPU."
    )
    output_tail: Mapped[str] = mapped_column(Text, comment="The end of what the submission printed.")
    started_at: Mapped[datetime] = mapped_column(UtcDateTime, comment="When the call was begun (UTC).")
    finished_at: Mapped[datetime] = mapped_column(UtcDateTime, comment="When it was over (UTC).")
