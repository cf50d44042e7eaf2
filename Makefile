# Everything runs in .venv, which the first target that needs it creates.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-cluster test-slow test-machines test-pythons test-lowest install-newest soak
.PHONY: check-wheels lint types bench bench-readme docs clean

# One thread of OpenBLAS for each of the two processes: more wait for each other, and cost time.
test test-machines test-pythons test-lowest: export OPENBLAS_NUM_THREADS = 1

demo: .venv/base
	$(BIN)/maxmargin demo

test: lint types
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=15

# Several Ray nodes on this machine, which lose workers and nodes while they train.
test-cluster: .venv/test
	$(BIN)/pytest -m cluster tests/backends/test_ray_cluster.py

# Tests that compile much for themselves alone.
test-slow: .venv/test
	$(BIN)/pytest -m slow tests

# As other processors would: other routines of OpenBLAS, other instructions, other hash seeds; and
# with checks of bounds in compiled code. SHORT=1 runs three variants only.
test-machines: .venv/test
	$(BIN)/python tools/test_machines.py $(if $(SHORT),--short)

# Every supported Python that is installed; SHORT=1: the newest one, and few tests.
test-pythons: .venv/test
	$(BIN)/python tools/test_pythons.py $(if $(SHORT),--short)

# The environment of test-pythons SHORT=1, without the tests.
install-newest:
	$(PYTHON) tools/test_pythons.py --short --install

# The lowest versions that pyproject.toml allows.
test-lowest: .venv/test
	$(BIN)/python tools/test_pythons.py --lowest

# Whether there are wheels of all dependencies, for each Python and system; installs nothing.
check-wheels:
	$(PYTHON) tools/check_wheels.py plot ray spacy

# The long test: kills, altered files, full disks, certificates against a QP. MINUTES=60 SEED=7
soak: .venv/soak
	$(BIN)/python -m tools.soak --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

lint: .venv/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: .venv/types

# Not again if nothing has changed since the last time.
.venv/types: .venv/test $(shell find src -name '*.py' -o -name '*.pyi')
	$(BIN)/basedpyright --level error
	touch $@

# DATA is the directory of the data sets: make bench DATA=../data
bench: .venv/test
	$(BIN)/maxmargin bench $(if $(DATA),--data $(DATA))

# The figures of README and docs/benchmarks.md, measured again and written into the pages: under half an
# hour. SVM_HMM=path/to/svm_hmm_learn measures that program too.
bench-readme: .venv/test
	$(BIN)/maxmargin bench readme --fresh $(if $(DATA),--data $(DATA)) || test $$? -eq 1
	$(BIN)/python -m benchmarks.readme.pages
	$(BIN)/python tools/chunking_picture.py

# The pages go to site/; the examples are run for the gallery.
docs: .venv/docs
	$(BIN)/sphinx-build -q -W --keep-going docs site

.venv/docs: .venv/base
	$(BIN)/python -m pip install -q -e '.[docs,plot]'
	touch $@

.venv/base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[plot]'
	touch $@

.venv/test: .venv/base
	$(BIN)/python -m pip install -q -e '.[test,bench]'
	touch $@

.venv/soak: .venv/test
	$(BIN)/python -m pip install -q -e '.[soak]'
	touch $@

clean:
	rm -rf .venv .venv-* .pytest_cache .ruff_cache .hypothesis site docs/gallery
	find src tests -name __pycache__ -prune -exec rm -rf {} +
