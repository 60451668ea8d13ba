#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads the logs that `report --format inspect` writes with Inspect AI's own reader (PyPI: inspect_ai).

usage: inspect_log_test.py UPSKILL

Exit code 77 (skipped): inspect_ai isn't installed for this Python. It isn't set up by scripts/setup, because it needs many
packages; `pip install inspect_ai` in a virtual environment, whose Python then runs this file, is enough.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

UPSKILL = Path(sys.argv[1]).resolve()
CASES = [
    {"id": "../up/plain", "input": "one and one", "expected": {"contains": ["number 2"]}, "reference": "number 2"},
    {"id": "files", "input": "two", "context": {"files": {"a.txt": "two"}}, "expected": {"contains": "number 4"}},
    {"id": "pattern", "input": "three", "expected": {"contains": ["6"]}, "checks": [{"type": "regex", "pattern": "6$"}],
     "reference": "It is 6"},
]


class InspectLog(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="upskill-inspect-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "home").mkdir()
        skill = self.folder / "skills/adding"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n")
        (skill / "tests.json").write_text(json.dumps(CASES))

    def run_upskill(self, *arguments):
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "LANG": "C.UTF-8"}
        done = subprocess.run([UPSKILL, *map(str, arguments)], cwd=self.folder, env=variables, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def evaluate(self, *more):
        self.run_upskill("eval", "skills/adding", "-q", *more)
        run = max((path for path in (self.folder / "runs").iterdir() if (path / "plan.json").is_file()),
                  key=lambda path: path.stat().st_mtime)
        lines = (run / "samples.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def compare(self, log, journal):
        self.assertEqual(log.status, "success")
        ours = {(one["case"], one["arm"], one["round"] + 1): one for one in journal}
        self.assertEqual(len(log.samples), len(ours))
        for sample in log.samples:
            one = ours[sample.metadata["case"], sample.metadata["arm"], sample.epoch]
            self.assertEqual(sample.output.completion, one["answer"])
            self.assertEqual(sample.messages[-1].text, one["answer"])
            passed = [check["outcome"] == "pass" for check in one["checks"]]
            self.assertEqual(sample.scores["passed"].value, "C" if all(passed) else "I")
            self.assertEqual([sample.scores[f"check {i + 1}"].value == "C" for i in range(len(passed))], passed)
            self.assertEqual(sum(usage.output_tokens for usage in sample.model_usage.values()), one["usage"]["output"])

    def test_a_log_is_what_the_journal_has(self):
        journal = self.evaluate("-m", "sim:base=0.3,skill=0.8", "--runs", "3")
        for name in ("log.eval", "log.json"):
            self.run_upskill("report", "latest", "--format", "inspect", "-o", name)
            self.compare(read_eval_log(str(self.folder / name)), journal)
        log = read_eval_log(str(self.folder / "log.eval"))
        metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
        with_skill = [sample for sample in log.samples if sample.metadata["arm"] == "skill"]
        rate = sum(sample.scores["passed"].value == "C" for sample in with_skill) / len(with_skill)
        self.assertAlmostEqual(metrics["accuracy (skill)"], rate)
        # What the viewer reads: the summaries, then one sample by its id.
        summaries = read_eval_log_sample_summaries(str(self.folder / "log.eval"))
        self.assertEqual(len(summaries), len(journal))
        for summary in summaries:
            sample = read_eval_log_sample(str(self.folder / "log.eval"), summary.id, summary.epoch)
            self.assertEqual(sample.uuid, summary.uuid)

    def test_several_models_are_a_folder(self):
        self.evaluate("-m", "sim:base=0,skill=1", "-m", "sim:base=1,skill=1")
        self.run_upskill("report", "latest", "--format", "inspect", "-o", "logs")
        logs = [read_eval_log(str(path)) for path in sorted((self.folder / "logs").iterdir())]
        self.assertEqual([log.eval.model for log in logs], ["sim:base=0,skill=1", "sim:base=1,skill=1"])
        self.assertEqual([len(log.samples) for log in logs], [6, 6])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
