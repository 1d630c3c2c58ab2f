"""`make science`: trains the corpora, runs the commands, tries the claims, and writes docs/science.md.

    python -m tests.studies.science [digits] [fashion_mnist] [synthetic]

Without names, all settings are tried. Everything is kept in build/science, so the same command resumes an interrupted
run.
"""

import subprocess
import sys
from pathlib import Path

from harness.errors import UserError
from tests.studies.science.claims import CLAIMS
from tests.studies.science.commands import commands
from tests.studies.science.corpora import write_recipes
from tests.studies.science.evidence import Evidence, Missing
from tests.studies.science.finding import Claim, Finding, Verdict, shown
from tests.studies.science.kept import write_findings
from tests.studies.science.page import write_page
from tests.studies.science.settings import SETTINGS, SYNTHETIC, Setting
from tests.studies.science.synthetic.run import run_experiment, write_outcomes

#: Where the evidence of a setting is made, below the working directory.
EVIDENCE = Path("build", "science")

#: The command of this environment, and exit codes after which its output is whole.
PGDL, WHOLE = Path(sys.executable).with_name("pgdl"), (0, 1)


def main(names: list[str]) -> None:
    """Try the claims in the named settings, by default in all."""
    if unknown := set(names) - set(SETTINGS):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; settings are {', '.join(SETTINGS)}")
    for setting in map(SETTINGS.__getitem__, names or SETTINGS):
        evidence = Evidence(EVIDENCE / setting.name, setting)
        try:
            make_evidence(evidence.place, setting)
        except UserError as error:
            sys.exit(str(error))
        claims = [claim for claim in CLAIMS if setting.name in claim.power]
        write_findings(setting, {claim.text: tried(claim, evidence) for claim in claims})
        write_page()


def make_evidence(place: Path, setting: Setting) -> None:
    """Train the corpora of a setting and run its commands; results of an earlier run are kept."""
    if setting is SYNTHETIC:
        if not (place / "synthetic.csv").exists():
            write_outcomes(run_experiment(), place / "synthetic.csv")
        return
    for name, recipe in write_recipes(place / "recipes", setting).items():
        if not (place / "tasks" / "reference_data" / name / "model_configs.json").exists():
            run(["task", "build", str(recipe), "--output", str(place / "tasks")])
    for arguments in commands(place, setting).values():
        run(arguments)


def tried(claim: Claim, evidence: Evidence) -> Finding:
    """Try a claim, print the finding, and return it."""
    try:
        found = claim.check(evidence)
    except Missing as missing:
        found = Finding("", "", Verdict.NOT_TRIED, remark=str(missing))
    print(f"{found.verdict}: {claim.text}: {found.number}", flush=True)
    return found


def run(arguments: list[str]) -> None:
    """Run a `pgdl` command; exit if it fails."""
    print(shown(arguments), flush=True)
    if subprocess.run([PGDL, *arguments], check=False).returncode not in WHOLE:
        sys.exit(f"failed: {shown(arguments)}")


if __name__ == "__main__":
    main(sys.argv[1:])
