# PYTHON=python3.12 chooses another Python, 3.10 or newer. Packages are installed into .venv from requirements/, each file by its hash.
PYTHON ?= python3
# Measures of expressions take a minute.
QUICK_TESTS := $(filter-out %/test_growth.py %/test_steps.py,$(wildcard tests/parsers/test_*.py)) $(addprefix tests/,parsers/formats parsers/decoding parsers/learning parsers/wrappers forensics/incidents forensics/rules)
VENV := .venv
OLDEST := $(VENV)/oldest
SPARK_TESTS := tests/spark tests/forensics/commands/test_cli.py tests/forensics/commands/test_merge.py tests/forensics/case/test_case.py
BUNDLE := fixtures/bundles/unclean-election-2.8.2-zk.tar.gz

PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
# Build tools are installed first, so that a build downloads nothing.
LOCKED = $(PIP) install --quiet --require-hashes --requirement requirements/build.txt \
	&& $(PIP) install --quiet --require-hashes --no-build-isolation --requirement $(1) \
	&& $(PIP) install --quiet --no-index --no-deps --no-build-isolation --editable .
LOCK = $(VENV)/bin/uv pip compile --quiet --no-config --default-index https://pypi.org/simple --universal --python-version 3.10 \
	--generate-hashes --no-annotate --custom-compile-command 'make lock' $(UPGRADE)

.PHONY: help demo docs test quick test-browser bench test-oldest lock audit sbom release release-check
.DELETE_ON_ERROR:

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

demo: $(VENV)/.installed ## analyse a recorded incident
	$(VENV)/bin/kafka-forensics analyze $(BUNDLE)

# Many images set PYTHONDONTWRITEBYTECODE; each start of the command would compile all modules again.
PYTEST = env --unset=PYTHONDONTWRITEBYTECODE $(VENV)/bin/pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test: $(VENV)/.installed-dev ## run all tests, with style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy --num-workers 2
	$(PYTEST)

quick: $(VENV)/.installed-dev ## run the exemplars, and tests of parsers on small examples, without a JVM
	$(PYTEST) --quiet -m 'not hypothesis and not jvm' $(QUICK_TESTS)

test-browser: $(VENV)/.installed-all ## test the page in an installed Chromium
	$(VENV)/bin/pytest tests/browser

bench: $(VENV)/.installed-all ## measure, and write the results to docs/performance.md
	$(VENV)/bin/python -m benchmarks
	$(VENV)/bin/python -m docs.tables

test-oldest: $(OLDEST)/.installed ## test with the oldest pyspark that pyproject.toml allows
	$(OLDEST)/bin/python -m pytest $(SPARK_TESTS)

docs: $(VENV)/.installed-docs ## build the site
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --quiet
	@echo "build/site/index.html"

lock: $(VENV)/.installed-all ## lock all packages; with UPGRADE=--upgrade the newest
	$(LOCK) requirements/build.in --output-file requirements/build.txt
	$(LOCK) pyproject.toml --all-extras --output-file requirements/all.txt
	$(LOCK) pyproject.toml --extra jre --extra dev --constraint requirements/all.txt --output-file requirements/test.txt
	$(LOCK) pyproject.toml --extra jre --constraint requirements/all.txt --output-file requirements/run.txt
	$(LOCK) pyproject.toml --extra docs --constraint requirements/all.txt --no-emit-package pyspark --no-emit-package py4j --output-file requirements/docs.txt

audit: $(VENV)/.installed-all ## look for known vulnerabilities
	for file in build all; do $(VENV)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/$$file.txt || exit 1; done

sbom: $(VENV)/.installed-all ## list what is installed
	mkdir -p build
	$(VENV)/bin/cyclonedx-py requirements requirements/run.txt --pyproject pyproject.toml --mc-type application --output-reproducible --output-file build/sbom.cdx.json
	@echo "build/sbom.cdx.json"

release: sbom ## make what is signed (docs/releasing.md)
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(VENV)/bin/python -m hatchling build
	cp build/sbom.cdx.json dist/
	cd dist && sha256sum * > SHA256SUMS

# PATH has no Java: the first analysis must say so, and read its small evidence without Spark.
release-check: release ## run the wheel in an empty environment
	rm -rf build/release-check
	$(PYTHON) -m venv build/release-check
	build/release-check/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	env --unset=JAVA_HOME PATH=$(CURDIR)/build/release-check/bin kafka-forensics --version
	env --unset=JAVA_HOME PATH=$(CURDIR)/build/release-check/bin kafka-forensics analyze $(BUNDLE) 2> build/release-check/stderr
	grep 'No Java was found' build/release-check/stderr
	build/release-check/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[jre]"
	env --unset=JAVA_HOME PATH=$(CURDIR)/build/release-check/bin kafka-forensics analyze $(BUNDLE)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or newer is needed: make PYTHON=...") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml requirements/build.txt requirements/run.txt | $(VENV)/bin/python
	$(call LOCKED,requirements/run.txt)
	touch $@

$(VENV)/.installed-dev: pyproject.toml requirements/build.txt requirements/test.txt | $(VENV)/bin/python
	$(call LOCKED,requirements/test.txt)
	touch $(VENV)/.installed $@

$(VENV)/.installed-all: pyproject.toml requirements/build.txt requirements/all.txt | $(VENV)/bin/python
	$(call LOCKED,requirements/all.txt)
	touch $(VENV)/.installed $(VENV)/.installed-dev $(VENV)/.installed-docs $@

# Pages are made from the code, which imports no Spark.
$(VENV)/.installed-docs: pyproject.toml requirements/build.txt requirements/docs.txt | $(VENV)/bin/python
	$(call LOCKED,requirements/docs.txt)
	touch $@

$(OLDEST)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[jre,dev]' \
		"pyspark==$$(sed -n 's/.*"pyspark>=\([0-9.]*\)".*/\1/p' pyproject.toml)"
	touch $@
