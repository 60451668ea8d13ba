# SPDX-License-Identifier: Apache-2.0
# Two commands: `make demo` and `make test`. Both set the machine up first (scripts/setup; silent when there is nothing to do).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
export JOBS CMAKE_ARGS
release = build/release/src/cli/upskill

# run_tests PRESET LABEL: ctest, then what was skipped and why
run_tests = ctest --test-dir build/$(1) --output-on-failure --no-tests=error -j2 -L '$(2)'; status=$$?; \
	grep -h '^SKIPPED: ' build/$(1)/Testing/Temporary/LastTest.log | sort -u; exit $$status

# The steps share build folders, and each runs JOBS compilers.
.NOTPARALLEL:

.PHONY: all model demo test test-asan test-tsan test-release test-bare bench format install packages wheel deb setup setup-check clean

# Without the tests, unless `make test` has configured them: the setting stays in build/release.
all: setup
	@scripts/build release upskill

# The default model in the form that the program uses; it converts what set-up has fetched.
model: all
	@$(release) models pull default >/dev/null

demo: all
	$(release) eval examples/skills/kernel-builder-cuda-kernels --runs 3 --max-tokens 128

# Everything that must hold before a change is handed over; each step is a target of its own.
test: test-release test-asan test-tsan
	@echo "all tests passed"

# The real binary, end to end, and the include rules.
test-release: setup-check model
	@scripts/build release -DUPSKILL_TESTS=ON e2e_tests
	@$(call run_tests,release,e2e|rules)

# All unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, with clang-tidy over our sources.
test-asan: setup-check model
	@scripts/build dev
	@$(call run_tests,dev,unit)

# The threads: models, runner, engine, under ThreadSanitizer.
test-tsan: setup-check model
	@scripts/build tsan tsan_tests
	@$(call run_tests,tsan,threads)

# `make demo`, then the installed packages, on a bare Debian, in a root made for it (needs root and debootstrap; skipped with
# the reason otherwise).
test-bare:
	@tests/bare/check

# Ratios, measured in one run (bench/README.md says what each means).
bench: setup-check model
	@scripts/build bench
	@scripts/build plain upskill
	@bench/run build/bench

format:
	@scripts/format

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

clean:
	rm -rf build
