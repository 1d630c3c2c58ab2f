"""The files of a task on disk: one module per kind reads, checks and writes it."""
