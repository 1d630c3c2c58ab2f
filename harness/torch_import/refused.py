"""Why a network cannot be translated."""


class RefusedError(Exception):
    """An operation has no translation; the message says what it does, in words that follow its name."""
