"""The first version, whose databases have no stamp."""

revision = "1"
down_revision = None


def upgrade() -> None:
    """Do nothing: the tables are there."""
