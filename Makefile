# SPDX-License-Identifier: Apache-2.0
# The main targets: `make demo` and `make test`. Both set up the machine first (scripts/setup; silent when there is nothing to do).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
export JOBS CMAKE_ARGS
release = build/release/src/cli/upskill

# One target at a time: they share build folders, and each runs JOBS compilers.
.NOTPARALLEL:

.PHONY: all model demo unit test test-asan test-tsan test-release test-bare test-slurm cuda cuda-check chaos bench fuzz fuzz-ci fuzz-coverage format docs install packages wheel deb setup setup-check setup-fuzz setup-slurm clean

# Without the tests, unless `make test` has configured them: build/release keeps the setting.
all: setup
	@scripts/build release upskill

# The default model in the format that the program uses, converted from the file that setup has downloaded.
model: all
	@$(release) models pull default >/dev/null

demo: all
	$(release) eval examples/skills/kernel-builder-cuda-kernels --runs 3 --max-tokens 128

# llama.cpp's CUDA back end, put beside the program, which then uses a GPU, also in `make demo` (docs/models.md). No GPU is
# needed to build it.
plugins = build/release/src/lib/upskill
cuda: all
	@plugin=$$(scripts/cuda-plugin) && mkdir -p $(plugins) && cp "$$plugin" $(plugins)/.cuda.new && mv $(plugins)/.cuda.new $(plugins)/libggml-cuda.so
	@echo "$(plugins)/libggml-cuda.so"

# Compiles a part of the back end and checks that the program loads it. No GPU is needed.
cuda-check: all
	@scripts/cuda-check $(release)

# The unit tests of one folder or source, built for a short loop of editing (docs/adding.md):
# make unit FOLDER=eval FILTER='Verdict*', or make unit SOURCE=src/eval/verdict/verdict.cpp; with sanitizers: PRESET=dev or tsan
unit:
	@scripts/unit $(if $(PRESET),-p $(PRESET)) $(if $(FILTER),-f '$(FILTER)') $(or $(SOURCE),$(FOLDER))

# Everything that must pass before a change is submitted; each step is also a target.
test: test-release test-asan test-tsan
	@echo "all tests passed"

# The real binary, end to end, and the rules for the sources.
test-release: setup-check model
	@scripts/build release -DUPSKILL_TESTS=ON e2e_tests
	@scripts/run-tests release 'e2e|rules'

# All unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, with clang-tidy over our sources.
test-asan: setup-check model
	@scripts/build dev
	@scripts/run-tests dev unit

# The code with threads (models, runner, engine, agents, sandbox, checks) under ThreadSanitizer.
test-tsan: setup-check model
	@scripts/build tsan tsan_tests
	@scripts/run-tests tsan threads

# `make demo`, then the packages, in a bare Debian created for the purpose (needs root and debootstrap; without them it is
# skipped, and the reason printed).
test-bare:
	@tests/bare/check

# `eval --on slurm` with a real Slurm on this machine (needs root; without it, or where Slurm can't be started, it is
# skipped, and the reason printed).
test-slurm: setup-slurm
	@scripts/build release -DUPSKILL_TESTS=ON upskill
	@tests/slurm/slurm_test.py $(release); status=$$?; [ $$status = 77 ] || exit $$status

# 2,000 runs of the real binary with kills, full disks and failing system calls; `make test` takes a tenth of them. CHAOS
# may name another number or seed: make chaos CHAOS='--runs 10000 --seed 7'.
CHAOS ?= --runs 2000
chaos: setup-check
	@scripts/build release -DUPSKILL_TESTS=ON upskill chaos_faults
	@tests/chaos/run $(release) build/release/tests/chaos/libchaos_faults.so $(CHAOS)

# Ratios, each measured in one run, and frequencies of false verdicts (bench/README.md says what they mean).
bench: setup-check model
	@scripts/build bench
	@scripts/build release -DUPSKILL_TESTS=ON upskill_teach_test
	@scripts/build plain upskill
	@bench/run build/bench

# Each parser of untrusted input under libFuzzer for FUZZ_SECONDS (docs/fuzzing.md).
FUZZ_SECONDS ?= 60
fuzz: setup-fuzz
	@scripts/build fuzz upskill_fuzz
	@fuzz/run -s $(FUZZ_SECONDS) build/fuzz

# The same with a number of inputs for each, the same ones every time.
FUZZ_INPUTS ?= 2000
fuzz-ci: setup-fuzz
	@scripts/build fuzz upskill_fuzz
	@fuzz/run -r $(FUZZ_INPUTS) build/fuzz

# Which lines of the parsers the corpus reaches.
fuzz-coverage: setup-fuzz
	@scripts/build coverage upskill_fuzz
	@fuzz/coverage build/coverage

format:
	@scripts/format

# The documentation as a site, in build/site; installs MkDocs into the cache.
docs:
	@scripts/site

install: model
	@cmake --install build/release --prefix $(PREFIX) >/dev/null && echo "installed $(PREFIX)/bin/upskill"

# Packages for other machines, in build/package/dist (docs/packages.md).
packages:
	@scripts/package wheel deb

wheel deb:
	@scripts/package $@

setup:
	@scripts/setup

setup-check:
	@scripts/setup --check

setup-fuzz:
	@scripts/setup --fuzz

setup-slurm:
	@scripts/setup --check --slurm

clean:
	rm -rf build
