#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a run of any number of samples, of simulated students, without waiting for them.

usage: bench/long_journal.py UPSKILL RUNS_DIR SAMPLES
Prints the run's folder. Up to 10 students, 500 cases, 2 arms; lines of about 430 bytes. One round is made by the program;
the others repeat its lines with other rounds, and answers that pass or fail by chance (the same ones every time).
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile


def shape(samples):
    """Students, cases and rounds for about so many samples in two arms."""
    cases = 50 if samples < 100_000 else 500
    students = 1 if samples < 10_000 else 5 if samples < 1_000_000 else 10
    return students, cases, max(1, samples // (2 * cases * students))


def first_round(upskill, runs, students, cases):
    with tempfile.TemporaryDirectory() as folder:
        skill = pathlib.Path(folder) / "skill"
        skill.mkdir()
        (skill / "SKILL.md").write_text("---\nname: many\ndescription: d\n---\nBody.\n")
        (skill / "tests.json").write_text(json.dumps(
            [{"id": f"case-{i}", "input": f"question {i}", "expected": {"contains": f"answer {i}."}} for i in range(cases)]))
        models = [word for seed in range(students) for word in ("-m", f"sim:base=0.4,skill=0.5,seed={seed}")]
        subprocess.run([upskill, "eval", skill, "--runs-dir", runs, "--no-cache", "-q", "--runs", "1", *models],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return max(runs.glob("*/plan.json"), key=lambda path: path.stat().st_mtime).parent


def variants(line):
    """The line around the number of its round, as an answer that fails and as one that passes."""
    out = []
    for passed in (False, True):
        sample = json.loads(line)
        sample["round"] = "ROUND"
        sample["passed"] = passed
        sample["answer"] = ("The answer is as follows, with some words before it. " if passed else "I can't say this. ") * 2
        for check in sample["checks"]:
            check["outcome"] = "pass" if passed else "fail"
        before, after = json.dumps(sample, separators=(",", ":")).split('"ROUND"')
        out.append((before, after + "\n"))
    return out


def main():
    upskill, runs, samples = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    students, cases, rounds = shape(samples)
    run = first_round(upskill, runs, students, cases)
    plan = json.loads((run / "plan.json").read_text())
    plan["rounds"] = rounds
    (run / "plan.json").write_text(json.dumps(plan))
    templates = [variants(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    rng = random.Random(7)
    with open(run / "samples.jsonl", "w") as out:
        for number in range(rounds):
            bits = rng.getrandbits(len(templates))
            text = str(number)
            out.write("".join([text.join(pair[bits >> i & 1]) for i, pair in enumerate(templates)]))
    print(run)


if __name__ == "__main__":
    main()
