"""The files of a task on disk: one module for each kind knows how it is read, checked and written."""
