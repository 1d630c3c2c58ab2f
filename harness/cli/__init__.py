"""The command `pgdl`: one command per file, heavy imports inside the command."""

#: The modules that other rooms use.
MODULES = ("doctor",)
