"""Steps from each version of the tables to the next, for Alembic."""
