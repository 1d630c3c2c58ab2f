"""The testbed of practical generalization of Huang, Yu and Zhang 2025. This package needs the extra `testbed`."""

from harness.extras import require

require("the testbed", "skimage", "threadpoolctl", "xarray")
