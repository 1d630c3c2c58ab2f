"""The protocol of Huang, Yu and Zhang 2025: how well a network's features suit noisy images and unseen classes."""

from harness.extras import require

require("the testbed", "skimage", "threadpoolctl", "xarray")
