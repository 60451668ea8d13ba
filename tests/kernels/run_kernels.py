#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the CUDA programs of this folder on the emulated device and says where its judgement differs from theirs.

  run_kernels.py UPSKILL [right] [bugs] [cheats] [nvrtc] [--fast] [--only NAME]...
                         [--nvcc-flags FLAGS] [--nvrtc DIR] [--times FILE]

right/  must end with exit code 0, and nothing may be found.
bugs/   must be reported at one of the lines that the head comment names.
nvrtc   is right/ once more, with device code that NVRTC (of the package nvidia-cuda-nvrtc, or in DIR) compiles. Without
        NVRTC it is left out.
cheats/ are answers for four functions (checks.json): cheats must fail their check, honest ones must pass it.
Exit code: 0 if everything is as it should be, 1 if not, 77 if there is no nvcc.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import nvrtc_toolchain

HERE = pathlib.Path(__file__).resolve().parent

# Some of each kind, for the ordinary tests.
FAST = {
    "right": ["vector_add", "reduce_shuffle", "gemm_tiled", "scan_block", "sort_bitonic", "match_any"],
    "bugs": ["reduce_missing_first_barrier", "guard_off_by_one", "float4_from_odd_start", "shared_sum_not_zeroed",
             "cp_async_without_wait", "barrier_in_branch"],
}

# What a tool may call each kind of bug.
KINDS = {
    "race": {"race"},
    "out-of-bounds": {"out-of-bounds"},
    "misaligned": {"misaligned"},
    "uninitialised": {"uninitialised"},
    "missing-wait": {"async-read", "race", "uninitialised"},
    "divergent-barrier": {"divergent-barrier", "bad-synchronisation", "deadlock"},
    "deadlock": {"deadlock", "divergent-barrier", "bad-synchronisation", "race"},
}

# Bugs that only the program's own comparison, or an error of the runtime, can show.
BY_RESULT = {"wrong-result", "leak-of-schedule"}


class Outcome:
    def __init__(self, group, name, good, verdict, detail, seconds):
        self.group, self.name, self.good = group, name, good
        self.verdict, self.detail, self.seconds = verdict, detail, seconds


def whole_text(file):
    """The program with program.cuh in place of its #include, since the compiler sees one file; lines keep their numbers."""
    before, include, after = file.read_text().partition('#include "program.cuh"\n')
    if not include:
        return before
    return f'{before}{(HERE / "program.cuh").read_text()}#line {before.count(chr(10)) + 2}\n{after}'


def check(upskill, file, schedules, flags, toolchain):
    """The report of `upskill kernel check --json`, or a text that says why there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        program = pathlib.Path(scratch) / file.name
        program.write_text(whole_text(file))
        command = [upskill, "kernel", "check", str(program), "--json", "--schedules", str(schedules), "--timeout", "60"]
        if flags:
            command.append(f"--nvcc-flags={flags}")
        if toolchain:
            command += ["--toolchain", str(toolchain)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=900, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"


def place_line(place):
    found = re.search(r":(\d+)(?::\d+)?$", place or "")
    return int(found.group(1)) if found else 0


def first_of(report):
    for finding in report.get("findings", []):
        return f"{finding.get('kind')} at {finding.get('place')}: {finding.get('message')}"
    return (report.get("failure") or report.get("limit") or report.get("output", "").strip()[-200:]
            or f"exit code {report.get('exit_code')}")


def judge_right(report):
    if isinstance(report, str):
        return False, "not run", report
    clean = not report["findings"] and report["exit_code"] == 0 and not report["failure"] and not report["limit"]
    if clean and report["output"].rstrip().endswith("ok"):
        return True, "ok", ""
    return False, "false finding" if report["findings"] else "wrong result", first_of(report)


def read_bug(file):
    head = re.search(r"^// bug: kind=(\S+) line=(\S+) words=(.*)$", file.read_text(), re.M)
    if head is None:
        sys.exit(f"{file}: no head comment '// bug: kind=… line=… words=…'")
    return head.group(1), [int(line) for line in head.group(2).split(",")]


def judge_bug(file, report):
    kind, lines = read_bug(file)
    if isinstance(report, str):
        return False, "not run", report
    if kind in BY_RESULT:
        seen = report["exit_code"] != 0 or report["findings"] or report["failure"]
        return bool(seen), "seen" if seen else "missed", "" if seen else first_of(report)
    at_line = [f for f in report["findings"]
               if place_line(f.get("place")) in lines or place_line(f.get("other_place")) in lines]
    if any(f["kind"] in KINDS[kind] for f in at_line):
        return True, "at the line", ""
    expected = f"{kind} at {'/'.join(map(str, lines))}, but: {first_of(report)}"
    if at_line:
        return False, "other kind", expected
    if report["findings"] or report["failure"] or report["limit"]:
        return False, "other line", expected
    return False, "missed", expected


def run_programs(upskill, group, names, flags, toolchain=None):
    for file in sorted((HERE / ("right" if group == "nvrtc" else group)).glob("*.cu")):
        if names and file.stem not in names:
            continue
        begin = time.monotonic()
        try:
            report = check(upskill, file, 4 if group == "bugs" else 2, flags, toolchain)
        except subprocess.TimeoutExpired:
            report = "it doesn't end"
        good, verdict, detail = judge_bug(file, report) if group == "bugs" else judge_right(report)
        yield Outcome(group, file.stem, good, verdict, detail, time.monotonic() - begin)


def run_by_nvrtc(upskill, names, options):
    nvrtc = nvrtc_toolchain.find_nvrtc(options.nvrtc)
    if nvrtc is None:
        print("left out: nvrtc (no libnvrtc; `pip install nvidia-cuda-nvrtc==13.0.*`, the version of nvcc, or --nvrtc DIR)")
        return
    with tempfile.TemporaryDirectory() as scratch:
        toolchain = nvrtc_toolchain.make_toolchain(pathlib.Path(scratch), nvrtc)
        yield from run_programs(upskill, "nvrtc", names, options.nvcc_flags, toolchain)


def make_suite(folder, function, spec, answer):
    """A suite for `upskill check` with one answer, judged as if it were the reference: it passes or it doesn't."""
    case = {"id": function, "input": f"Write launch_{function} in answer.cu.",
            "checks": [dict(spec, type="cuda_run", file="answer.cu")]}
    (folder / "tests.json").write_text(json.dumps({"cases": [case]}))
    reference = folder / "answers" / function / "reference"
    reference.mkdir(parents=True)
    shutil.copy(answer, reference / "answer.cu")
    return folder / "tests.json"


def run_cheats(upskill, names):
    checks = json.loads((HERE / "cheats" / "checks.json").read_text())
    for file in sorted((HERE / "cheats").glob("*.cu")):
        if names and file.stem not in names:
            continue
        text = file.read_text()
        function = re.search(r"^// function: (\S+)$", text, re.M).group(1)
        honest = "// honest:" in text
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            suite = make_suite(pathlib.Path(scratch), function, checks[function], file)
            done = subprocess.run([upskill, "check", str(suite), "--json"], capture_output=True, text=True,
                                  errors="replace", timeout=900, check=False)
        passed = done.returncode == 0 and '"skip"' not in done.stdout
        good = passed == honest
        verdict = "passes" if passed else "refused"
        detail = "" if good else (done.stdout + done.stderr).strip()[-300:]
        yield Outcome("honest" if honest else "cheats", file.stem, good, verdict, detail, time.monotonic() - begin)


def print_summary(outcomes):
    print(f"\n{'group':8} {'all':>5} {'as they should be':>18} {'seconds':>8}  verdicts")
    for group in ("right", "nvrtc", "bugs", "cheats", "honest"):
        of_group = [o for o in outcomes if o.group == group]
        if not of_group:
            continue
        verdicts = {}
        for outcome in of_group:
            verdicts[outcome.verdict] = verdicts.get(outcome.verdict, 0) + 1
        text = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        print(f"{group:8} {len(of_group):5} {sum(o.good for o in of_group):18} "
              f"{sum(o.seconds for o in of_group):8.1f}  {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("upskill")
    parser.add_argument("groups", nargs="*", default=[])
    parser.add_argument("--fast", action="store_true", help="a dozen of them")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--nvcc-flags", metavar="FLAGS", help="compile right/ and bugs/ with these, too: '-G'")
    parser.add_argument("--nvrtc", metavar="DIR", help="the folder of libnvrtc")
    parser.add_argument("--times", metavar="FILE", help="write the seconds of each program there")
    options = parser.parse_args()
    if shutil.which("nvcc") is None:
        print("SKIPPED: CUDA programs on the emulated device: no nvcc")
        return 77
    if subprocess.run([options.upskill, "kernel", "check", "--help"], capture_output=True, check=False).returncode != 0:
        print("SKIPPED: CUDA programs on the emulated device: this program has no command `kernel check`")
        return 77
    outcomes = []
    for group in options.groups or ["right", "bugs"]:
        names = options.only or (FAST.get(group) if options.fast else None)
        if group == "cheats":
            run = run_cheats(options.upskill, names)
        elif group == "nvrtc":
            run = run_by_nvrtc(options.upskill, names, options)
        else:
            run = run_programs(options.upskill, group, names, options.nvcc_flags)
        for outcome in run:
            outcomes.append(outcome)
            print(f"{'ok  ' if outcome.good else 'FAIL'} {outcome.seconds:6.1f} s  {group}/{outcome.name}: "
                  f"{outcome.verdict}{': ' + outcome.detail if outcome.detail else ''}", flush=True)
    print_summary(outcomes)
    if options.times:
        lines = [f"{o.seconds:.2f}\t{o.group}/{o.name}\n" for o in sorted(outcomes, key=lambda o: -o.seconds)]
        pathlib.Path(options.times).write_text("".join(lines))
    return 0 if outcomes and all(o.good for o in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
