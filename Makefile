# Every target does its own set-up into .venv; a second run starts in seconds and needs no network.
#   make test PYTHON=python3.13 VENV=.venv-3.13   another interpreter
#   make test ASSIMULO=no         as on a machine that cannot have Assimulo

PYTHON ?= python3
ASSIMULO ?= yes
VENV ?= .venv
BIN := $(VENV)/bin
HEADLINE = @printf '\n== %s\n'

ifeq ($(ASSIMULO),no)
READY := $(VENV)/.installed
PYTEST_OPTIONS := --without-assimulo
else
READY := $(VENV)/.assimulo
PYTEST_OPTIONS :=
endif

# what must hold on every Python
ESSENTIAL := tests/test_package.py tests/test_installation.py tests/build_assimulo \
	tests/kernels tests/model tests/schemes $(if $(filter no,$(ASSIMULO)),,tests/assimulo/solvers)

.DEFAULT_GOAL := help
# what shows quickly whether a Python can be served at all: nothing is compiled for it
SHORT := tests/test_package.py tests/test_packaging.py tests/model/test_construction.py \
	tests/schemes/test_equations.py tests/driver/test_slips.py tests/driver/test_pickling.py \
	--deselect tests/driver/test_slips.py::test_tolerances_that_nobody_can_keep # a minute, uncompiled

.PHONY: help setup test pytest pythons short-pythons essential short compare compare-all bench fuzz lint docs wheel pin clean
.NOTPARALLEL:

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'

setup: $(READY) ## make .venv with everything, Assimulo included

# with their .pxd files, the sources that are compiled
TYPES := $(shell find src -name '*.pxd')
COMPILED := $(TYPES) $(wildcard $(TYPES:.pxd=.py) $(TYPES:.pxd=.pyx))

$(VENV)/.packages: .ci/lock.txt
	$(HEADLINE) 'set-up: python packages'
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-deps --no-compile --require-hashes --requirement .ci/lock.txt
	@$(BIN)/python -m pip check
	@touch $@

$(VENV)/.installed: $(VENV)/.packages pyproject.toml setup.py $(COMPILED)
	$(HEADLINE) 'set-up: compiling'
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c 'from genalpha import imports; raise SystemExit(not imports.COMPILED)' \
	    || { echo 'NOT COMPILED: plain sources will run'; ! command -v cc; }
	@touch $@

# No stamp without Assimulo: the next run tries again, a compiler may be there by then.
$(VENV)/.assimulo: $(VENV)/.installed $(wildcard src/genalpha/build_assimulo/*)
	$(HEADLINE) 'set-up: Assimulo'
	@$(BIN)/python -m genalpha.build_assimulo --soft --replace
	@if $(BIN)/python -c 'import assimulo' 2>/dev/null; then touch $@; fi

test: lint pytest docs short-pythons ## lint, types, layers, all tests, strict docs, other Pythons in short

short-pythons: ## types and a few tests, without compiling, on the other Pythons that this machine has
	$(HEADLINE) 'other Pythons, in short'
	@$(PYTHON) .ci/pythons.py short

short: $(VENV)/.packages ## only types and a few tests, without compiling
	@$(BIN)/mypy --python-executable $(BIN)/python
	@PYTHONPATH=src GENALPHA_PLAIN=1 $(BIN)/python -m pytest -q -n auto --without-assimulo $(SHORT)

pythons: ## types and essential tests on the other Pythons that this machine has (a quarter of an hour)
	$(HEADLINE) 'other Pythons'
	@ASSIMULO=$(ASSIMULO) $(PYTHON) .ci/pythons.py

essential: $(READY) ## only types and essential tests, a few minutes
	$(HEADLINE) 'types (mypy)'
	@$(BIN)/mypy --python-executable $(BIN)/python
	$(HEADLINE) 'essential tests (pytest)'
	@$(BIN)/python -m pytest -n auto $(PYTEST_OPTIONS) $(ESSENTIAL)

pytest: $(READY) ## only the tests
	$(HEADLINE) 'tests (pytest)'
	@$(BIN)/python -m pytest -n auto $(PYTEST_OPTIONS)

compare: $(READY) ## run the comparisons: tables, plots, report
	$(HEADLINE) 'comparisons'
	@$(BIN)/python -m comparisons $(ARGS)

compare-all: $(READY) ## run the whole grid (hours) and publish it in the docs
	$(HEADLINE) 'comparisons, all of them'
	@$(BIN)/python -m comparisons run
	@$(BIN)/python -m comparisons report --docs

bench: $(READY) ## time a step, compare with the stored records and with other solvers (half an hour)
	$(HEADLINE) 'benchmarks'
	@$(BIN)/python -m comparisons.bench $(ARGS)

fuzz: $(READY) ## random inputs for as long as one likes: make fuzz ARGS="--inputs 100000"
	$(HEADLINE) 'random inputs'
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --publish $(ARGS)

lint: $(READY) ## ruff, mypy, import-linter
	$(HEADLINE) 'lint (ruff check)'
	@$(BIN)/ruff check --quiet
	$(HEADLINE) 'format (ruff format)'
	@$(BIN)/ruff format --check --quiet
	$(HEADLINE) 'types (mypy)'
	@$(BIN)/mypy --python-executable $(BIN)/python
	$(HEADLINE) 'layers (import-linter)'
	@$(BIN)/lint-imports --no-cache --no-logo

docs: $(READY) ## build the documentation into build/docs
	$(HEADLINE) 'docs (mkdocs, strict)'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs --quiet build --strict --config-file docs/mkdocs.yml

wheel: $(VENV)/.packages ## a wheel with the compiled parts into dist, repaired by auditwheel on Linux
	$(HEADLINE) 'wheel'
	@rm -rf build/wheel build/lib.* && mkdir -p build/wheel
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel .
	@case $$(uname -s) in \
	Linux) PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl;; \
	*) mkdir -p dist && cp build/wheel/*.whl dist;; esac

COMPILE := build/pin/bin/uv --quiet pip compile --universal --python-version 3.10 --generate-hashes \
	--no-annotate --custom-compile-command 'make pin'

pin: ## the newest versions of all packages, for all Pythons, with hashes, into the lock files
	@$(PYTHON) -m venv build/pin && build/pin/bin/python -m pip install --quiet uv
	@$(COMPILE) --upgrade --all-extras --output-file .ci/lock.txt pyproject.toml
	@printf 'setuptools\nCython\nunearth\n' | $(COMPILE) --upgrade \
	    --output-file src/genalpha/build_assimulo/tools.txt -

clean: ## remove .venv and everything built (the cached Assimulo wheel stays)
	rm -rf $(VENV) .venv-* build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src -name '*.so' -delete
