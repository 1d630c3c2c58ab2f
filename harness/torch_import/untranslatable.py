"""Why a network cannot be translated."""

#: Remedies for an operation without a translation, and for the network of a module in training mode.
BY_HAND = "pgdl help your-own-models says what is translated, and how to rebuild the rest in Keras"
EVALUATE = "the module was in training mode: call module.eval() before the export"


class UntranslatableError(Exception):
    """An operation without a translation; the message follows the name of the operation, and the remedy the message."""

    def __init__(self, reason: str, remedy: str = BY_HAND) -> None:
        super().__init__(reason)
        self.remedy = remedy
