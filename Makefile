# SPDX-License-Identifier: Apache-2.0
# Two commands: `make demo` and `make test`. Both set the machine up first (scripts/setup; quiet when nothing is to do).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
release = build/release/src/cli/upskill

.PHONY: all demo test test-asan test-tsan test-release bench install setup setup-check clean

all: setup
	@cmake --preset release $(CMAKE_ARGS) --log-level=WARNING >/dev/null && ninja -C build/release -j$(JOBS) --quiet upskill

demo: all
	$(release) eval examples/skills/kernel-builder-cuda-kernels --runs 3 --max-tokens 128

# Everything that must hold before a change is handed over; each step is a target of its own.
test: test-release test-asan test-tsan
	@echo "all tests passed"

# The real binary, end to end, and the include rules.
test-release: setup-check
	@cmake --preset release $(CMAKE_ARGS) --log-level=WARNING >/dev/null && ninja -C build/release -j$(JOBS) --quiet e2e_tests
	@ctest --test-dir build/release --output-on-failure --no-tests=error -j2 -L 'e2e|rules'

# All unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, with clang-tidy over our sources.
test-asan: setup-check
	@cmake --preset dev $(CMAKE_ARGS) --log-level=WARNING >/dev/null && ninja -C build/dev -j$(JOBS) --quiet
	@ctest --test-dir build/dev --output-on-failure --no-tests=error -j2 -L unit

# The threads: models, runner, engine, under ThreadSanitizer.
test-tsan: setup-check
	@cmake --preset tsan $(CMAKE_ARGS) --log-level=WARNING >/dev/null && ninja -C build/tsan -j$(JOBS) --quiet tsan_tests
	@ctest --test-dir build/tsan --output-on-failure --no-tests=error -j2 -L threads

# Ratios, measured in one run (bench/README.md says what each means).
bench: setup-check
	@cmake --preset bench $(CMAKE_ARGS) --log-level=WARNING >/dev/null && ninja -C build/bench -j$(JOBS) --quiet
	@bench/run build/bench

install: all
	@cmake --install build/release --prefix $(PREFIX) >/dev/null && echo "installed $(PREFIX)/bin/upskill"

setup:
	@scripts/setup

setup-check:
	@scripts/setup --check

clean:
	rm -rf build
