"""The practical generalization metric of Huang, Yu and Zhang, for which the extra `testbed` is installed."""

from importlib.util import find_spec

from harness.errors import UserError

#: What the extra `testbed` installs: nothing else of the project needs it.
_MODULES = {"skimage": "scikit-image", "threadpoolctl": "threadpoolctl", "xarray": "xarray"}

if _missing := [library for module, library in _MODULES.items() if find_spec(module) is None]:
    raise UserError(f"the testbed lacks {', '.join(_missing)}", remedy="pip install 'pgdl-harness[testbed]'")
