"""The files of a task: a module for each kind of file reads, checks and writes it."""
