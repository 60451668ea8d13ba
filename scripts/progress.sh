# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that run long commands: runs them with their output in a log and shows their progress, as one
# rewritten line on a terminal and as a plain line about every 5 seconds elsewhere.
#
#   progress_name=setup                          the prefix of messages; set by the sourcing script
#   progress_beside() { … }                      may be redefined: prints the progress of a background job
#   progress_run TITLE LOG FIGURE COMMAND…       runs COMMAND; FIGURE LOG prints its progress ("[12/210]")
#   progress_quiet=1                             no output when the command takes less than a second
progress_name=${0##*/}
progress_quiet=0
progress_said=0  # 1: the last progress_wait printed something
progress_jobs=()
progress_terminal=0 progress_columns=80
if [ -t 2 ]; then
  progress_terminal=1
  progress_columns=$(stty size <&2 2>/dev/null | cut -d' ' -f2) || progress_columns=80
  [ "${progress_columns:-0}" -gt 20 ] || progress_columns=80
fi

say() { if [ $progress_terminal = 1 ]; then printf '\r\e[K' >&2; fi; echo "$progress_name: $*" >&2; }

progress_beside() { :; }
no_figure() { :; }

# ninja's count: the last "[12/210]" of the log.
ninja_figure() { tail -c 65536 "$1" 2>/dev/null | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -1 || true; }

# apt's percentages (APT::Status-Fd=1): "dlstatus:3:41.2:…" while downloading, "pmstatus:…:63.0:…" while installing.
apt_figure() {
  tail -c 65536 "$1" 2>/dev/null | awk -F: '
    /^dlstatus:/ {text = sprintf("downloading %d %%", $3)}
    /^pmstatus:/ {text = sprintf("installing %d %% (%s)", $3, $2)}
    /^Waiting for cache lock|^Waiting for lock/ {text = "waiting for another package manager"}
    END {print text}' || true
}

# progress_start COMMAND…: in the background, in its own process group; the caller redirects its output. Its id is in $!.
progress_start() {
  set -m
  "$@" </dev/null &
  set +m
  progress_jobs+=("$!")
}

progress_stop_all() {
  local job
  for job in "${progress_jobs[@]}"; do kill -TERM -- "-$job" 2>/dev/null || true; done
  if [ $progress_terminal = 1 ]; then printf '\r\e[K' >&2; fi
}

# progress_trap: at the end of the script, ends the jobs that still run and names the $step that failed or was interrupted.
progress_trap() {
  trap progress_end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}
progress_end() {
  local status=$? doing=${step:?set by the sourcing script}
  progress_stop_all
  case $status in
    0) ;;
    130|143) say "interrupted while $doing. Run it again to continue; finished steps are kept." ;;
    *) say "FAILED while $doing. Fix the cause above and run it again; finished steps are kept." ;;
  esac
}

# progress_wait PID TITLE LOG FIGURE: shows the progress until the process ends; returns its exit status.
progress_wait() {
  local pid=$1 title=$2 log=$3 figure=$4 start=$SECONDS next=0 said=0 line count status=0
  local ticks=0
  if [ $progress_quiet = 0 ]; then say "$title"; said=1; fi
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    ticks=$((ticks + 1))
    if [ $said = 0 ] && [ $ticks -ge 4 ]; then say "$title"; said=1; fi
    # On a terminal twice a second, elsewhere every 5 seconds.
    if [ $progress_terminal = 1 ]; then [ $((ticks % 3)) = 0 ] || continue; else [ $((SECONDS - start)) -ge $((next + 5)) ] || continue; fi
    [ $said = 1 ] || continue
    next=$((SECONDS - start))
    count=$("$figure" "$log")
    line="$progress_name: $title${count:+ $count}, $next s$(progress_beside)"
    if [ $progress_terminal = 1 ]; then printf '\r\e[K%s' "${line:0:$((progress_columns - 1))}" >&2; else echo "$line" >&2; fi
  done
  wait "$pid" || status=$?
  local job running=()
  for job in "${progress_jobs[@]}"; do [ "$job" = "$pid" ] || running+=("$job"); done
  progress_jobs=("${running[@]}")
  if [ $progress_terminal = 1 ]; then printf '\r\e[K' >&2; fi
  # shellcheck disable=SC2034  # read by scripts/build
  progress_said=$said
  return $status
}

progress_run() {
  local title=$1 log=$2 figure=$3; shift 3
  progress_start "$@" >"$log" 2>&1
  progress_wait "$!" "$title" "$log" "$figure"
}

# show_errors LOG: the lines that say what went wrong, else the last ones.
show_errors() {
  local errors
  errors=$(grep -vE '^(dlstatus|pmstatus|media-change):' "$1" | grep -E -A6 '(^|[ :])(fatal )?error[: ]|^E: |CMake Error|^FAILED|undefined reference' | head -40) || true
  if [ -n "$errors" ]; then printf '%s\n' "$errors" >&2; else grep -vE '^(dlstatus|pmstatus):' "$1" | tail -20 >&2; fi
  say "the full log: $1"
}
