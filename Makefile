# `make demo` analyses a real bundle, `make test` runs all the tests, `make docs` builds the site. They install into .venv what they need,
# once; Python 3.10 or newer is all that has to be there. PYTHON=python3.12 chooses another one.
# What is installed is what requirements/ says, each file by its hash (docs/releasing.md); `make lock` writes it anew.
# On request: `make test-browser` tests the page in a Chromium that is there, `make bench` measures (docs/performance.md), `make test-oldest` tests with the oldest pyspark that pyproject.toml claims,
# `make audit` asks for known vulnerabilities of what is installed, `make sbom` lists it, `make release` makes what is signed (docs/releasing.md).
# `make release-check` installs the wheel into an empty environment, as a user does, and runs it without Java.
PYTHON ?= python3
VENV := .venv
OLDEST := $(VENV)/oldest
SPARK_TESTS := tests/spark tests/forensics/commands/test_cli.py tests/forensics/commands/test_merge.py tests/forensics/case/test_case.py
BUNDLE := fixtures/bundles/unclean-election-2.8.2-zk.tar.gz

PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
# Nothing is fetched to build with: what builds is installed first, by its hash like the rest.
LOCKED = $(PIP) install --quiet --require-hashes --requirement requirements/build.txt \
	&& $(PIP) install --quiet --require-hashes --no-build-isolation --requirement $(1) \
	&& $(PIP) install --quiet --no-index --no-deps --no-build-isolation --editable .
LOCK = $(VENV)/bin/uv pip compile --quiet --no-config --default-index https://pypi.org/simple --universal --python-version 3.10 \
	--generate-hashes --no-annotate --custom-compile-command 'make lock' $(UPGRADE)

.PHONY: demo docs test test-browser bench test-oldest lock audit sbom release release-check
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	$(VENV)/bin/kafka-forensics analyze $(BUNDLE)

# Tests start the command many times. Containers often forbid Python to keep bytecode; each start would compile all modules again.
test: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy --num-workers 2
	env --unset=PYTHONDONTWRITEBYTECODE $(VENV)/bin/pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test-browser: $(VENV)/.installed-all
	$(VENV)/bin/pytest tests/browser

bench: $(VENV)/.installed-all
	$(VENV)/bin/python -m benchmarks
	$(VENV)/bin/python -m benchmarks --page

test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest $(SPARK_TESTS)

docs: $(VENV)/.installed-all
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --quiet
	@echo "build/site/index.html"

# UPGRADE=--upgrade takes the newest of everything.
lock: $(VENV)/.installed-all
	$(LOCK) requirements/build.in --output-file requirements/build.txt
	$(LOCK) pyproject.toml --all-extras --output-file requirements/all.txt
	$(LOCK) pyproject.toml --extra jre --extra dev --constraint requirements/all.txt --output-file requirements/test.txt
	$(LOCK) pyproject.toml --extra jre --constraint requirements/all.txt --output-file requirements/run.txt

audit: $(VENV)/.installed-all
	for file in build all; do $(VENV)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/$$file.txt || exit 1; done

sbom: $(VENV)/.installed-all
	mkdir -p build
	$(VENV)/bin/cyclonedx-py requirements requirements/run.txt --pyproject pyproject.toml --mc-type application --output-reproducible --output-file build/sbom.cdx.json
	@echo "build/sbom.cdx.json"

release: sbom
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(VENV)/bin/python -m hatchling build
	cp build/sbom.cdx.json dist/
	cd dist && sha256sum * > SHA256SUMS

# No PATH but that of the environment: there is no Java. The first command must say so and end with exit code 2.
release-check: release
	rm -rf build/release-check
	$(PYTHON) -m venv build/release-check
	build/release-check/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	env --unset=JAVA_HOME PATH=$(CURDIR)/build/release-check/bin kafka-forensics --version
	env --unset=JAVA_HOME PATH=$(CURDIR)/build/release-check/bin kafka-forensics analyze $(BUNDLE) 2> build/release-check/stderr; test $$? -eq 2
	grep 'No Java 17 or newer found' build/release-check/stderr
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
	touch $(VENV)/.installed $(VENV)/.installed-dev $@

$(OLDEST)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[jre,dev]' \
		"pyspark==$$(sed -n 's/.*"pyspark>=\([0-9.]*\)".*/\1/p' pyproject.toml)"
	touch $@
