"""`make science`: trains the corpora, runs the commands, tries the claims, and writes docs/science.md.

Everything is kept in build/science: the same command continues after an interruption.
"""

import subprocess
import sys
from pathlib import Path

from tests.science.claims import CLAIMS
from tests.science.commands import commands
from tests.science.corpora import ROOT, write_recipes
from tests.science.evidence import Evidence
from tests.science.finding import shown
from tests.science.page import write_page
from tests.science.synthetic.run import run_experiment, write_outcomes

#: The command of this environment, and exit codes after which its output is whole.
PGDL, WHOLE = Path(sys.executable).with_name("pgdl"), (0, 1)


def main() -> None:
    """Do everything in build/science."""
    place = Path("build", "science")
    for name, recipe in write_recipes(place / "recipes").items():
        if not (place / "tasks" / "reference_data" / name / "model_configs.json").exists():
            run(["task", "build", str(recipe), "--output", str(place / "tasks")])
    wanted = commands(place)
    for arguments in wanted.values():
        run(arguments)
    if not (synthetic := place / "synthetic.csv").exists():
        write_outcomes(run_experiment(), synthetic)
    evidence = Evidence(place)
    findings = {}
    for claim in CLAIMS:
        findings[claim.text] = claim.check(evidence)
        print(f"{findings[claim.text].verdict}: {claim.text}: {findings[claim.text].number}", flush=True)
    write_page(findings, wanted, ROOT / "docs" / "science.md")


def run(arguments: list[str]) -> None:
    """Run a command of the project; ends everything if it fails."""
    print(shown(arguments), flush=True)
    if subprocess.run([PGDL, *arguments], check=False).returncode not in WHOLE:
        sys.exit(f"failed: {shown(arguments)}")


if __name__ == "__main__":
    main()
