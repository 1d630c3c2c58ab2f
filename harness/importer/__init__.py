"""Makes a task from existing data, and from existing models that a table lists."""

#: Modules for other rooms.
MODULES = ("data", "run", "stated", "table")
