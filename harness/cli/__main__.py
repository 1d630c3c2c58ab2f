"""`python -m harness.cli` is `pgdl`.

Python puts the current directory first on the module path; a stranger's files may lie there.
"""

import os
import sys

if not sys.flags.safe_path:
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120

from harness.cli.start import main

main()
