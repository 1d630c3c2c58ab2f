"""Peak memory of measures at real size: the table of docs/measures.md.

    nice python -m tests.studies.measure_memory TASKS RESULTS [cost ...]

Calls the measures of these costs, all if none is named, on a task of `real_size`, and prints a line for each. The calls
of a network share a sandbox, as they do in any run: a peak includes the results that are kept for the next measures
(256 MiB at the most). Loops that would take minutes or hours are shortened where memory does not depend on them. The
command can be interrupted and repeated.
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
    """Make the calls that are missing, and print the table."""
    names = [name for name, one in baselines.MEASURES.items() if one.cost in (costs or tuple(baselines.Cost))]
    command = [sys.executable, "-m", "pgdl", "run", *map(shortened, names), "--tasks", tasks]
    options = ["--results", results, "--workers", "1", "--time-limit", "150"]
    subprocess.run([*command, *options], stdout=sys.stderr)
    print_table(names, results)


def shortened(name: str) -> str:
    """The measure with the parameters that make it short enough."""
    parameters = next((more for beginning, more in SHORT.items() if name.startswith(beginning)), "")
    return f"{name}:{parameters}" if parameters else name


def print_table(names: list[str], results: str) -> None:
    """Print a line for each measure: the largest peak of its recorded calls."""
    peaks: dict[str, int] = {}
    ended: dict[str, set[str]] = {shortened(name): set() for name in names}
    with open_results(results) as rows:
        for row in rows:
            name = row["submission"]
            if name not in ended:
                continue
            peaks[name] = max(peaks.get(name, 0), row["peak_memory_bytes"])
            ended[name].add(row["outcome"])
    print("| measure | peak memory, GB |\n|---|---|")
    for name in names:
        called = shortened(name)
        peak = f"{peaks[called] / 1e9:.2f}" if called in peaks else "not called"
        if ended[called] - {"OK"}:
            peak = f"at least {peak}: {', '.join(sorted(ended[called]))}"
        more = f", with `{called.partition(':')[2]}`" if called != name else ""
        print(f"| `{name}` | {peak}{more} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
