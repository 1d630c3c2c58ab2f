"""The protocol of Huang, Yu and Zhang 2025: how well features of a network serve noisy images and unseen classes."""

from harness.extras import require

require("the testbed", "skimage", "threadpoolctl", "xarray")
