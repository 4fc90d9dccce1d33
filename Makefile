# Every job of the repository. `make help` lists them; each target makes what it needs first:
# .venv (a virtual environment with requirements-dev.txt) and the compiled engine inside it.
# Leaves out: what each check demands, which stands in pyproject.toml, Cargo.toml and clippy.toml.

PYTHON ?= python3
VENV ?= .venv
# The interpreters into which `make wheel` installs what it built.
PYTHONS ?= $(PYTHON)
CORPUS ?=
CORPORA ?=
VOCABS ?=
INPUTS ?= 1000000

BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
export PATH := $(PATH):$(HOME)/.cargo/bin
# A stamp with contents: where Rust is, if this Makefile had to install it.
WITH_RUST := . $(if $(filter /%,$(STAMPS)),,./)$(STAMPS)/rust.env &&
# The engine as it is on other processors and systems: nothing that only some have.
PORTABLE := SYLLABARY_PORTABLE=1 CARGO_TARGET_DIR=target/portable

ENGINE_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name README.md) Cargo.toml Cargo.lock pyproject.toml

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check bench bench-train docs wheel prove fuzz sanitize clean build test-rust test-python

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build  ## train on Python's own library and show every stage; CORPUS=PATH: on your text
	@$(BIN)/python -m syllabary demo --output build/demo $(if $(CORPUS),"$(CORPUS)")

# Linking the engine keeps one core busy for minutes, and installing waits for the network: the tests of the
# crates are built and run beside both.
test: $(STAMPS)/rust.env  ## run all tests, of the crates and of the package
	$(MAKE) --no-print-directory --jobs=3 test-rust $(STAMPS)/compiled $(STAMPS)/gpt
	$(MAKE) --no-print-directory test-python

check: build $(STAMPS)/gpt  ## format, lints, types, stubs, layers, then all tests
	$(WITH_RUST) cargo fmt --all --check
	$(WITH_RUST) cargo clippy --locked --workspace --all-targets -- -D warnings
	$(WITH_RUST) $(PORTABLE) cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	for system in linux darwin win32; do \
	  $(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system || exit 1; done
	$(BIN)/python -m mypy.stubtest syllabary._engine
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory test

bench: build $(STAMPS)/bench  ## measure encoding and decoding against the peers; CORPORA=, VOCABS=FOLDER: those, else ../shared's
	$(BIN)/python bench/encode.py $(if $(CORPORA),--corpora "$(CORPORA)") $(if $(VOCABS),--vocabs "$(VOCABS)")
	$(BIN)/python bench/models.py $(if $(CORPORA),--corpora "$(CORPORA)")
	$(BIN)/python bench/readme.py

bench-train: build $(STAMPS)/bench  ## measure training against every trainer installed, seconds and memory; CORPORA as above
	$(BIN)/python bench/train.py $(if $(CORPORA),--corpora "$(CORPORA)")
	$(BIN)/python bench/readme.py

docs: build $(STAMPS)/gpt  ## run every example of README, docs/, docstrings and --help; document the crates
	SYLLABARY_PROVE=1 $(BIN)/pytest tests/test_docs.py
	$(WITH_RUST) RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

wheel: $(STAMPS)/rust.env  ## build wheel and sdist into dist/ and try both in fresh environments
	rm -rf dist
	$(WITH_RUST) $(BIN)/maturin build --release --locked --sdist --out dist
	$(WITH_RUST) $(BIN)/python tools/check_wheel.py --dist dist --tests $(foreach python,$(PYTHONS),--python $(python))

prove: build $(STAMPS)/gpt  ## the long proofs: every test on whole corpora and many more drawn cases; writes docs/proof.md
	$(WITH_RUST) SYLLABARY_PROVE=1 cargo test --locked --workspace --profile proof
	$(WITH_RUST) $(PORTABLE) cargo test --locked --workspace --profile proof
	rm -f build/proof.json build/compatibility.json build/models.json
	SYLLABARY_PROVE=1 HYPOTHESIS_PROFILE=thorough $(BIN)/pytest --timeout 3600
	$(BIN)/python tools/write_proof.py

fuzz: build  ## damaged files for every reader, drawn text for every split and encoder; INPUTS=1000000 of each
	$(BIN)/python fuzz/run.py --inputs $(INPUTS)
	$(BIN)/python fuzz/drawn.py --inputs $(INPUTS) $(if $(VOCABS),--vocabs "$(VOCABS)")

sanitize: $(STAMPS)/rust.env  ## the tests of modules with `unsafe` under AddressSanitizer; x86-64 Linux
	$(WITH_RUST) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
	  CARGO_TARGET_DIR=target/sanitize cargo test --locked --target x86_64-unknown-linux-gnu --workspace --lib \
	  -- split::walk encode:: merge:: run:: models:: pages:: threads train:: lists:: utf8:: strings:: decode characters places normalize:: charwise:: wordwise:: new_strings

clean:  ## remove everything that make made
	rm -rf $(VENV) target build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find python -name '_engine*.so' -delete

build: $(STAMPS)/engine

test-rust: $(STAMPS)/rust.env
	$(WITH_RUST) $(PORTABLE) cargo check --quiet --locked --workspace --all-targets
	$(WITH_RUST) cargo test --locked --workspace

test-python: build $(STAMPS)/gpt
	$(BIN)/pytest -n auto --dist worksteal

$(STAMPS)/venv:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# What compiles the engine, before all else is installed: both take minutes.
$(STAMPS)/maturin: requirements-dev.txt | $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep '^maturin==' requirements-dev.txt)
	@touch $@

$(STAMPS)/dependencies: requirements-dev.txt requirements-data.txt $(STAMPS)/maturin
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python \
	  --requirement requirements-data.txt
	@touch $@

$(STAMPS)/bench: requirements-bench.txt $(STAMPS)/gpt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-bench.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target build/peers/tokenizers-rc3 tokenizers==1.0.0rc3
	@touch $@

$(STAMPS)/gpt: requirements-gpt.txt $(STAMPS)/dependencies
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-gpt.txt
	@touch $@

# Rust as it is on this machine; where there is none, a toolchain of its own inside the virtual environment.
# Then it is installed after all else, not beside it: two `pip` do not share a folder.
$(STAMPS)/rust.env: | $(if $(shell PATH="$(PATH)" command -v cargo),$(STAMPS)/venv,$(STAMPS)/gpt)
	@if command -v cargo >/dev/null; then : >$@; else \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check puccinialin==0.1.14 && \
	  $(BIN)/python -m puccinialin --location "$(abspath $(VENV))/rust" --info-json $(STAMPS)/rust.json && \
	  $(BIN)/python -c 'import json, shlex, sys; [print(f"export {key}={shlex.quote(value)}") \
	    for key, value in json.load(open(sys.argv[1]))["env"].items()]' $(STAMPS)/rust.json >$@ && \
	  . ./$@ && rustup component add clippy rustfmt; fi

# The engine, not yet installed: so that nothing else has to be, and `engine` finds it compiled.
$(STAMPS)/compiled: $(ENGINE_SOURCES) $(STAMPS)/rust.env $(STAMPS)/maturin
	$(WITH_RUST) $(BIN)/maturin build --release --locked --interpreter $(BIN)/python --out build/compiled
	@touch $@

$(STAMPS)/engine: $(ENGINE_SOURCES) $(STAMPS)/rust.env $(STAMPS)/dependencies
	$(WITH_RUST) $(BIN)/maturin develop --release --locked
	@touch $@
