"""What Alembic runs: the steps that a database lacks, on the caller's connection."""

from alembic import context

# SQLite changes most columns by copying the table, which Alembic calls a batch.
context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
