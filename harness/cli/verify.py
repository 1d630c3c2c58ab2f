"""`pgdl verify`: recomputes a site of `pgdl board --html` from the records in the site, and compares the files."""

from pathlib import Path

import click

from harness.cli import as_json, options
from harness.printing import say


@click.command("verify")
@click.argument("directory", metavar="DIR", type=options.PATH)
@as_json.option
def command(directory: Path, form: str) -> int:
    """Compute the site in DIR again from its records, and compare every file.

    Needs neither models nor TensorFlow. Exit code 1 if a file differs, is missing, or is not part of the site; 2 if
    data/ is malformed or contradicts its digests, so that no page can be computed. Rounded results on hidden tasks are
    not checked, and last digits of unrounded numbers may differ. To check the records themselves, compare the printed
    digest with the digest that the organiser announced.
    """
    from dataclasses import asdict

    from harness.site import verify_site

    found = verify_site(directory)
    if form == as_json.JSON:
        as_json.show({"verified": not found.differences} | asdict(found))
    elif found.differences:
        say(*found.differences)
    else:
        say(f"Verified: {found.n_files} files are as computed from {found.n_records} records.")
        if found.withheld:
            say(f"Not checked: rounded results on hidden tasks ({', '.join(found.withheld)}).")
        say(f"Digest of all records: {found.head}")
    return int(bool(found.differences))
