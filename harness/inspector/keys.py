"""The file `metadata`: what it may be called, and which of its keys mean something."""

FILE_NAMES = ("metadata", "metadata.yaml", "metadata.yml")

#: Keys whose values are texts.
TEXTS = ("name", "team", "description", "paper")

#: What the key `keras` may say.
KERAS = ("2", "3")

KEYS = (*TEXTS, "keras")
