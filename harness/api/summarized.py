"""Results that a notebook shows as a board."""

from harness.board.board import Board


class ShownAsBoard:
    """A result that a notebook shows as its board. A subclass that is a dataclass needs `repr=False`."""

    board: Board

    def __repr__(self) -> str:
        return repr(self.board)

    def _repr_html_(self) -> str:
        return self.board._repr_html_()
