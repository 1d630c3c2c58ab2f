"""The settings of the overfitting test: largest shifts, examples, choice of a shift, edges of images."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import Choice, UserError
from harness.protocols.subject import Split

DEFAULT_RADII = tuple(range(1, 6))  #: default values of the largest shift in pixels
MOST = 1000  #: largest radius that a user may request, in pixels


class Generator(Choice):
    """The rule that chooses an image's adversarial example among its misclassified shifts."""

    STRONGEST = "strongest"  #: the shift with the largest margin
    NEAREST = "nearest"  #: the smallest shift


class Edges(Choice):
    """What fills the pixels that a shift leaves empty: black, or the pixels shifted out at the opposite edge."""

    BLACK = "black"
    WRAP = "wrap"


@dataclass(frozen=True)
class OverfitSettings:
    """The settings of the overfitting test."""

    radii: tuple[int, ...] = ()  #: largest shifts in pixels, ascending; empty for the defaults that the images allow
    split: Split = "test"  #: the examples to test
    generator: Generator = Generator.STRONGEST
    edges: Edges = Edges.BLACK


def parse_radii(text: str) -> tuple[int, ...]:
    """Return the radii in a text such as `3`, `1,2,4` or `1..5`, ascending; raise `ValueError` for any other text."""
    if match := re.fullmatch(r"([0-9]{1,4})\.\.([0-9]{1,4})", text.strip()):
        radii = list(range(int(match[1]), int(match[2]) + 1))
    else:
        radii = [int(part) for part in text.split(",") if re.fullmatch(r"[0-9]{1,4}", part.strip())]
        if len(radii) < text.count(",") + 1:
            radii = []
    if not radii or min(radii) < 1 or max(radii) > MOST:
        raise ValueError(f"expected numbers of pixels from 1, such as 3 or 1,2,4 or 1..5, found {text!r}")
    return tuple(sorted(set(radii)))


def possible_radii(wanted: Sequence[int], input_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the radii `wanted`, ascending, by default the radii in `DEFAULT_RADII` that the images allow.

    Images are shifted by up to three times the radius, and part of each image must remain visible. Raise `UserError` if
    the inputs are no images (height, width, channels), or are too small.
    """
    if len(input_shape) != 3:
        raise UserError("inputs", expected="images of shape (height, width, channels)", found=f"shape {input_shape}")
    side = min(input_shape[:2])
    largest = (side - 1) // 3
    if largest < 1:
        raise UserError("images", expected="at least 4 pixels high and wide", found="x".join(map(str, input_shape[:2])))
    if wanted and min(wanted) < 1:
        raise UserError("epsilon", expected="1 or more", found=min(wanted))
    if wanted and max(wanted) > largest:
        expected = f"at most {largest}: shifts by 3 epsilon must leave something of images of {side} pixels"
        raise UserError("epsilon", expected=expected, found=max(wanted), remedy=f"use --epsilon 1..{largest}")
    return tuple(sorted(set(wanted))) or tuple(radius for radius in DEFAULT_RADII if radius <= largest)
