"""The first version."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Create the tables and their indices."""
    op.create_table(
        "claims",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("run", sa.String(16), nullable=False),
    )
    op.create_index("ix_claims_run", "claims", ["run"])
    op.create_table(
        "evaluations",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("submission", sa.String(80), nullable=False),
        sa.Column("submission_digest", sa.String(64), nullable=False),
        sa.Column("is_baseline", sa.Boolean(), nullable=False),
        sa.Column("task", sa.String(200), nullable=False),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("model_digest", sa.String(64), nullable=False),
        sa.Column("data_digest", sa.String(64), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(32), nullable=False),
        sa.Column("value", sa.Float(53)),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("startup_wall_s", sa.Float(53), nullable=False),
        sa.Column("load_wall_s", sa.Float(53), nullable=False),
        sa.Column("load_cpu_s", sa.Float(53), nullable=False),
        sa.Column("call_wall_s", sa.Float(53), nullable=False),
        sa.Column("call_cpu_s", sa.Float(53), nullable=False),
        sa.Column("peak_memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("time_limit_s", sa.Float(53), nullable=False),
        sa.Column("time_budget", sa.String(16), nullable=False),
        sa.Column("memory_limit_bytes", sa.BigInteger(), nullable=False),
        sa.Column("configuration", sa.String(12), nullable=False),
        sa.Column("run_seed", sa.BigInteger(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("runtime", sa.String(16), nullable=False),
        sa.Column("sandbox", sa.String(32), nullable=False),
        sa.Column("versions", sa.Text(), nullable=False),
        sa.Column("harness_version", sa.String(32), nullable=False),
        sa.Column("loader", sa.String(64), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("output_tail", sa.Text(), nullable=False),
    )
    op.create_index("ix_evaluations_key", "evaluations", ["key"])
    op.create_index("ix_evaluations_submission", "evaluations", ["submission"])
    op.create_index("ix_evaluations_task", "evaluations", ["task"])
    op.create_index(
        "ix_evaluations_version", "evaluations", ["submission", "submission_digest", "configuration", "task", "key"]
    )
    op.create_table(
        "requests",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("submission", sa.String(80), nullable=False),
        sa.Column("submission_digest", sa.String(64), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("is_baseline", sa.Boolean(), nullable=False),
        sa.Column("task", sa.String(200), nullable=False),
        sa.Column("configuration", sa.String(12), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("deterministic", sa.Boolean(), nullable=False),
        sa.Column("team", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("paper", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("merged_at", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_requests_submission", "requests", ["submission"])
    op.create_table(
        "runs",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("place", sa.String(12), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("started", sa.String(24), nullable=False),
        sa.Column("beats", sa.Integer(), nullable=False),
    )
