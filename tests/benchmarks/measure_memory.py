"""Peak memory of measures at real size: the table of docs/measures.md.

    nice python -m tests.benchmarks.measure_memory TASKS RESULTS [cost ...]

Calls the measures of these costs, `weights` and `forward` if none is named, on a task of `real_size`, and prints a line
for each. The calls of a network share a sandbox, as they do in any run: a peak includes the results that are kept for
the next measures (256 MiB at the most). The command can be interrupted and repeated.
"""

import subprocess
import sys

import baselines
from harness.api import open_results


def main(tasks: str, results: str, *costs: str) -> None:
    """Make the calls that are missing, and print the table."""
    names = [name for name, one in baselines.MEASURES.items() if one.cost in (costs or ("weights", "forward"))]
    command = [sys.executable, "-m", "harness.cli", "run", *names, "--tasks", tasks, "--results", results]
    subprocess.run([*command, "--workers", "1"], stdout=sys.stderr)
    print_table(names, results)


def print_table(names: list[str], results: str) -> None:
    """Print a line for each measure: its passes, and the largest peak of its recorded calls."""
    peaks: dict[str, int] = {}
    ended: dict[str, set[str]] = {name: set() for name in names}
    with open_results(results) as rows:
        for row in rows:
            name = row["submission"]
            if name not in ended:
                continue
            peaks[name] = max(peaks.get(name, 0), row["peak_memory_bytes"])
            ended[name].add(row["outcome"])
    print("| measure | passes | peak memory, GB |\n|---|---|---|")
    for name in names:
        work, peak = baselines.MEASURES[name].work, f"{peaks[name] / 1e9:.2f}" if name in peaks else "not called"
        if ended[name] - {"OK"}:
            peak = f"at least {peak}: {', '.join(sorted(ended[name]))}"
        print(f"| `{name}` | {work} | {peak} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
