"""The optional dependencies of this package ("extras"), and the commands that install them."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit
from urllib.request import url2pathname

from harness.errors import UserError

_NAME = "pgdl-harness"

#: Optional module -> the extra that installs it.
EXTRA_OF = {
    **dict.fromkeys(("keras", "landlockpy", "pyseccomp"), "tensorflow"),
    **dict.fromkeys(("PIL", "matplotlib", "requests", "sklearn"), "run"),
    "psycopg": "postgresql",
    "tensorflow": "tensorflow",
    "pyarrow": "parquet",
    "ray": "ray",
    "tensorflow_datasets": "datasets",
    **dict.fromkeys(("skimage", "threadpoolctl", "xarray"), "testbed"),
}

#: Modules that every framework's extra installs, and the remedy if they are missing.
IN_EVERY_FRAMEWORK = {"keras", "landlockpy", "pyseccomp"}
OF_ANY_FRAMEWORK = ", or with [cpu], [jax] or [torch] in place of [tensorflow]"


def require(purpose: str, *modules: str) -> None:
    """Raise `UserError` if a module is not installed. The message begins with `purpose`."""
    if missing := [module for module in modules if find_spec(module) is None]:
        raise UserError(f"{purpose}; not installed: {', '.join(missing)}", remedy=_install(missing))


def lacking(error: Exception) -> str:
    """Return a line on how to install the module that `error` reports as missing; empty if no extra installs it."""
    module = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if module not in EXTRA_OF:
        return ""
    problem = f"{module} is not installed"
    if module in IN_EVERY_FRAMEWORK:
        problem = f"no extra with a framework is installed ({module} is missing)"
    return f"{problem}; {_install([module])}"


@contextmanager
def extras_named() -> Iterator[None]:
    """Replace an error in the context about a missing module by a `UserError` that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if line := lacking(error):
            raise UserError(line) from error
        raise


def _install(modules: Sequence[str]) -> str:
    command = install(",".join(dict.fromkeys(EXTRA_OF[module] for module in modules)))
    return command + OF_ANY_FRAMEWORK if IN_EVERY_FRAMEWORK.intersection(modules) else command


def install(extra: str) -> str:
    """Return the command that installs an extra, or several extras separated by commas."""
    url, editable = _origin()
    parts = urlsplit(url)
    path = url2pathname(parts.path) if parts.scheme == "file" else ""
    if not url:
        target = f"{_NAME}[{extra}]"
    elif path and Path(path).is_dir():
        target = f"{path}[{extra}]"
    else:
        target = f"{_NAME}[{extra}] @ {url}"
    return f"{_installer()} {'--editable ' if editable else ''}{quote(target)}"


def install_for_gpu(arguments: str) -> str:
    """Return the command that installs a framework with CUDA.

    `arguments` are those of `pip install`; if they are empty, the command installs the extra `gpu` of this package.
    """
    return f"{_installer()} {arguments}" if arguments else install("gpu")


def _installer() -> str:
    """Return the beginning of the command that installs packages: uv, pipx or pip, as used for this package."""
    home = Path(sys.prefix).as_posix()
    if "/uv/tools/" in home:
        return "uv tool install --force"
    if "/pipx/venvs/" in home:
        return "pipx install --force"
    python = quote(sys.executable)
    return f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"


def _origin() -> tuple[str, bool]:
    """Return the address from which this package was installed (empty: a package index), and whether it is editable."""
    try:
        text = metadata.distribution(_NAME).read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # run from a checkout, without installation
        return Path(__file__).parents[1].as_uri(), False
    found = json.loads(text) if text else {}
    url = found.get("url", "")
    if "vcs_info" in found:
        url = f"{found['vcs_info']['vcs']}+{url}@{found['vcs_info']['commit_id']}"
    return url, found.get("dir_info", {}).get("editable", False)
