"""The files of a task on disk: one module per kind reads, checks and writes it."""

#: The modules that other rooms use.
MODULES = (
    "architecture", "archive", "arrays", "fetched", "files", "hdf5", "images", "keras_file", "kinds",
    "layer_settings", "layout", "listed_weights", "mark", "output", "problems", "reference", "scan", "shards",
    "variables", "weights", "whole_model", "writer",
)  # fmt: skip
