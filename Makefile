# Two commands set up everything on a machine that has Python 3.11+, pip and make:
#   make demo    selects prototypes on embedded data and says where the results are
#   make test    lint, types, tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check --quiet

.PHONY: demo test test-all lint types mutants fuzz chaos bench figures clean

demo: $(VENV)/.demo
	$(BIN)/python -m protoset demo --output demo-output

# Each process takes tests that stand side by side, so that a file's cluster or browser is started once.
PARALLEL := -n 2 --dist worksteal

test: lint types
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow"

test-all: lint types
	$(BIN)/python -m pytest $(PARALLEL) --hypothesis-profile=thorough

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Small faults in the source files that pyproject.toml lists, one at a time: which of them does no test notice?
# Takes hours; one part alone: make mutants MUTANTS='protoset.solvers*'. Threads of BLAS do not survive the fork.
MUTANTS ?= *
mutants: $(VENV)/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/mutmut run --max-children 2 '$(MUTANTS)'
	$(BIN)/mutmut results

# Strange inputs by the thousand; anything but a result or a clear error fails. make fuzz SECONDS=60, CASES=100000, SEED=1
fuzz: $(VENV)/.dev
	$(BIN)/python -m campaigns.fuzz --seed $(or $(SEED),0) $(if $(CASES),--cases $(CASES)) $(if $(SECONDS),--seconds $(SECONDS))

# Processes killed at random moments; anything lost, doubled, truncated, orphaned or locked fails. make chaos KILLS=20 SEED=1
chaos: $(VENV)/.dev
	$(BIN)/python -m campaigns.chaos --seed $(or $(SEED),0) --kills $(or $(KILLS),200)

# In an environment of its own: some of the libraries that it compares with hold other packages back.
bench: .venv-bench/.ready
	.venv-bench/bin/python -m benchmarks

figures: $(VENV)/.dev
	$(BIN)/python docs/make_figures.py

clean:
	rm -rf $(VENV) .venv-bench demo-output mutants

# pip of the calling Python installs into the environment, so that a Python without ensurepip works too.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"protoset needs Python 3.11 or newer; $(PYTHON) is {v[0]}.{v[1]}. Say which one to use: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[cli]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[dev]'
	@touch $@

.venv-bench/.ready: pyproject.toml
	$(PYTHON) -m venv --without-pip .venv-bench
	$(PYTHON) -m pip --python .venv-bench/bin/python --disable-pip-version-check --quiet install --editable '.[peers]'
	@touch $@
