#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads what the program writes with the reader of the Python tool of the same name (upskill 0.2.1 of PyPI).

usage: python_tool_test.py UPSKILL READER

READER is the folder into which scripts/setup --check has unpacked the tool's wheel and pydantic. Its other dependencies
(fast-agent, click, rich, …) aren't installed: names are imported from them, but no reader calls them. Exit code 77 (skipped):
pydantic-core isn't compiled for this Python.
"""
import csv
import importlib.abc
import importlib.machinery
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

UPSKILL, READER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
SKIPPED = 77

if not READER.is_dir():
    sys.exit(f"{READER} is missing: run scripts/setup --check")
sys.path.insert(0, str(READER))
try:
    import pydantic
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages that nothing here calls."""

    def find_spec(self, name, path=None, target=None):
        known = name.split(".")[0] in ("click", "dotenv", "fast_agent", "rich", "yaml")
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec):
        module = mock.MagicMock(name=spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Absent())
from upskill import cli, logging, models  # noqa: E402

CASES = [
    {"id": "plain", "input": "one and one", "expected": {"contains": ["number 2"]}, "reference": "number 2"},
    {"id": "files", "input": "two", "context": {"files": {"a.txt": "two"}}, "expected": {"contains": "number 4"}},
    {"id": "pattern", "input": "three", "expected": {"contains": ["6"]}, "checks": [{"type": "regex", "pattern": "6$"}],
     "reference": "It is 6"},
]

TEACHER = """
import json, sys
request = sys.stdin.read()
draft = {"name": "made", "description": "Adds numbers. Use it for sums.", "references": [], "scripts": [],
         "sections": [{"title": "Adding", "rules": [{"text": "Say the total.", "cites": []}]}]}
cases = {"cases": [{"kind": "command" if k % 2 else "answer", "transfer": k % 4 == 1, "input": f"What is the sum number {k}?", "contains": [f"total-{k}."],
                    "any_of": [], "not_contains": [], "checks": [], "output_file": "", "reference": f"It is total-{k}.", "cites": []} for k in range(1, 17)]}
if '"name"' not in request.split("JSON schema:")[-1]:
    del draft["name"]
print(json.dumps(cases if '"cases"' in request else draft))
"""


class PythonTool(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="upskill-python-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "home").mkdir()
        self.runs = self.folder / "runs"

    def run_upskill(self, *arguments, code=0):
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "LANG": "C.UTF-8"}
        done = subprocess.run([UPSKILL, *map(str, arguments)], cwd=self.folder, env=variables, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def skill(self):
        folder = self.folder / "skills/adding"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n")
        (folder / "tests.json").write_text(json.dumps(CASES))
        return folder

    def evaluate(self, *more):
        self.run_upskill("eval", self.skill(), "-q", *more)
        return next(path for path in self.runs.iterdir() if (path / "plan.json").is_file())

    def test_a_generated_skill(self):
        # No skill is accepted here: the student fails whatever it is told.
        (self.folder / "teacher.py").write_text(TEACHER)
        self.run_upskill("generate", "Write CUDA kernels", "-m", f"cmd:{sys.executable} teacher.py", "--no-critique", "--eval-model",
                         "sim:base=0,skill=1", "--runs", "2", "--max-attempts", "0", "-o", "made")
        skill = models.Skill.load(self.folder / "made")
        self.assertEqual(skill.metadata.source_task, "Write CUDA kernels")
        self.assertEqual(skill.metadata.test_pass_rate, 1.0)
        self.assertIsNotNone(skill.metadata.generated_at)
        self.assertGreater(len(skill.tests), 4)
        ours = json.loads((self.folder / "made/skill_meta.json").read_text())["x-upskill"]["tests"]
        self.assertGreaterEqual(len(ours), len(skill.tests))
        self.assertTrue(all(entry["split"] in ("train", "test") and entry["id"] for entry in ours))
        self.run_upskill("check", "made")

    def test_a_new_skill(self):
        self.run_upskill("init", "new-skill")
        found = next(path for path in self.folder.rglob("tests.json"))
        skill = models.Skill.load(found.parent)
        self.assertEqual(skill.name, "new-skill")
        # The tool writes it anew, and leaves the cases where they are.
        skill.save(found.parent)
        self.run_upskill("eval", found.parent, "-m", "sim:base=0,skill=1", "-q")

    def test_run_folders_are_read(self):
        run = self.evaluate("-m", "sim:base=0,skill=1", "-m", "sim:base=1,skill=1", "--runs", "2")
        results = cli._load_eval_results(self.runs)
        self.assertEqual([(one["with_skill_rate"], one["baseline_rate"]) for one in results], [(1.0, 0.0), (1.0, 1.0)])
        self.assertEqual(logging.load_batch_summary(run).total_runs, 4)

    def test_an_export_has_a_run_for_each_round(self):
        run = self.evaluate("-m", "sim:base=0,skill=1", "--runs", "3")
        self.run_upskill("report", "latest", "--format", "python", "-o", "out")
        results = [logging.load_run_result(folder) for folder in logging.iter_run_folders(self.folder / "out")]
        self.assertEqual([one.run_type for one in results], ["baseline", "with_skill"] * 3)
        self.assertEqual([one.metadata.run_number for one in results], list(range(1, 7)))
        # `expected` of each case and one check more.
        self.assertEqual({one.assertions_total for one in results}, {4})
        self.assertEqual([one.passed for one in results], [False, True] * 3)
        self.assertEqual(logging.load_batch_summary(self.folder / "out" / run.name).results, results)
        self.assertEqual(len(cli._load_eval_results(self.folder / "out")), 3)

    def test_the_table_is_what_the_tool_makes_of_the_export(self):
        self.evaluate("-m", "sim:base=0,skill=1", "--runs", "2")
        self.run_upskill("report", "latest", "--format", "python", "-o", "out")
        self.run_upskill("runs", "--csv", "ours.csv", "--python")
        theirs = logging.summarize_runs_to_csv(self.folder / "out", self.folder / "theirs.csv")
        rows = [list(csv.DictReader(path.read_text().splitlines())) for path in (self.folder / "ours.csv", theirs)]
        self.assertEqual(list(rows[0][0]), logging.FIELDNAMES)
        for ours, python in zip(*rows, strict=True):
            self.assertEqual(ours, python)

    def test_a_tool_that_knows_no_other_keys_refuses_ours(self):
        """That this test would notice a test with a key of ours."""
        with self.assertRaises(pydantic.ValidationError):
            models.TestCase.model_validate(CASES[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
