"""Requests have what a submission says of itself."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add team, description and paper, which are not known of earlier requests."""
    with op.batch_alter_table("requests") as table:
        for name in ("team", "description", "paper"):
            table.add_column(sa.Column(name, sa.Text(), nullable=False, server_default=""))
