"""The practical generalization metric of Huang, Yu and Zhang, for which the extra `testbed` is installed."""

from harness.extras import require

require("the testbed", "skimage", "threadpoolctl", "xarray")
