"""`pgdl verify`: checks a site of `pgdl board --html`."""

from pathlib import Path

import click

from harness.cli import as_json
from harness.printing import say


@click.command("verify")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@as_json.option
def command(directory: Path, form: str) -> int:
    """Compute every number of the site in DIR again from its records, and compare every byte.

    Needs neither models nor TensorFlow. Exit code 1 if anything differs. The records themselves are taken as true:
    compare the printed digest with the digest that the organiser announced. Results on hidden tasks are taken as given.
    """
    from dataclasses import asdict

    from harness.site import verify_site

    found = verify_site(directory)
    if form == as_json.JSON:
        as_json.show({"verified": not found.differences} | asdict(found))
        return int(bool(found.differences))
    for line in found.differences:
        say(line)
    if found.differences:
        return 1
    say(f"Verified: {found.n_files} files are as computed from {found.n_records} records.")
    if found.withheld:
        say(f"Taken as given: rounded results on hidden tasks ({', '.join(found.withheld)}).")
    say(f"Digest of all records: {found.head}")
    return 0
