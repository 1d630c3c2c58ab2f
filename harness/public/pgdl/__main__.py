"""The command `pgdl`, also as `python -I -m pgdl`.

Our packages are imported only after `_require_own`: another project may have a package that is called `harness`, too.
"""

import importlib.util
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

#: Our packages with names that another project may use, too.
PACKAGES = ("harness", "scoring", "baselines")

_INSTALLED, _, _CHECKOUT = Path(__file__).resolve().parents[1:4]

#: Directory of our packages: site-packages, or the root of a checkout.
HOME = _CHECKOUT if _INSTALLED.name == "public" else _INSTALLED


def main() -> NoReturn:
    """Run the command line. Ctrl-C during its imports ends the process without a traceback."""
    if sys.platform == "win32":
        _refuse("expected Linux or macOS, found Windows; use pgdl in WSL (Windows Subsystem for Linux)")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise the caller ignores it
        signal.signal(signal.SIGINT, _end)
    for name in PACKAGES:
        _require_own(name)
    from harness.cli.main import main as run  # here: the import takes a tenth of a second

    run()


def _require_own(name: str) -> None:
    """Print an error and exit if another package of the same name hides ours."""
    spec = importlib.util.find_spec(name)
    places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or ())]
    where = next((place for place in places if place), name)
    if Path(where).resolve().parent != HOME / name:
        remedy = f"remove it from the path, or start pgdl in another directory; ours is {HOME / name}"
        _refuse(f"{where}: another package is called '{name}'; {remedy}")


def _refuse(line: str) -> NoReturn:
    print(ascii(f"pgdl: {line}")[1:-1], file=sys.stderr)
    sys.exit(2)


def _end(*_: object) -> NoReturn:
    os.write(2, b"pgdl: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    if not sys.flags.safe_path:  # the first entry is the current directory, where files may be a stranger's
        sys.path[0] = str(HOME)
    main()
