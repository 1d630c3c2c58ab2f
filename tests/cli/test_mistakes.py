"""Tests of mistakes on the command line: each is refused in one line with a remedy, before anything is written."""

import shlex
from pathlib import Path

import pytest
from in_process import Pgdl, Record

import baselines
from tests.board.board_examples import rows, write_reference
from tests.throwaway import make_task

FAMILIES = ", ".join(dict.fromkeys(measure.family for measure in baselines.MEASURES.values()))
COLUMNS = "some of chance, p_value, printed, kendall, granulated_kendall, sign_error, robust_sign_error"
LONG = "x" * 300
HARNESS = "expected the harness on GitHub as OWNER/REPOSITORY@COMMIT"
COMMIT = f"lab/pgdl-harness@{'0' * 40}"

#: Command -> what its refusal says, where a task `toy` and records of the submission `mine` are.
MISTAKES = {
    # Commands and options.
    "chekc x": "pgdl: no command 'chekc'; did you mean 'check'?\n",
    "Board": "no command 'Board'; did you mean 'board'?",
    "qqqq": "no command 'qqqq'; pgdl --help lists them",
    "board my_measure": "for one submission: pgdl score my_measure, or pgdl report my_measure",
    "compare vc_dim": "name measures with --measures vc_dim",
    "board --output x.tex": "--output x writes x/leaderboard.tex and other formats, --format latex >",
    "compare --output x.tex": "--output x writes x.tex and other files",
    "compare --output x.png": "--output x writes x.png and other files",
    "compare --output .": "--output comparison writes into it",
    "run depth --sandbox fresh --unsafe-no-sandbox":
        "--unsafe-no-sandbox and --sandbox fresh contradict each other; leave one out",
    "run a.py --as a --as-files": "--as and --as-files contradict each other; leave one out",
    "run depth --docker-runtime runsc":
        "an option of --sandbox docker alone: found --docker-runtime; add --sandbox docker",
    "check depth --sandbox fresh --docker-image x": "an option of --sandbox docker alone: found --docker-image",
    "doctor --ray-address head:6379": "an option of --executor ray alone: found --ray-address; add --executor ray",
    "board --format csv --wide": "pgdl: --wide: expected --format table with it, found csv; leave --wide out",
    "board --format csv --explain": "pgdl: --explain: expected --format table with it, found csv; leave --explain out",
    "compare --columns kendal": f"pgdl: --columns: expected {COLUMNS}, found kendal\n",
    "results --yes": "--yes: expected --remove NAME with it",
    "score --predictions . mine": "--predictions scores files: it cannot be combined with SUBMISSION",
    # Numbers.
    "run depth --time-limit 1e10": "at most 2592000 (30 days)",
    "run depth --tasks models --workers 10000": "expected a number from 1 to ",
    "run depth --tasks models --memory 900G": "to the machine's",
    "run depth --tasks models --memory 1": "G, found 1 byte",
    f"run depth --seed {2**64}": "is not in the range",
    "run depth --seed -1": "is not in the range",
    "ci --min-score nan": "expected a number, found 'nan'",
    "invariance toy --least-accuracy nan": "expected a number, found 'nan'",
    "testbed toy --data digits --lambda nan": "expected a number, found 'nan'",
    # Paths.
    "board --output ''": "expected a path, found ''",
    "board --html ''": "expected a path, found ''",
    "demo ''": "expected a path, found ''",
    "new ''": "expected a path, found ''",
    "results --results ''": "--results: an empty text: expected an address, or the path of a file",
    f"run {LONG}": "",
    f"run task_data/{LONG}": "",
    f"run vc_dim:image_side={'1' * 300}": "",
    f"board --tasks {LONG}": ": File name too long",
    f"task show {LONG}": ": File name too long",
    f"task build --output o {LONG}": ": File name too long",
    "board --tasks missing": "pgdl: missing: no such directory; name",
    "score --reference missing": "pgdl: missing: no such directory; name the directory of the reference data with --r",
    "score --predictions missing": "missing: no such directory: expected a directory with TASK.predict files",
    "score --results missing.db": "pgdl: missing.db: no such results file; run `pgdl run SUBMISSION` first",
    # Names of tasks, submissions, outcomes and pages.
    "score --task tyo": "did you mean 'toy'?",
    "results --task nothing": "no task 'nothing'; there are toy",
    "score nobody": "no records of 'nobody'; recorded here: mine",
    "results --submission mien": "no submission 'mien'; did you mean 'mine'?",
    "results --outcome chrash": "no outcome 'CHRASH'; did you mean 'CRASH'?",
    "help outcmes": "pgdl: no page 'outcmes'; did you mean 'outcomes'?\n",
    "help run": "no page 'run'; pgdl run --help explains the command",
    "help ../README": "no page '../README'; list them with pgdl help",
    "help measures#at-chanc": "no section 'at-chanc'; did you mean 'at-chance'?",
    # Names of measures.
    "check Jacobian_Norm": "did you mean 'jacobian_norm'?",
    "measures VC_DIM": "VC_DIM: no such measure; did you mean 'vc_dim'?",
    "measures qqqqqqq": "pgdl: qqqqqqq: no such measure; pgdl measures lists them\n",
    "measures vc_dim:image_side=8 --cost":
        "vc_dim:image_side=8: parameters are not taken here: expected vc_dim alone, which means its defaults",
    "measures vc_dimm:image_side=8": "vc_dimm: no such measure; did you mean 'vc_dim'?",
    "measures vc_dim --family norm": "--family norm: expected without the name of a measure, found vc_dim",
    "measures vc_dim --cost many": "--cost many: expected without the name of a measure, found vc_dim",
    "measures --cost forwards": "forwards: no such cost; did you mean 'forward'?",
    "measures --cost F": "F: no such cost; there are weights, forward, gradients, many, cheap",
    "measures --cost many --family control": "no measure of the family control has the cost many",
    "measures --family nrom": "nrom: no such family; did you mean 'norm'?",
    "measures --family qqqqqqq": f"qqqqqqq: no such family; there are {FAMILIES}\n",
    "compare --measures sise": "measures: no measure, family or cost 'sise'; did you mean 'size'?",
    "compare --measures num_parms": "measures: no measure, family or cost 'num_parms'; did you mean 'num_params'?",
    "compare --measures ''": "measures: no measure, family or cost ''; pgdl measures lists them",
    "compare --measures vc_dim:image_sid=3": "did you mean 'image_side'?",
    # Names of new submissions.
    "new 'a: b'": "a: b: not a valid name: expected at most 80 ASCII letters, digits",
    "new '# one'": "# one: not a valid name: expected at most 80 ASCII letters, digits",
    "new 'back\\N'": "not a valid name: expected at most 80 ASCII letters, digits",
    "new '\"\"\"'": "not a valid name: expected at most 80 ASCII letters, digits",
    "new board --ci lab/pgdl-harness@main": f"--ci: {HARNESS}",
    f"new board --ci 'lab/pgdl\nx@{'0' * 40}'": f"--ci: {HARNESS}",
    f"new board --ci {COMMIT} --runtime jax": "no framework goes with --ci: found --runtime; leave it out",
    "new mine.py": "pgdl: mine.py: already exists; choose another name\n",
    "new task_data": "pgdl: task_data: already exists; choose another name\n",
    "new mine.py/below": "",
    # Results for programs: a mistake is no JSON.
    "report nobody --format json": "no records of 'nobody'",
    "verify nothing --format json": "",
    "ci --head nowhere --format json": "",
}  # fmt: skip

#: Command -> what its refusal says below the usage.
USAGE = {
    "score --taks x": "Did you mean",
    "run": "Missing argument 'SUBMISSION...'",
    "new": "Missing argument 'NAME'",
    "board --format pdf": "'pdf' is not one of 'csv', 'json', 'latex', 'markdown', 'parquet', 'table'",
    "run x --time-limit 0": "or a time such as 90s, 5m or 2h, at most 2592000 (30 days), found '0'",
    "run x --runtime mxnet": "'mxnet' is not one of 'jax', 'keras2', 'tensorflow', 'torch'",
    "run x --workers 0": "or auto, found '0'",
    "run x --memory lots": "expected a size such as 512M or 4G, found 'lots'",
    "run x --seed 1.5": "'1.5' is not a valid integer",
}


def test_each_is_refused_with_a_remedy(
    pgdl: Pgdl, folder: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reference(folder / "task_data")
    make_task(folder / "models", n_models=1)
    record(rows("mine"))
    (folder / "mine.py").touch()
    before = sorted(folder.rglob("*"))
    said = {command: pgdl(*shlex.split(command)).refusal() for command in MISTAKES | USAGE}
    assert {command: text for command, text in said.items() if (MISTAKES | USAGE)[command] not in text} == {}
    assert [command for command in USAGE if not said[command].startswith("Usage: ")] == []
    assert sorted(folder.rglob("*")) == before
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    refusal = pgdl("board", "--format", "parquet").refusal()
    assert refusal == "pgdl: --format parquet is not for a terminal; add > FILE\n"
