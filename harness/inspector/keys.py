"""The possible names of a submission's metadata file, and the keys in it that the harness knows."""

#: Names of the file. If several exist, the first is used.
FILE_NAMES = ("metadata", "metadata.yaml", "metadata.yml")

#: Keys whose values are free text.
TEXTS = ("name", "team", "description", "paper")

#: Key with a choice of values -> the values.
CHOICES = {"runtime": ("tensorflow", "keras2", "jax", "torch"), "keras": ("2", "3"), "deterministic": ("true", "false")}

KEYS = (*TEXTS, *CHOICES)
