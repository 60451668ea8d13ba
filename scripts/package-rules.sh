# shellcheck shell=bash disable=SC2034  # sourced; the variables are for the sourcing script
# SPDX-License-Identifier: Apache-2.0
# What must hold of a package's files; sourced by scripts/package, which checks it when building one, and by
# tests/bare/try-package, which checks it after installing one.
max_installed_bytes=32000000  # without the model

# megabytes BYTES
megabytes() { awk -v bytes="$1" 'BEGIN {printf "%.1f MB", bytes / 1e6}'; }

# foreign_libraries: reads names of shared libraries, prints those that are neither part of glibc nor in the package.
foreign_libraries() {
  grep -vxE 'lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux-x86-64\.so\.2|linux-vdso\.so\.1|libggml-base\.so\.0' || true
}
