"""The names of the file `metadata`, and its known keys."""

FILE_NAMES = ("metadata", "metadata.yaml", "metadata.yml")

#: Keys with free text as values.
TEXTS = ("name", "team", "description", "paper")

#: Allowed values of the key `keras`.
KERAS = ("2", "3")

KEYS = (*TEXTS, "keras")
