"""Downloads tasks: a whole archive whose digest is known, or requested tasks of a known corpus."""

#: Modules for other rooms.
MODULES = ("archive", "catalogue", "corpus", "remote", "session", "source")
