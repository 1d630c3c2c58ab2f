"""Downloads tasks: all of an archive whose digest is known, or what is asked for of a known corpus."""

#: The modules that other rooms use.
MODULES = ("archive", "catalogue", "corpus", "remote", "session", "source")
