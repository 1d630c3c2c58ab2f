"""Downloads tasks: a whole archive whose digest the user states, or requested tasks of a known corpus."""

#: Modules that other packages of `harness` may import.
MODULES = ("archive", "catalogue", "corpus", "remote", "session")
