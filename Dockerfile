# The command `pgdl` in a container, for CPU or GPU. EXTRAS are extras of pyproject.toml, separated by commas.
#
#   docker build --tag pgdl-harness:0.1.0 .
#   docker build --tag pgdl-harness:0.1.0 --build-arg EXTRAS=gpu .           # TensorFlow with its CUDA libraries
#   docker build --tag pgdl-harness:0.1.0 --build-arg EXTRAS=tensorflow,jax .
#
#   docker build --tag pgdl-codabench:0.1.0 --target codabench .             # for Codabench (docs/codabench.md)
#
#   docker run --rm --volume "$PWD:/work" --user "$(id -u):$(id -g)" OPTIONS pgdl-harness:0.1.0 run my_measure.py --tasks task_data
#
# where OPTIONS are `--gpus all` for GPUs, and what lets bubblewrap make its namespaces and mount a /proc of its own,
# which container engines forbid by default:
#
#   --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined
#
# No capability is needed, and --cap-add does not help. The wall around submissions is then bubblewrap's alone.
#
# Tried: built and run, sandbox included, with Podman 5.4 and with Docker 20.10 (there `codabench`, too), on machines
# without GPU and AppArmor, and with another Debian 13 with Python 3.13 in place of the base image. Not tried: BuildKit,
# AppArmor, GPUs.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim-trixie AS installed
ARG EXTRAS=tensorflow

LABEL org.opencontainers.image.title="pgdl-harness" \
      org.opencontainers.image.description="Run, score and rank complexity measures that predict generalization in deep learning" \
      org.opencontainers.image.licenses="Apache-2.0 AND CC-BY-4.0"

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap libseccomp2 util-linux \
    && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml constraints.txt README.md LICENSE /opt/pgdl/
COPY harness /opt/pgdl/harness
COPY scoring /opt/pgdl/scoring
COPY baselines /opt/pgdl/baselines
COPY submissions /opt/pgdl/submissions
COPY task_data /opt/pgdl/task_data
COPY docs /opt/pgdl/docs
COPY .github/workflows /opt/pgdl/.github/workflows
RUN pip install --no-cache-dir --constraint /opt/pgdl/constraints.txt "/opt/pgdl[$EXTRAS]"

# Codabench gives each container the command, and files that belong to root.
FROM installed AS codabench
ENV HOME=/tmp
CMD ["pgdl", "--help"]

FROM installed
RUN useradd --uid 1000 --no-create-home pgdl \
    && install --directory --owner=pgdl --group=pgdl /work
USER 1000:1000
# Whatever user the container is given can write here.
ENV HOME=/tmp
WORKDIR /work

ENTRYPOINT ["pgdl"]
CMD ["--help"]
