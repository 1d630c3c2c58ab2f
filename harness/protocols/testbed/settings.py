"""The settings of a testbed."""

from dataclasses import dataclass

from harness.errors import UserError

SSIM = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)  #: as in Huang, Yu and Zhang 2025


@dataclass(frozen=True)
class ProbeSettings:
    """The settings of a testbed; invalid values raise `UserError`."""

    ssim: tuple[float, ...] = SSIM  #: structural similarities of noisy and clean images, in (0, 1], ascending to 1
    #: numbers of unseen classes, ascending from 0; None: at most six numbers from 0 to all, in equal steps
    unseen: tuple[int, ...] | None = None
    seed: int = 0  #: seed of the noise

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
