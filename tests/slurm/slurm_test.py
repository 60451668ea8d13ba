#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""eval --on slurm with a real Slurm: slurm_test.py UPSKILL. Exits with 77 where there can be none."""
import json
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import one_machine
from one_machine import wait_for

UPSKILL = ""
CLUSTER = None
CASES = 12


def answers(run):
    """What a run has of each cell, whoever measured it when."""
    lines = (run / "samples.jsonl").read_text().splitlines()
    samples = [json.loads(line) for line in lines]
    return sorted((s["model"], s["arm"], s["case"], s["round"], s["answer"]) for s in samples if "answer" in s)


class EvalOnSlurm(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        skill = self.folder / "adding"
        skill.mkdir()
        (skill / "SKILL.md").write_text("---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n")
        cases = [{"id": f"c{i}", "input": f"{i} and {i}", "expected": {"contains": "number"}} for i in range(CASES)]
        (skill / "tests.json").write_text(json.dumps(cases))
        wait_for(lambda: CLUSTER.idle() == CLUSTER.nodes, 60, "idle nodes")

    def command(self, *more, seconds=0.0):
        model = f"sim:base=0,skill=1,latency-ms={int(seconds * 1000)},cost=0.001"
        return [UPSKILL, "eval", "adding", "-m", model, "-j", "1", "--no-ledger", *more]

    def start(self, *more, seconds=0.0, shards=4):
        command = self.command("--on", "slurm", "--shards", str(shards), *more, seconds=seconds)
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    # upskill pauses for 30 s before it submits a shard again that ended within a minute, and for 120 s the second time.
    def end(self, process, code=0, limit=240):
        try:
            out, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            self.fail(f"no end within {limit} s\n{out}\n{CLUSTER.state()}\n{json.dumps(self.record(), indent=1)}")
        self.assertEqual(process.returncode, code, f"{out}\n{CLUSTER.state()}")
        return out

    def run_folder(self):
        runs = [path.parent for path in (self.folder / "runs").glob("*/jobs.json")]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def record(self):
        return json.loads((self.run_folder() / "jobs.json").read_text())

    def journaled(self):
        return sum(len(path.read_text().splitlines()) for path in self.folder.glob("runs/*/shards/*/*/samples.jsonl"))

    def wait_until_running(self, tasks=2, samples=2):
        wait_for(lambda: len(CLUSTER.tasks("RUNNING")) >= tasks and self.journaled() >= samples, 60, "running tasks")

    def check_run(self):
        self.assertEqual(len(answers(self.run_folder())), 2 * CASES)

    def test_shards_give_the_answers_of_one_machine(self):
        out = self.end(self.start())
        self.check_run()
        self.assertEqual(len(self.record()["submissions"]), 1, out)
        subprocess.run(self.command("--runs-dir", "here", "--no-cache"), cwd=self.folder, check=True, capture_output=True)
        here = next((self.folder / "here").glob("*/samples.jsonl")).parent
        self.assertEqual(answers(self.run_folder()), answers(here))

    def test_a_node_dies(self):
        process = self.start(seconds=0.5)
        self.wait_until_running()
        CLUSTER.cut_power(1)
        try:
            self.end(process)
        finally:
            CLUSTER.switch_on(1)
        self.check_run()

    def test_what_a_node_took_with_it_is_submitted_again_under_a_limit(self):
        process = self.start("--max-cost", "5", seconds=0.5)
        self.wait_until_running()
        CLUSTER.cut_power(1)
        try:
            out = self.end(process)
        finally:
            CLUSTER.switch_on(1)
        self.check_run()
        submitted = [submission["shards"] for submission in self.record()["submissions"]]
        self.assertEqual(submitted[0], [1, 2, 3, 4], out)
        self.assertGreaterEqual(len(submitted), 2, out)
        self.assertTrue(all(len(shards) < 4 for shards in submitted[1:]), out)

    def test_a_preempted_task(self):
        process = self.start(seconds=0.5)
        self.wait_until_running()
        subprocess.run(["sbatch", "-p", "high", "--exclusive", "-N", str(CLUSTER.nodes), "-o", "/dev/null", "--wrap",
                        "sleep 3"], check=True, capture_output=True)
        wait_for(lambda: len(CLUSTER.tasks("PENDING")) == 4, 30, "preemption")
        self.end(process)
        self.check_run()

    def test_the_end_of_the_driver_and_resume(self):
        process = self.start(seconds=0.5)
        self.wait_until_running()
        process.kill()
        process.communicate()
        model = self.command(seconds=0.5)[3:5]
        resumed = subprocess.run([UPSKILL, "eval", "adding", *model, "-j", "1", "--on", "slurm", "--resume"],
                                 cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.check_run()
        self.assertNotIn("submitted 4 shards", resumed.stderr)

    def test_one_signal_leaves_the_jobs_and_two_cancel_them(self):
        process = self.start(seconds=2)
        self.wait_until_running()
        process.send_signal(signal.SIGINT)
        out = self.end(process, 130)
        self.assertIn("the jobs keep running. Continue with:\n  upskill eval adding --on slurm", out)
        self.assertGreaterEqual(len(CLUSTER.tasks("RUNNING,PENDING")), 1)
        line = out.split("Continue with:\n", 1)[1].strip().replace("upskill", UPSKILL, 1)
        process = subprocess.Popen(["sh", "-c", "exec " + line], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertIn("the jobs are cancelled", self.end(process, 130))
        wait_for(lambda: not CLUSTER.tasks("RUNNING,PENDING"), 20, "the end of all tasks")


if __name__ == "__main__":
    reason = one_machine.missing()
    if reason:
        print(f"SKIPPED: slurm_test: {reason}")
        sys.exit(77)
    UPSKILL = str(Path(sys.argv.pop(1)).resolve())
    with tempfile.TemporaryDirectory(prefix="upskill-slurm-") as held:
        CLUSTER = one_machine.Cluster(held)
        try:
            program = unittest.main(exit=False, verbosity=2)
        finally:
            CLUSTER.stop()
    sys.exit(0 if program.result.wasSuccessful() else 1)
