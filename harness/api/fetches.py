"""The functions `pgdl.corpora` and `fetch_corpus`: downloads of published corpora."""

from pathlib import Path

from harness.credentials import Address
from harness.errors import UserError
from harness.fetch.catalogue import Corpus, fetched_corpora, find_wanted, known_corpora
from harness.fetch.corpus import FetchedTask
from harness.fetch.corpus import fetch_corpus as fetch
from harness.fetch.source import Watcher
from harness.task import DEFAULT_DIRECTORY
from harness.task.selection import ModelSelection


def corpora(catalogue: Address | None = None, sha256: str | None = None) -> dict[str, Corpus]:
    """Return the corpora that `fetch_corpus` can download: name -> corpus.

    Args:
        catalogue: a file or URL that describes corpora; None: the package's own descriptions.
        sha256: digest of a catalogue that is a URL, in hexadecimal.

    Raises:
        UserError: the catalogue cannot be read, or does not have this digest.
    """
    if catalogue is None or not catalogue.is_url:
        if sha256 is not None:
            raise UserError("--sha256", expected="with the URL of an archive, or of a --catalogue")
        return known_corpora(None if catalogue is None else Path(catalogue.reveal()))
    if sha256 is None:
        raise UserError("--sha256 is missing", file=catalogue, expected="the digest that its owner announced")
    return fetched_corpora(catalogue, sha256)


def fetch_corpus(
    name: str,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    *,
    models: ModelSelection = None,
    catalogue: Address | None = None,
    sha256: str | None = None,
    whole: bool = False,
    watcher: Watcher = Watcher(),  # noqa: B008 - it has no state
) -> list[FetchedTask]:
    """Download the requested files of a corpus, and return its tasks. The same call continues an interrupted download.

    Args:
        name: CORPUS, CORPUS/TASK or CORPUS/PHASE.
        catalogue: as for `corpora`.
        sha256: as for `corpora`.
        whole: download whole archives, from servers that send no parts.
        watcher: shows the download.

    Raises:
        UserError: there is no such corpus or task, or the download fails; finished files are kept.
    """
    wanted = find_wanted(name, corpora(catalogue, sha256))
    return fetch(wanted, Path(tasks_dir), models, watcher, whole=whole, catalogue=catalogue is not None)
