"""The smallest images that the networks of a recipe take: pooling and strides without padding make them smaller."""

from collections.abc import Sequence

from harness.corpus.families import FAMILIES, Layer
from harness.corpus.recipe import Cell, Recipe
from harness.errors import UserError


def require_large_images(recipe: Recipe, height: int, width: int) -> None:
    """Raise `UserError` if the images are too small for a network of the recipe, whichever are to be trained."""
    needed = [(_smallest_side(recipe, cell), cell) for cell in recipe.cells]
    too_small = [(side, cell) for side, cell in needed if side > min(height, width)]
    if too_small:
        side, cell = max(too_small, key=lambda one: one[0])
        settings = ", ".join(f"{name} {value}" for name, value in cell.architecture.items())
        example = f"{recipe.family} ({settings or 'defaults'})"
        raise UserError(
            f"images are too small for {len(too_small)} of {len(needed)} models, such as {example}",
            file=recipe.file,
            expected=f"at least {side} x {side} pixels",
            found=f"{height} x {width}",
            remedy="change the architecture or its grid, or data.resize",
        )


def _smallest_side(recipe: Recipe, cell: Cell) -> int:
    return smallest_side(FAMILIES[recipe.family](2, **cell.architecture))


def smallest_side(layers: Sequence[Layer]) -> int:
    """Return the smallest side of square images, in pixels, from which every layer has an output."""
    sides = [1] * (len(layers) + 1)  # of the input of the network, and of the output of each layer
    for position in reversed(range(len(layers))):
        side = _side_before(layers[position], sides[position + 1])
        for other in layers[position].get("inputs", [position - 1]):
            sides[other + 1] = max(sides[other + 1], side)
    return sides[0]


def _side_before(layer: Layer, side: int) -> int:
    """Return the smallest side of a layer's input from which its output has at least the given side."""
    if layer["layer_name"] in ("Flatten", "GlobalAveragePooling2D"):
        return 1
    pool: list[int] = layer.get("pool_size", [1])
    (size, *_), (stride, *_) = layer.get("kernel_size", pool), layer.get("strides", pool)
    return (side - 1) * int(stride) + (1 if layer.get("padding") == "same" else int(size))
