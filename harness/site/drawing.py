"""Drawings of dots in a frame, in pixels: templates make SVG of them, and assets/plots.js lets readers ask them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.site.axis import Axis
from harness.text import cut

#: Pixels: the drawing, and the frame in it.
WIDTH, HEIGHT = 560, 350
LEFT, TOP, RIGHT, BOTTOM = 52, 26, 542, 300

#: Pixels of a character and a line on a phone; characters of a name; pixels from its dot, and of a dot's radius.
CHARACTER, LINE, LONGEST, BESIDE, RADIUS = 9, 18, 24, 9, 5


@dataclass(frozen=True)
class Dot:
    """A model or a row.

    Attributes:
        text: what is said of it.
        codes: the number of its colour by each of the drawing's legends.
        page: path of the page of the row; empty for a model.
        name: stands beside it where there is room; may be empty.
        interval: of its y.
        is_ringed: it has an edge, and its name goes before others.
    """

    text: str
    codes: Sequence[int]
    page: str = ""
    name: str = ""
    interval: tuple[float, float] | None = None
    is_ringed: bool = False


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
        """Return x, y, side and text of the names with room beside their dots; a ringed dot's may cover dots."""
        found: list[tuple[float, float, str, str]] = []
        taken: list[tuple[float, float, float]] = []
        dots = [(x - RADIUS, x + RADIUS, y) for x, y in self.view.places]
        named = [(dot, place) for dot, place in zip(self.dots, self.view.places, strict=True) if dot.name]
        for dot, (x, y) in sorted(named, key=lambda pair: not pair[0].is_ringed):
            length = CHARACTER * len(text := cut(dot.name, LONGEST))
            boxes = taken if dot.is_ringed else taken + dots
            for side, at, low in ("start", x + BESIDE, x + BESIDE), ("end", x - BESIDE, x - BESIDE - length):
                free = all(abs(y - other) >= LINE or low + length < left or right < low for left, right, other in boxes)
                if free and LEFT <= low <= RIGHT - length:
                    taken.append((low, low + length, y))
                    found.append((at, y + 4, side, text))
                    break
        return found
