"""The tables of the results database: `evaluations`, with a record of each call, and `requests`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import JSON, BigInteger, Column, Float, Index, Integer, String, Text

from harness.records.tables import DIGEST, WORD, Flag, Stored, UtcDateTime, longest, table_of


@dataclass(frozen=True, slots=True)
class Record(Stored):
    """A recorded call of a submission on a model, without the two long columns of `Evaluation`."""

    # fmt: off
    key: Annotated[str, Column(String(64), index=True, info=DIGEST, comment=
        "Identifies the call: SHA-256 of names and digests of submission, model and data, seed and configuration.")]
    submission: Annotated[str, Column(String(80), index=True, info=WORD, comment="Name of the submission.")]
    submission_digest: Annotated[str, Column(String(64), info=DIGEST, comment=
        "SHA-256 of the submission's files, of the code alone for a measure of the library; identifies its "
        "version.")]
    is_baseline: Annotated[bool, Column(Flag, comment="Whether the submission is one of the harness' own baselines.")]
    task: Annotated[str, Column(String(255), index=True, comment="Name of the task.")]
    model: Annotated[str, Column(String(255), comment="Name of the model's directory, e.g. model_12.")]
    model_digest: Annotated[str, Column(String(64), info=DIGEST, comment="SHA-256 of the model's files.")]
    data_digest: Annotated[str, Column(String(64), info=DIGEST, comment="SHA-256 of the training shards.")]
    repeat: Annotated[int, Column(Integer, comment=
        "0: the call that counts; from 1: its repetitions with other seeds (`--repeat`).")]
    outcome: Annotated[str, Column(String(32), comment="Outcome, one of a closed set (pgdl help outcomes).")]
    value: Annotated[float | None, Column(Float(53), comment="The measure's value; empty unless the outcome is OK.")]
    message: Annotated[str, Column(Text, comment="Why there is no value, in one line.")]
    startup_wall_s: Annotated[float, Column(Float(53), comment=
        "Seconds to start the sandbox and import the framework; 0 if the call reused a running sandbox.")]
    load_wall_s: Annotated[float, Column(Float(53), comment=
        "Seconds to load the model and the data.")]
    load_cpu_s: Annotated[float, Column(Float(53), comment=
        "Processor seconds until the model was loaded; 0 if the call reused a running sandbox.")]
    call_wall_s: Annotated[float, Column(Float(53), comment=
        "Seconds of the call, to which the time limit applies; with work that later baselines in its sandbox reuse.")]
    call_cpu_s: Annotated[float, Column(Float(53), comment="Processor seconds of the call alone.")]
    peak_memory_bytes: Annotated[int, Column(BigInteger, comment=
        "Peak memory of all the call's processes, without pages of files on a disk, sampled every 50 ms.")]
    time_limit_s: Annotated[float, Column(Float(53), comment=
        "The time limit in force: seconds per call; `time_budget` says how it is applied.")]
    time_budget: Annotated[str, Column(String(16), info=WORD, comment=
        "`each`: every call may take the limit; `average`: a task's calls together, the limit times the number of "
        "models.")]
    memory_limit_bytes: Annotated[int, Column(BigInteger, comment="The memory limit in force.")]
    configuration: Annotated[str, Column(String(12), info=DIGEST, comment=
        "Identifies run seed, runtime, limits, isolation and versions.")]
    run_seed: Annotated[int, Column(BigInteger, comment="Seed of the run (`--seed`).")]
    seed: Annotated[int, Column(BigInteger, comment=
        "Seed of Python, NumPy and the framework in the call, derived from the run's seed.")]
    runtime: Annotated[str, Column(String(16), info=WORD, comment=
        "Runtime of the call: `tensorflow`, `keras2`, `jax` or `torch`.")]
    sandbox: Annotated[str, Column(String(255), info=WORD, comment=
        "Isolation, such as `bubblewrap`; rows with `none` get no rank.")]
    versions: Annotated[str, Column(Text, info=longest(4096), comment="Versions of the libraries that affect values.")]
    harness_version: Annotated[str, Column(String(32), info=WORD, comment="Version of pgdl-harness.")]
    loader: Annotated[str, Column(String(64), info=DIGEST, comment=
        "SHA-256 of the harness' own code that loaded the model and called the submission.")]
    started_at: Annotated[datetime, Column(UtcDateTime, comment="Start of the call (UTC).")]
    finished_at: Annotated[datetime, Column(UtcDateTime, comment="End of the call (UTC).")]
    # fmt: on


@dataclass(frozen=True, slots=True, weakref_slot=True)  # a test checks that a run frees its records
class Evaluation(Record):
    """A recorded call with all columns. A row never changes. Of all rows with the same `key`, scores use the newest."""

    # fmt: off
    environment: Annotated[dict[str, str], Column(JSON, comment=
        "Versions of Python, framework, Keras, NumPy and the kernel; processor, class of machine, threads, "
        "device; on a cluster the machine.")]
    output_tail: Annotated[str, Column(Text, comment="End of the submission's output.")]
    # fmt: on


EVALUATIONS = table_of(
    "evaluations",
    Evaluation,
    # Finds a version's newest records, and all versions, without reading the other records.
    Index("ix_evaluations_version", "submission", "submission_digest", "configuration", "task", "key"),
)


@dataclass(frozen=True, slots=True)
class Request(Stored):
    """A request by `pgdl run` for the calls of a submission on a task.

    Of each submission, a board shows the version that was requested last.
    """

    # fmt: off
    submission: Annotated[str, Column(String(80), index=True, info=WORD, comment="Name of the submission.")]
    submission_digest: Annotated[str, Column(String(64), info=DIGEST, comment=
        "SHA-256 of the submission's files, of the code alone for a measure of the library; identifies its "
        "version.")]
    source: Annotated[str, Column(Text, info=longest(8192), comment=
        "Path of the submission; `library` for a measure of the library.")]
    is_baseline: Annotated[bool, Column(Flag, comment="Whether the submission is one of the harness' own baselines.")]
    task: Annotated[str, Column(String(255), comment="Name of the task.")]
    configuration: Annotated[str, Column(String(12), info=DIGEST, comment="The requested configuration.")]
    settings: Annotated[str, Column(Text, info=longest(8192), comment=
        "The requested configuration, all its parts as JSON.")]
    deterministic: Annotated[bool, Column(Flag, comment=
        "Whether the submission's metadata says that its value depends on no seed.")]
    team: Annotated[str, Column(Text, info=longest(4096), comment=
        "Who made the submission, by its metadata; may be empty.")]
    description: Annotated[str, Column(Text, info=longest(4096), comment=
        "What the submission does, by its metadata or, for a measure, by the library; may be empty.")]
    paper: Annotated[str, Column(Text, info=longest(4096), comment=
        "Address or title of the submission's paper, by its metadata; may be empty.")]
    requested_at: Annotated[datetime, Column(UtcDateTime, comment="Time of the request (UTC).")]
    merged_at: Annotated[datetime | None, Column(UtcDateTime, comment=
        "Time when the request was added from another database; empty for requests made here.")] = None
    # fmt: on


REQUESTS = table_of("requests", Request)
