"""Makes a task of existing models and data, which a table lists."""

#: Modules for other rooms.
MODULES = ("data", "run", "stated", "table")
