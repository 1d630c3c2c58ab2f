"""Mutated files: changes that suit a file's form, and changes of any bytes."""

from contextlib import suppress

from tests.fuzz.archive_changes import changed_gzip, changed_png, changed_records, changed_tar, changed_zip
from tests.fuzz.array_changes import changed_array, changed_hdf5
from tests.fuzz.byte_changes import MOST, Change, Random, changed
from tests.fuzz.database_changes import changed_database
from tests.fuzz.text_changes import changed_json, changed_json_line, changed_text

#: Forms of which only whole files are changed by a library, as it may crash on others.
_ONCE = ("h5", "hdf5", "keras")


def mutated(content: bytes, form: str, chance: Random) -> bytes:
    """Return another content for a file of some form, the suffix of its name; at times it is no longer of that form."""
    suitable = _FORMS.get(form)
    for number in range(chance.choice((1, 1, 1, 2, 5))):
        if suitable is not None and chance.random() < 0.75 and not (number and form in _ONCE):
            with suppress(Exception):  # what is no longer of the form
                content = suitable(content, chance)
        else:
            content = changed(content, chance)
    return content[: 4 * MOST]


def _zip(content: bytes, chance: Random) -> bytes:
    return changed_zip(content, chance, mutated)


_FORMS: dict[str, Change] = {
    "json": changed_json, "predict": changed_json, "jsonl": changed_json_line, "yaml": changed_text,
    "metadata": changed_text, "toml": changed_text, "csv": changed_text, "py": changed_text, "html": changed_text,
    "zip": _zip, "npz": _zip, "keras": _zip, "tar": changed_tar, "gz": changed_gzip, "tfrecord": changed_records,
    "h5": changed_hdf5, "hdf5": changed_hdf5, "npy": changed_array, "png": changed_png, "db": changed_database,
}  # fmt: skip
