# The command `pgdl` in a container, for CPU or GPU.
#
#   docker build --tag pgdl .
#   docker build --tag pgdl --build-arg ACCELERATOR=gpu .   # TensorFlow with its CUDA libraries
#   docker run --rm --volume "$PWD:/work" --user "$(id -u):$(id -g)" SANDBOX pgdl run my_measure.py --tasks task_data
#
# where SANDBOX stands for what lets bubblewrap make its namespaces and mount its own /proc, both of which
# container engines forbid by default:
#
#   --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined
#
# The container is then a weaker wall than usual: the wall around submissions is bubblewrap's.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim-trixie
ARG ACCELERATOR=cpu

LABEL org.opencontainers.image.title="pgdl-harness" \
      org.opencontainers.image.description="Run, score and rank complexity measures that predict generalization in deep learning" \
      org.opencontainers.image.licenses="Apache-2.0"

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap libseccomp2 util-linux \
    && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml constraints.txt README.md LICENSE /opt/pgdl/
COPY harness /opt/pgdl/harness
COPY scoring /opt/pgdl/scoring
COPY baselines /opt/pgdl/baselines
RUN case "$ACCELERATOR" in \
        cpu) package=/opt/pgdl ;; \
        gpu) package='/opt/pgdl[gpu]' ;; \
        *) echo "ACCELERATOR: expected cpu or gpu, found $ACCELERATOR" >&2; exit 2 ;; \
    esac \
    && pip install --no-cache-dir --constraint /opt/pgdl/constraints.txt "$package"

RUN useradd --uid 1000 --create-home pgdl \
    && install --directory --owner=pgdl --group=pgdl /work
USER 1000:1000
WORKDIR /work
VOLUME /work

ENTRYPOINT ["pgdl"]
CMD ["--help"]
