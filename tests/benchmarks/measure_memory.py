"""Peak memory and time of measures at real size: the table of docs/measures.md.

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
    peaks, times, outcomes = {}, {}, {}
    with open_results(results, submissions=tuple(names)) as rows:
        for row in rows:
            name = row["submission"]
            peaks[name] = max(peaks.get(name, 0), row["peak_memory_bytes"])
            times[name] = max(times.get(name, 0), row["call_cpu_s"])
            outcomes.setdefault(name, set()).add(row["outcome"])
    print("| measure | work | peak memory, GB | processor time, s |\n|---|---|---|---|")
    for name in names:
        if outcomes.get(name) == {"OK"}:
            work = baselines.MEASURES[name].work.replace("|", "\\|")
            print(f"| `{name}` | {work} | {peaks[name] / 1e9:.2f} | {times[name]:.1f} |")
        else:
            print(f"| `{name}` | not measured: {', '.join(sorted(outcomes.get(name, {'no call'})))} | | |")


if __name__ == "__main__":
    main(*sys.argv[1:])
