"""The settings of a testbed."""

from dataclasses import dataclass

from harness.errors import UserError

#: The structural similarities of noisy images in Huang, Yu and Zhang 2025.
SSIM = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class ProbeSettings:
    """The axes of the cells besides the backbones, and the seed of the noise. Raises `UserError` for invalid axes."""

    #: structural similarities of noisy images with the clean images, ascending in (0, 1]; the last is 1
    ssim: tuple[float, ...] = SSIM
    #: numbers of unseen classes, ascending from 0; None for at most six numbers in equal steps from 0 to all
    unseen: tuple[int, ...] | None = None
    seed: int = 0  #: draws the noise

    def __post_init__(self) -> None:
        shown = ", ".join(map(str, self.ssim)) or "none"
        if not all(0 < level <= 1 for level in self.ssim):
            raise UserError("SSIM", expected="numbers above 0, at most 1", found=shown)
        if sorted(set(self.ssim)) != list(self.ssim) or 1 not in self.ssim:
            raise UserError("SSIM", expected="ascending numbers, the last 1: the clean images", found=shown)
        levels = self.unseen
        if levels is not None and (sorted(set(levels)) != list(levels) or levels[:1] != (0,)):
            found = ", ".join(map(str, levels)) or "none"
            raise UserError("numbers of unseen classes", expected="ascending numbers from 0", found=found)
