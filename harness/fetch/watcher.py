"""How a download tells of its progress."""


class Watcher:
    """Is told of the progress of a download, and shows nothing unless a subclass does."""

    def begin(self, what: str, total: int) -> None:
        """Tell that so many bytes will travel; 0 if that is not known."""

    def seen(self, number: int) -> None:
        """Tell that so many bytes have arrived; any thread may do so."""

    def note(self, line: str) -> None:
        """Tell a line to the user."""


UNWATCHED = Watcher()
