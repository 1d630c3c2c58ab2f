"""Why a network cannot be translated."""


class RefusedError(Exception):
    """An operation without a translation; the message follows the name of the operation."""
