# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that keep something between runs: $cache is the folder for it, an absolute path.
if [ -n "${UPSKILL_CACHE:-}" ]; then
  cache=$UPSKILL_CACHE
elif [ -n "${XDG_CACHE_HOME:-}" ]; then
  cache=$XDG_CACHE_HOME/upskill
elif [ -n "${HOME:-}" ]; then
  cache=$HOME/.cache/upskill
else
  echo "${0##*/}: no place for downloads and builds: set HOME or UPSKILL_CACHE" >&2
  exit 2
fi
case "$cache" in /*) ;; *) cache=$PWD/$cache ;; esac
if [ -e "$cache" ] && [ ! -d "$cache" ]; then
  echo "${0##*/}: $cache isn't a folder: set UPSKILL_CACHE to one" >&2
  exit 2
fi
