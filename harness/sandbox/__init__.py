"""Runs one call of a submission in a sandbox of its own, under limits that the harness enforces."""
