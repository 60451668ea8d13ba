# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that keep files between runs: sets $cache to the folder for them, an absolute path.
if [ -n "${UPSKILL_CACHE:-}" ]; then
  cache=$UPSKILL_CACHE
elif [ -n "${XDG_CACHE_HOME:-}" ]; then
  cache=$XDG_CACHE_HOME/upskill
elif [ -n "${HOME:-}" ]; then
  cache=$HOME/.cache/upskill
else
  echo "${0##*/}: no folder for downloads and builds: set HOME or UPSKILL_CACHE" >&2
  exit 2
fi
case "$cache" in /*) ;; *) cache=$PWD/$cache ;; esac
if [ -e "$cache" ] && [ ! -d "$cache" ]; then
  echo "${0##*/}: $cache isn't a folder: set UPSKILL_CACHE to a folder" >&2
  exit 2
fi
