# Two commands set up everything on a machine that has Python 3.11+, pip and make:
#   make demo    selects prototypes on embedded data and says where the results are
#   make test    lint, types, tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check --quiet

.PHONY: demo test test-all test-minimum dist lint types mutants fuzz chaos bench figures docs clean

demo: $(VENV)/.demo
	$(BIN)/python -m protoset demo --output demo-output

# Each process takes tests that stand side by side, so that a file's cluster or browser is started once. The processes
# share the cores: threads of BLAS would wait for each other.
PARALLEL := -n 2 --dist worksteal
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

test: lint types
	$(ONE_THREAD) $(BIN)/python -m pytest $(PARALLEL) -m "not slow"

test-all: lint types
	$(ONE_THREAD) $(BIN)/python -m pytest $(PARALLEL) --hypothesis-profile=thorough

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Small faults in the source files that pyproject.toml lists, one at a time: which of them does no test notice?
# Takes hours; one part alone: make mutants MUTANTS='protoset.solvers*'. Threads of BLAS do not survive the fork.
MUTANTS ?= *
mutants: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/mutmut run --max-children 2 '$(MUTANTS)'
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

# With the lowest versions that pyproject.toml declares: a part of the tests that reaches every room; FULL=1 runs all quick ones.
# Old libraries have no files for new Pythons, so the oldest Python is used.
MINIMUM_PYTHON ?= python3.11
MINIMUM_TESTS := $(addprefix tests/test_,worked_example.py reps.py classifier.py refined.py adaptation.py series.py mixed.py \
	strings.py measures.py persistence.py export.py plots.py report.py polars.py datasets_reading.py cli_select.py release.py)
test-minimum: .venv-minimum/.ready
	$(ONE_THREAD) .venv-minimum/bin/python -m pytest $(PARALLEL) -m "not slow" $(if $(FULL),,$(MINIMUM_TESTS))

# Source distribution and wheel in dist/, checked; then the wheel is installed in a fresh environment and tried there.
dist: .venv-dist/.ready
	rm -rf dist
	.venv-dist/bin/python -m build --no-isolation --outdir dist .
	.venv-dist/bin/python -m twine check --strict dist/*
	.venv-dist/bin/check-wheel-contents dist/*.whl
	$(PYTHON) tools/check_dist.py dist

# The site, without a network: warnings are errors, doctests run, links inside are checked. Open docs/_build/html/index.html
docs: .venv-docs/.ready
	.venv-docs/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html
	.venv-docs/bin/python -m sphinx -W --keep-going -b doctest docs docs/_build/doctest
	.venv-docs/bin/python docs/check_links.py docs/_build/html

clean:
	rm -rf docs/_build docs/reference/generated docs/gallery dist $(VENV) .venv-bench .venv-dist .venv-docs .venv-minimum demo-output mutants

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

.venv-minimum/.ready: pyproject.toml tools/minimum_versions.py
	$(MINIMUM_PYTHON) -m venv --without-pip .venv-minimum
	$(MINIMUM_PYTHON) tools/minimum_versions.py > .venv-minimum/requirements.txt
	$(MINIMUM_PYTHON) -m pip --python .venv-minimum/bin/python --disable-pip-version-check --quiet install \
		--requirement .venv-minimum/requirements.txt --editable .
	@touch $@

.venv-dist/.ready:
	$(PYTHON) -m venv --without-pip .venv-dist
	$(PYTHON) -m pip --python .venv-dist/bin/python --disable-pip-version-check --quiet install \
		build check-wheel-contents 'hatchling>=1.27' twine
	@touch $@

.venv-docs/.ready: pyproject.toml
	$(PYTHON) -m venv --without-pip .venv-docs
	$(PYTHON) -m pip --python .venv-docs/bin/python --disable-pip-version-check --quiet install --editable '.[docs]'
	@touch $@
