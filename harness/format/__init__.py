"""The files of a task on disk: one module per kind reads, checks and writes it."""

#: The modules that other rooms use.
MODULES = (
    "architecture", "archive", "arrays", "fetched", "files", "hdf5", "images", "kinds",
    "layer_settings", "layout", "mark", "output", "problems", "reference", "saved_models", "scan", "shards",
    "variables", "weights", "writer",
)  # fmt: skip
