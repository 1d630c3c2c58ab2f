"""Drawings of dots in a frame, in pixels: templates make SVG of them, and assets/plots.js lets readers ask them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.site.axis import Axis
from harness.text import cut

#: Pixels: the drawing, and the frame in it.
WIDTH, HEIGHT = 560, 350
LEFT, TOP, RIGHT, BOTTOM = 52, 26, 542, 300

#: Pixels of a character and of a line, by which names keep apart; characters of a name; distance from its dot.
CHARACTER, LINE, LONGEST, BESIDE = 7, 15, 28, 9


@dataclass(frozen=True)
class Dot:
    """A model or a row.

    Attributes:
        text: what is said of it.
        codes: the number of its colour by each of the drawing's legends.
        page: the path of its page, if it has one.
        name: stands beside it, and it is ringed; empty for most.
        interval: of its y.
    """

    text: str
    codes: Sequence[int]
    page: str = ""
    name: str = ""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class View:
    """Two axes with their titles and the place of each dot on them; ticks are round numbers, unless they are given."""

    x_axis: Axis
    y_axis: Axis
    x_title: str
    y_title: str
    points: Sequence[tuple[float, float]]
    given_ticks: Sequence[tuple[float, str]] = ()

    @property
    def x_ticks(self) -> list[tuple[float, str]]:
        """Pixels and labels of the ticks of x."""
        chosen = self.given_ticks or [(tick, f"{tick:g}") for tick in self.x_axis.ticks]
        return [(self._across(tick), text) for tick, text in chosen]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """Pixels and labels of the ticks of y."""
        return [(self.up(tick), f"{tick:g}") for tick in self.y_axis.ticks]

    @property
    def places(self) -> list[tuple[float, float]]:
        """Pixels of the dots."""
        return [(self._across(x), self.up(y)) for x, y in self.points]

    def _across(self, number: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * self.x_axis.place(number) / 100, 1)

    def up(self, number: float) -> float:
        """Return the pixels of a number on the axis of y."""
        return round(BOTTOM - (BOTTOM - TOP) * self.y_axis.place(number) / 100, 1)


@dataclass(frozen=True)
class Drawing:
    """Dots in one or several views, the first of which is seen at first.

    Attributes:
        kind: names the drawing in the page.
        views: name -> view; a reader chooses among several.
        legends: name -> texts of its colours; dots have those of the first, until a reader chooses another.
    """

    kind: str
    dots: Sequence[Dot]
    views: Mapping[str, View]
    legends: Mapping[str, Sequence[str]] = field(default_factory=dict)
    width, height, left, top, right, bottom = WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM

    @property
    def view(self) -> View:
        """The first view."""
        return next(iter(self.views.values()))

    @property
    def names(self) -> list[tuple[float, float, str, str]]:
        """Return x, y, side and text of the names of ringed dots, beside their dots; none overlaps an earlier one."""
        found: list[tuple[float, float, str, str]] = []
        taken: list[tuple[float, float, float]] = []
        for dot, (x, y) in zip(self.dots, self.view.places, strict=True):
            text = cut(dot.name, LONGEST)
            length, is_left = CHARACTER * len(text), x > (LEFT + RIGHT) / 2
            start, end = (x - BESIDE - length, x - BESIDE) if is_left else (x + BESIDE, x + BESIDE + length)
            free = all(abs(y - other) >= LINE or end < low or high < start for low, high, other in taken)
            if dot.name and free:
                taken.append((start, end, y))
                found.append((end if is_left else start, y + 4, "end" if is_left else "start", text))
        return found
