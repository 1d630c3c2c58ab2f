"""The command `pgdl`: one command per file, heavy imports inside the command."""
