# Every target does its own set-up into .venv; a second run starts in seconds and needs no network.
#   make test PYTHON=python3.10   another interpreter (after `make clean`)
#   make test ASSIMULO=no         as on a machine that cannot have Assimulo

PYTHON ?= python3
ASSIMULO ?= yes
VENV := .venv
BIN := $(VENV)/bin
HEADLINE = @printf '\n== %s\n'

ifeq ($(ASSIMULO),no)
READY := $(VENV)/.installed
PYTEST_OPTIONS := --without-assimulo
else
READY := $(VENV)/.assimulo
PYTEST_OPTIONS :=
endif

.DEFAULT_GOAL := help
.PHONY: help setup test pytest compare compare-all bench lint docs pin clean
.NOTPARALLEL:

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'

setup: $(READY) ## make .venv with everything, Assimulo included

# with their .pxd files, the sources that are compiled
TYPES := $(shell find src -name '*.pxd')
COMPILED := $(TYPES) $(wildcard $(TYPES:.pxd=.py) $(TYPES:.pxd=.pyx))

$(VENV)/.installed: pyproject.toml setup.py $(COMPILED) .ci/constraints.txt
	$(HEADLINE) 'set-up: python packages'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint .ci/constraints.txt --editable '.[compare,dev,docs]'
	@touch $@

# No stamp without Assimulo: the next run tries again, a compiler may be there by then.
$(VENV)/.assimulo: $(VENV)/.installed src/genalpha/build_assimulo.py
	$(HEADLINE) 'set-up: Assimulo'
	@$(BIN)/python -m genalpha.build_assimulo --soft --replace
	@if $(BIN)/python -c 'import assimulo' 2>/dev/null; then touch $@; fi

test: lint pytest docs ## lint, types, layers, all tests, strict docs

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

lint: $(READY) ## ruff, mypy, import-linter
	$(HEADLINE) 'lint (ruff check)'
	@$(BIN)/ruff check --quiet
	$(HEADLINE) 'format (ruff format)'
	@$(BIN)/ruff format --check --quiet
	$(HEADLINE) 'types (mypy)'
	@$(BIN)/mypy
	$(HEADLINE) 'layers (import-linter)'
	@$(BIN)/lint-imports --no-cache --no-logo

docs: $(READY) ## build the documentation into build/docs
	$(HEADLINE) 'docs (mkdocs, strict)'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs --quiet build --strict --config-file docs/mkdocs.yml

pin: $(READY) ## write the versions of .venv into .ci/constraints.txt
	@{ head -n 2 .ci/constraints.txt; \
	   $(BIN)/python -m pip freeze --exclude-editable --exclude assimulo \
	   | sed "s/$$/ ; python_version == '3.11'/"; } > .ci/constraints.new
	@mv .ci/constraints.new .ci/constraints.txt
	@touch -c $(VENV)/.installed $(VENV)/.assimulo # .venv has just these versions

clean: ## remove .venv and everything built (the cached Assimulo wheel stays)
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src -name '*.so' -delete
