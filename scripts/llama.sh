# shellcheck shell=bash disable=SC2034  # sourced; the variables are for the sourcing script
# SPDX-License-Identifier: Apache-2.0
# Sourced after scripts/pins and scripts/cache.sh, with $root set: where the pinned llama.cpp's source is, with our patches, and
# the flags that every build of it has in common.
llama_patches=("${root:?}"/cmake/patches/*.patch)
llama_source=${cache:?}/src/llama.cpp-$LLAMA_COMMIT-$(cat "${llama_patches[@]}" | sha256sum | cut -c1-8)
mapfile -t llama_flags < <(grep '^-D' "$root/scripts/llama-flags.txt")
