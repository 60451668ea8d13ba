#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types the command lines of docs/from-python.md as they are printed there, and compares what happens with its table.

usage: from_python_test.py UPSKILL

Providers are imitated on the loopback interface: every model answers with the same sentence. No teacher's answer is of use then, so
that of `generate`, the table has what it says before.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from provider import Provider, Server

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/from-python.md"
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| (.*)\|$")

# As in the README of the Python tool.
CONFIGURATION = """skill_generation_model: sonnet   # Default skill generation model
eval_model: haiku               # Default evaluation model (optional)
test_gen_model: null            # Optional test generation model
skills_dir: ./skills            # Where to save skills
runs_dir: ./runs                # Where to save run logs
max_refine_attempts: 3          # Refinement iterations
"""
SENTENCE = "The first word is alpha, the last is omega."


def rows():
    """(command line, words of the output) for each row of the table of command lines."""
    section = DOCUMENT.read_text().split("\n## Command lines\n", 1)[1].split("\n## ", 1)[0]
    for line in section.splitlines():
        if line.startswith("| `"):
            row = ROW.match(line)
            if not row:
                raise ValueError(f"docs/from-python.md: this row isn't `command` | `words of the output` | text: {line}")
            yield row[1], row[2]


class Alpha(Provider):
    def answer(self, prompt, body):
        return SENTENCE


class CommandLines(unittest.TestCase):
    def prepare(self, folder):
        """What a user of the Python tool has: skills with tests, traces, runs."""
        tests = [{"input": "What is the first word?", "expected": {"contains": ["alpha"]}},
                 {"input": "What is the last word?", "expected": {"contains": ["omega"]}}]
        for name in ("my-skill", "git-commit-messages", "api-errors", "kernel-builder-cuda-kernels"):
            skill = folder / "skills" / name
            skill.mkdir(parents=True)
            (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Use when asked.\n---\n\nSay alpha, then omega.\n")
            (skill / "skill_meta.json").write_text(json.dumps({"metadata": {"version": "1.0"}, "tests": tests}))
        (folder / "my-skills").mkdir()
        (folder / "tests.json").write_text(json.dumps(tests))
        (folder / "trace.md").write_text("# Session\n\n**User:** Write it.\n\n**Assistant:** Begin with alpha, and end with omega.\n")
        (folder / "trace.json").write_text(json.dumps([{"role": "user", "content": "Write it."},
                                                       {"role": "assistant", "content": "Begin with alpha, and end with omega."}]))
        run = folder / "runs/2026_01_22_13_10"
        for number, kind in ((1, "baseline"), (2, "with_skill")):
            metadata = {"model": "haiku", "task": "my-skill", "batch_id": run.name, "run_number": number,
                        "timestamp": "2026-01-22T13:10:00"}
            (run / f"run_{number}").mkdir(parents=True)
            (run / f"run_{number}/run_metadata.json").write_text(json.dumps(metadata))
            (run / f"run_{number}/run_result.json").write_text(json.dumps(
                {"metadata": metadata, "stats": {"input_tokens": 276, "output_tokens": 100 * number, "total_tokens": 276 + 100 * number}, "passed": True, "assertions_passed": 2 + number,
                 "assertions_total": 5, "run_type": kind, "skill_name": "my-skill"}))
        (folder / "my-runs").mkdir()
        (folder / "upskill.config.yaml").write_text(CONFIGURATION)

    def run_line(self, line):
        base = self.server.url
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.prepare(folder)
            (folder / "home").mkdir()
            environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "ANTHROPIC_API_KEY": "sk-ant-none-of-anybody",
                           "ANTHROPIC_BASE_URL": base, "HF_TOKEN": "hf_none_of_anybody", "HF_BASE_URL": base + "/v1",
                           "GENERIC_BASE_URL": base + "/v1"}
            words = shlex.split(line.replace("http://localhost:8080", base))
            self.assertEqual(words[0], "upskill", line)
            done = subprocess.run([PROGRAM, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, timeout=60,
                                  stdin=subprocess.DEVNULL)
            return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr)

    def test_each_does_what_the_table_says(self):
        self.server = Server(Alpha, self)
        table = list(rows())
        self.assertGreater(len(table), 40)
        for line, words in table:
            with self.subTest(line):
                code, output = self.run_line(line)
                self.assertIn(words, output)
                self.assertNotIn("Traceback", output)
                is_refused = words.startswith("error: ")
                if not line.startswith("upskill generate") and line != "upskill":
                    self.assertEqual(code, 2 if is_refused else 0, output)
                if not is_refused:
                    self.assertNotIn("usage: upskill", output)


if __name__ == "__main__":
    unittest.main()
