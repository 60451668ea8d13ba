# SPDX-License-Identifier: Apache-2.0
"""Generations: with a recorded teacher (bench/run --only teaching), and simulated ones (shorten).

bench/teaching has the answers of a frontier model, given from the requests alone; the student is asked anew. Where the prompts have changed since,
the recorded answers are those of another request, so a much worse result means that they should be made again.
"""
import json
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TASK = "Write CUDA kernels with Hugging Face's kernel-builder for the H100"


def hand_in(bench, desk, recorded):
    """The next recorded answer, once it is asked for."""
    asked = sorted(desk.glob("*-request.md"))
    answers = sorted(desk.glob("*-answer.md"))
    if len(asked) == len(answers):
        return True
    answer = recorded / asked[-1].name.replace("request", "answer")
    if not answer.exists():
        print(f"no recorded answer to {asked[-1]}")
        return False
    return subprocess.run([bench.upskill, "desk", desk, "--answer", answer], stdout=subprocess.DEVNULL).returncode == 0


def figures(bench, model):
    folder = bench.folder / "teaching"
    desks = [(folder / name, ROOT / "bench/teaching" / name) for name in ("teacher", "tests")]
    for desk, _ in desks:
        desk.mkdir(parents=True)
    command = [bench.upskill.resolve(), "generate", TASK, "--from", ROOT / "examples/traces/kernel-builder-h100.jsonl", "-m", f"desk:{desks[0][0]}",
               "--test-gen-model", f"desk:{desks[1][0]}", "--eval-model", f"llama:{model}", "--cases", "12", "--max-attempts", "1", "--runs", "4",
               "-o", folder / "kernel-builder-h100", "--runs-dir", folder / "runs", "--json"]
    log = folder / "log"
    start = time.monotonic()
    with open(folder / "out", "w") as out, open(log, "w") as err:
        run = subprocess.Popen(command, stdout=out, stderr=err, cwd=folder)
        while run.poll() is None:
            if not all(hand_in(bench, *desk) for desk in desks):
                run.terminate()
                run.wait()
                break
            time.sleep(2)
    assert run.returncode == 0, log.read_text()[-2000:]
    seconds = time.monotonic() - start
    result = json.loads((folder / "out").read_text())
    for line in re.findall(r"^train .*", log.read_text(), re.MULTILINE):
        print(line)
    student = result["result"]["students"][0]
    lift = 100 * student["lift"]
    answers = sum(stage["calls"] for stage in result["stages"]["student"].values())
    yield f"points held out, with {result['tokens']} tokens of skill, after {answers} answers in {seconds:.0f} s", lift, ">=", 15
    yield "points of lift per 1,000 answers", 1000 * lift / answers, None, None
    for tag in student["tags"]:
        if tag["tag"] in ("recorded", "blind"):
            yield f"points held out, {tag['tag']} tests", 100 * tag["lift"], None, None


def shorten(bench):
    """300 simulated generations, in which parts of a skill are left out (Shorten in src/teach/shorten_test.cpp)."""
    program = bench.upskill.parents[3] / "release" / "src/teach/upskill_teach_test"
    report = bench.folder / "shorten.json"
    test = "Shorten.NeverLosesMoreThanTheMarginInSimulatedGenerations"
    subprocess.run([program, f"--gtest_filter={test}", f"--gtest_output=json:{report}"], stdout=subprocess.DEVNULL)
    found = json.loads(report.read_text())["testsuites"][0]["testsuite"][0]
    yield "generations of 300 that end with a shorter skill", float(found["shorter"]), ">=", 30
    yield ("largest loss of one of them on the train tests that the draft passes (points)",
           int(found["worst_loss_in_thousandths"]) / 10, "<=", 10)
