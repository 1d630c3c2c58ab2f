"""Prints values and processor time of measures beside those of other libraries (peers) for the same measures.

    .venv/bin/python -m tests.studies.peers PYTHON

PYTHON is the interpreter of an environment with the imports of `theirs.py`. Each library runs in its own process with
one thread, on equal weights and data; calls alternate between both. The first calls are not timed.
"""

import sys
import tempfile
from pathlib import Path

from tests.studies.peers.answering import Asked

#: Calls of each that are timed; the least disturbed counts.
CALLS = 3

NETWORKS = ("118,498", "5,961,408")

#: Peer's name and measure -> examples, and how far values may be apart, in parts of them.
PAIRS = {
    ("BackPACK", "fisher_trace"): (2048, 1e-4),
    ("BackPACK", "gsnr"): (2048, 1e-4),
    ("BackPACK", "hessian_trace"): (256, 1e-4),
    ("PyHessian", "hessian_trace"): (256, 0.2),
    ("curvlinops", "hessian_top_eigenvalue"): (256, 1e-3),
    ("PyHessian", "hessian_top_eigenvalue"): (256, 1e-2),
    ("captum", "input_jacobian_norm"): (512, 1e-4),
    ("foolbox", "deepfool_margin"): (64, 1e-2),
    ("weightwatcher", "alpha"): (0, 1e-4),
    ("formula", "adaptive_sharpness_avg"): (256, 0.3),
}


def main(python: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        ours, theirs = (
            Asked(who, f"tests.studies.peers.{name}", Path(directory))
            for who, name in ((sys.executable, "ours"), (python, "theirs"))
        )
        print(theirs("versions")[0])
        print("| measure | peer | weights | ours | theirs | ours over theirs, in time |\n|---|---|---|---|---|---|")
        for (peer, measure), (n_samples, apart) in PAIRS.items():
            for network in NETWORKS:
                ours("write", network, n_samples)
                calls = [
                    (
                        ours("compute", network, measure, n_samples),
                        theirs("compute", network, f"{peer} {measure}", n_samples),
                    )
                    for _ in range(1 + CALLS)
                ]
                value, expected = (result for result, _ in calls[-1])
                seconds, floor = (min(call[side][1] for call in calls[1:]) for side in (0, 1))
                note = "" if abs(value - expected) <= apart * abs(expected) else " (values differ)"
                print(
                    f"| {measure} | {peer} | {network} | {value:.6g} | {expected:.6g}{note} | {seconds / floor:.2f} |"
                )
        ours.end()
        theirs.end()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit("expected the interpreter of an environment with the peers: python -m tests.studies.peers PYTHON")
    main(sys.argv[1])
