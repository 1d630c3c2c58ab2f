"""Scatter plots in pixels. Templates draw them in SVG, and assets/plots.js adds interaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.site.axis import Axis
from harness.text import cut

#: Size of a plot, and edges of the frame around its dots, in pixels.
WIDTH, HEIGHT = 560, 350
LEFT, TOP, RIGHT, BOTTOM = 52, 26, 542, 300

#: In pixels on a phone: width of a character, height of a line, distance of a name from its dot, radius of a dot, and
#: distance of the labels of ticks from the frame.
CHARACTER, LINE, BESIDE, RADIUS, TICKS = 9, 18, 9, 5, 13

#: Maximum number of characters of a name.
LONGEST = 24


@dataclass(frozen=True)
class Dot:
    """A model, or a row of a board, in a plot."""

    text: str  #: description, which the page shows if a reader points at the dot
    codes: Sequence[int]  #: for each of the plot's legends, the number of the dot's colour
    page: str = ""  #: path of the row's page; empty for a model
    name: str = ""  #: text that is drawn beside the dot if there is room
    interval: tuple[float, float] | None = None  #: interval of the dot's y value, to draw as a bar
    is_ringed: bool = False  #: whether the dot has an edge; the names of such dots are placed first


@dataclass(frozen=True)
class View:
    """One way to show the dots of a plot: two axes, and the coordinates of each dot on them."""

    x_axis: Axis
    y_axis: Axis
    x_title: str
    y_title: str
    points: Sequence[tuple[float, float]]  #: x and y of each dot
    given_ticks: Sequence[tuple[float, str]] = ()  #: ticks of x with their labels; empty: at round numbers

    @property
    def x_ticks(self) -> list[tuple[float, str]]:
        """Ticks of x: place in pixels, and label."""
        chosen = self.given_ticks or [(tick, f"{tick:g}") for tick in self.x_axis.ticks]
        return [(self._across(tick), text) for tick, text in chosen]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """Ticks of y: place in pixels, and label."""
        return [(self.up(tick), f"{tick:g}") for tick in self.y_axis.ticks]

    @property
    def places(self) -> list[tuple[float, float]]:
        """X and y of each dot, in pixels."""
        return [(self._across(x), self.up(y)) for x, y in self.points]

    def _across(self, number: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * self.x_axis.place(number) / 100, 1)

    def up(self, number: float) -> float:
        """Return the place of a number on the axis of y, in pixels."""
        return round(BOTTOM - (BOTTOM - TOP) * self.y_axis.place(number) / 100, 1)


@dataclass(frozen=True)
class Drawing:
    """A plot. Readers choose a view and a legend (the meaning of colours); at first, a page shows the first of both."""

    kind: str  #: CSS class of the plot
    dots: Sequence[Dot]
    views: Mapping[str, View]  #: name -> view
    legends: Mapping[str, Sequence[str]] = field(default_factory=dict)  #: name -> meaning of each colour, by number
    width, height, left, top, right, bottom = WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM

    @property
    def view(self) -> View:
        """The view that readers see first."""
        return next(iter(self.views.values()))

    @property
    def names(self) -> list[tuple[float, float, str, str]]:
        """The names that fit beside their dots, each as (x, y, alignment, text)."""
        found: list[tuple[float, float, str, str]] = []
        halves = [(at, CHARACTER * len(text) / 2) for at, text in self.view.x_ticks]
        taken = [(at - half, at + half, float(BOTTOM + TICKS)) for at, half in halves]
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
