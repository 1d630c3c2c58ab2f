"""Makes a task of existing data, and of existing models that a table lists."""

#: Modules for other rooms.
MODULES = ("data", "run", "stated", "table")
