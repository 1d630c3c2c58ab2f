"""The program `pgdl`: a file for each command. The file imports slow libraries only when the command runs."""
