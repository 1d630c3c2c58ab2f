"""The calls of a functional model's layers, and the order in which Keras lists its layers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: Number of the model's input, where others have the number of a call.
INPUT = -1


@dataclass(frozen=True)
class LayerCall:
    """One call of a layer; a shared layer is called more than once.

    Attributes:
        layer: number of the layer.
        inputs: the calls whose outputs it takes in, or `INPUT`.
        keywords: arguments passed by name: a call's number, or true or false.
    """

    layer: int
    inputs: tuple[int, ...]
    keywords: Mapping[str, int | bool] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[int, ...]:
        """All calls whose outputs it takes in, in the order in which Keras visits them."""
        named = (self.keywords[name] for name in sorted(self.keywords))
        return (*self.inputs, *(source for source in named if not isinstance(source, bool)))


def keras_order(calls: Sequence[LayerCall], output: int) -> list[int]:
    """Return the calls that lead to `output`, in the order in which Keras 2 and Keras 3 list their layers.

    A shared layer is listed where its first call is, so that the order of the layers is that of `get_weights()`.
    Calls farther from the output (by the longest path) come first, and a shared layer counts as far as its farthest
    call; ties are in the order in which a depth-first walk from the output first visits the layers.

    Args:
        calls: each takes in outputs of earlier ones only.
        output: number of the call that gives the output of the model.
    """
    visited: dict[int, int] = {}  # layer -> number, in the order of the walk
    upstream_first: list[int] = []
    seen: set[int] = set()
    pending = [(output, False)]
    while pending:
        call, is_finished = pending.pop()
        if is_finished:
            upstream_first.append(call)
        elif call != INPUT and call not in seen:
            seen.add(call)
            visited.setdefault(calls[call].layer, len(visited))
            pending.append((call, True))
            pending.extend((source, False) for source in reversed(calls[call].sources))
    distance = dict.fromkeys(upstream_first, 0)
    farthest: dict[int, int] = {}  # of a layer's calls so far
    for call in reversed(upstream_first):
        layer = calls[call].layer
        distance[call] = farthest[layer] = max(distance[call], farthest.get(layer, 0))
        for source in calls[call].sources:
            if source != INPUT:
                distance[source] = max(distance[source], distance[call] + 1)
    return sorted(upstream_first, key=lambda call: (-distance[call], visited[calls[call].layer]))
