# The tasks of a checkout; `make` alone lists them. Portable: no extensions of a particular make or shell.

# The interpreter of .venv. Empty: the newest one on this machine for which TensorFlow has wheels.
PYTHON ?=
# Number of parallel test processes.
JOBS ?= 3

VENV = .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
TENSORFLOW = $(VENV)/.tensorflow
SPHINX = $(VENV)/.sphinx
DEMO = build/demo
# Byte code is written even where the variable forbids it: else every process would compile all modules that it imports.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
FLOOR = $(PYTEST) -n $(JOBS) --dist loadfile --no-loadscope-reorder --durations=20 --durations-min=5
BASELINES = num_params vc_dim distance_from_init log_prod_of_spec path_norm_over_margin inverse_margin jacobian_norm \
	pacbayes_mag_flatness davies_bouldin_index mixup_error gi_intra_l0 cna random

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F '|' '{ printf "%-22s%s\n", $$1, $$2 }'

demo: $(TENSORFLOW) sandbox ## Set everything up, run some baselines on the shipped tasks, print and write the leaderboard
	@mkdir -p $(DEMO)
	unsafe=$$(.ci/sandbox-option $(BIN)/python) && \
	$(BIN)/pgdl run $(BASELINES) --tasks task_data --results $(DEMO)/results.db $$unsafe
	$(BIN)/pgdl board --tasks task_data --results $(DEMO)/results.db --output $(DEMO)/leaderboard --html $(DEMO)/site
	$(BIN)/pgdl verify $(DEMO)/site
	@echo 'Next: open $(DEMO)/site/index.html in a browser; `. $(BIN)/activate` makes `pgdl` a command of this shell.'

demo-full: $(TENSORFLOW) sandbox ## Compare all measures of the library on the shipped tasks (10 to 20 minutes)
	@mkdir -p $(DEMO)
	unsafe=$$(.ci/sandbox-option $(BIN)/python) && \
	$(BIN)/pgdl compare --measures all --tasks task_data --results $(DEMO)/results.db --output $(DEMO)/comparison $$unsafe

pictures: setup demo-full ## Redraw the pictures of README and docs/, and docs/results.* (half an hour)
	unsafe=$$(.ci/sandbox-option $(BIN)/python) && for seed in 1 2; do \
	$(BIN)/pgdl compare --measures "$$($(BIN)/python .ci/write_results.py seeds $$seed)" --tasks task_data \
		--task digits_nin --results $(DEMO)/results.db --quiet $$unsafe || exit 1; done
	$(BIN)/pgdl results --results $(DEMO)/results.db --format csv > $(DEMO)/calls.csv
	$(BIN)/python -c "import lzma, sys; sys.stdout.buffer.write(lzma.open('task_data/recorded/fashion.db.xz').read())" \
		> $(DEMO)/fashion.db
	$(BIN)/pgdl score --tasks task_data/recorded --results $(DEMO)/fashion.db --format json > $(DEMO)/fashion.json \
		|| [ $$? = 1 ]  # some measures refuse some of the networks
	$(BIN)/python .ci/write_results.py page task_data $(DEMO)/comparison.csv $(DEMO)/calls.csv $(DEMO)/fashion.json \
		docs/results.csv > docs/results.md
	unsafe=$$(.ci/sandbox-option $(BIN)/python) && \
	$(BIN)/pgdl run $(BASELINES) submissions/*/ --tasks task_data --results $(DEMO)/board.db $$unsafe
	$(BIN)/pgdl board --tasks task_data --results $(DEMO)/board.db --format json > $(DEMO)/board.json
	$(BIN)/python .ci/draw_board.py < $(DEMO)/board.json > $(DEMO)/board.svg
	cp $(DEMO)/board.svg docs/board.svg
	cp $(DEMO)/comparison.svg docs/comparison.svg

docs: $(SPHINX) ## Build the documentation as a site, pages that changed alone: build/docs/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -c docs . build/docs || { rm -rf build/docs/.doctrees; exit 1; }

test: style sandbox ## Set everything up and run all checks that a person waits for (5 minutes)
	$(FLOOR) -m "not full and not rest"

test-rest: setup sandbox postgresql ## Run the tests that `make test` leaves out: more kinds, attacks, interruptions, PostgreSQL (15 minutes)
	$(FLOOR) -m "rest and not full"

test-all: style sandbox postgresql ## Run all checks with every combination of runtime, sandbox and attack (an hour; nightly in CI)
	PGDL_REDTEAM=full PGDL_REFEREE_EXAMPLES=150 $(FLOOR) -m "full or not full"

durations: setup sandbox ## Record what the tests cost (tests/durations.json), on a quiet machine
	PGDL_RECORD_DURATIONS=1 $(FLOOR)

style: setup ## Check style and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

lint: style ## Check style, format and types
	$(BIN)/mypy

format: setup ## Reformat the code in the house style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

science: setup sandbox ## Try the papers' claims on digits and Fashion-MNIST, and write docs/science.md (two hours)
	$(BIN)/python -m tests.studies.science
	cp build/science/digits/invariance/curves.svg docs/invariance.svg

torch-zoo: setup ## Translate the architectures of torchvision and timm, and write docs/torch-zoo.md (two hours)
	$(BIN)/python -m pip install -q --no-deps --upgrade --target build/torch-zoo torchvision==0.28.0 timm==1.0.31 \
		"huggingface_hub<1" safetensors
	PYTHONPATH=.:harness/public:build/torch-zoo $(BIN)/python .ci/torch_zoo.py > docs/torch-zoo.md

bench: setup sandbox ## Run the benchmarks
	$(PYTEST) tests/benchmarks -o addopts=

redteam: setup sandbox ## Run every attack on the sandbox, with fast and fresh starts, under Landlock and as on a platform
	PGDL_REDTEAM=full $(PYTEST) tests/redteam -m "full or not full" -rxX

referee: setup ## Compare boards with an independent referee, after what people may do, in random order (ten minutes)
	PGDL_REFEREE_EXAMPLES=150 $(PYTEST) tests/referee

fuzz: setup ## Let every reader of strangers' files read mutated ones, for an hour or for PGDL_FUZZ_S seconds
	$(PYTEST) tests/soak/test_fuzzed_for_long.py -o addopts= -v

codabench-real: setup ## Try a bundle on a real site of Codabench, from CODABENCH=DIR, a checkout (root; half an hour)
	PYTHONPATH=.:tests:tests/codabench $(BIN)/python tests/codabench/real "$(CODABENCH)" "$(IMAGE)"

soak: setup sandbox ## Run 2,000 calls, a third of them attacks, kill a run 50 times, and other long tests (half an hour)
	PGDL_FUZZ_S=$${PGDL_FUZZ_S:-600} $(PYTEST) tests/soak -o addopts= -v

setup: $(STAMP) ## Create .venv with the versions of constraints.txt, unless it is up to date

$(STAMP): pyproject.toml constraints.txt
	@.ci/setup $(VENV) $(PYTHON)
	@touch $(STAMP) $(TENSORFLOW)

# The demo needs one framework: 2 GB less than all.
$(TENSORFLOW): pyproject.toml constraints.txt
	@EXTRAS=tensorflow .ci/setup $(VENV) $(PYTHON)
	@touch $(TENSORFLOW)

$(SPHINX): pyproject.toml constraints.txt
	@EXTRAS=docs .ci/setup $(VENV) $(PYTHON)
	@touch $(SPHINX)

sandbox: ## Install bubblewrap, where permissions allow it
	@command -v bwrap > /dev/null || .ci/install bubblewrap || true

postgresql: ## Install a server of PostgreSQL, where permissions allow it
	@command -v initdb > /dev/null || ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || .ci/install postgresql || true

lock: ## Update constraints.txt to the newest compatible versions
	.ci/lock $(PYTHON)

clean: ## Remove build output, demo results and all caches; keep .venv
	rm -rf build dist ./*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

.PHONY: help demo demo-full pictures docs test test-rest test-all durations style lint format science torch-zoo bench redteam referee fuzz codabench-real soak setup sandbox postgresql lock clean
