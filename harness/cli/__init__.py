"""The program `pgdl`: a file for each command, which imports slow libraries only when the command runs."""
