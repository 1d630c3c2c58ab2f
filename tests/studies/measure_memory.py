"""Prints the peak memory of measures at real size; docs/measures.md states the range.

    python -m tests.studies.measure_memory TASKS RESULTS [cost ...]

Calls all measures, or those with the given costs, on a task of `real_size`, and prints a line for each family. The
calls on a network share a sandbox, as in any run: a peak includes cached results for the next measures (at most 256
MiB). Long loops are shortened if memory does not depend on them. An interrupted command resumes when it is repeated.
"""

import subprocess
import sys

import baselines
from pgdl import open_results

#: Beginnings of measures' names, and parameters that shorten loops. The networks are at chance: of their accuracy no
#: search could lose a tenth.
SHORT = {
    "adaptive_sharpness_avg": "n_draws=2",
    "adaptive_sharpness_worst": "n_steps=2",
    "adversarial_error": "n_steps=1",
    "augmentation_robustness_runner_up": "n_batches=100",
    "auto_pgd": "n_steps=2,n_halvings=2",
    "constrained_margin": "n_steps=2",
    "effective_dimensionality": "n_samples=256",
    "gi_": "n_alphas=3",
    "hessian_top": "n_steps=2",
    "keskar_sharpness": "n_samples=256",
    "local_energy": "n_draws=2",
    "local_learning": "n_chains=1,n_burn_in=1,n_draws=2",
    "low_pass": "n_draws=2",
    "marginal_likelihood": "n_draws=2",
    "neg_local_entropy": "n_draws=2",
    "normalized_sharpness": "n_samples=256",
    "pacbayes_optimized": "n_steps=2,n_draws=2",
    "pacbayes": "n_draws=1,accuracy_drop=0.01",
    "pal_": "n_alphas=3",
    "pr_mean_error": "n_alphas=3",
    "sharpness_": "accuracy_drop=0.01",
}


def main(tasks: str, results: str, *costs: str) -> None:
    """Make the missing calls, and print the table; failed calls are printed to standard error."""
    names = [name for name, one in baselines.MEASURES.items() if one.cost in (costs or tuple(baselines.Cost))]
    command = [sys.executable, "-m", "pgdl", "run", *map(shortened, names), "--tasks", tasks]
    options = ["--results", results, "--workers", "1", "--time-limit", "150"]
    subprocess.run([*command, *options], stdout=sys.stderr)
    print_table(names, results)


def shortened(name: str) -> str:
    """Return the measure with parameters that make it short enough."""
    parameters = next((more for beginning, more in SHORT.items() if name.startswith(beginning)), "")
    return f"{name}:{parameters}" if parameters else name


def print_table(names: list[str], results: str) -> None:
    """Print a line for each family: the peaks of its measures, and the measure with the largest peak."""
    peaks: dict[str, int] = {}
    with open_results(results) as rows:
        for row in rows:
            name = row.submission.partition(":")[0]
            peaks[name] = max(peaks.get(name, 0), row.peak_memory_bytes)
            if row.outcome != "OK":
                print(f"{row.submission}: {row.outcome}", file=sys.stderr)
    print("| family | peak memory, GB | largest |\n|---|---|---|")
    called = [name for name in names if name in peaks]
    for family in dict.fromkeys(baselines.MEASURES[name].family for name in called):
        of_family = sorted((peaks[name], name) for name in called if baselines.MEASURES[name].family == family)
        (least, _), (most, largest) = of_family[0], of_family[-1]
        print(f"| {family} | {least / 1e9:.2f} to {most / 1e9:.2f} | `{largest}` |")


if __name__ == "__main__":
    main(*sys.argv[1:])
