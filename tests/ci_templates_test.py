#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts of docs/ci.md as a runner would carry them out, with a key and without: ci_templates_test.py PROGRAM [TEST…]"""
import json
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from action_test import ROOT, Repository  # takes PROGRAM; puts tests/support into the path
from provider import Provider, Server


class Anthropic(Provider):
    def answer(self, prompt, body):
        asked = re.findall(r"What is the (\w+)\?", prompt)[-1]
        found = re.search(rf"^The {asked} is .*", prompt, re.M)
        return found.group(0) if found else "unknown"


class Templates(Repository):
    """The scripts of docs/ci.md as they are printed there, with their model, which is imitated on loopback."""

    TEXT = (ROOT / "docs/ci.md").read_text()
    FACTS = Repository.FACTS + [f"The {name} is {word}." for name, word in (("colour", "teal"), ("prefix", "acme"), ("mode", "eager"),
                                                                            ("suffix", "ltd"))]

    def setUp(self):
        super().setUp()
        self.environment["ANTHROPIC_BASE_URL"] = Server(Anthropic, self).url
        self.set_key()
        self.save(self.FACTS)
        self.save(self.FACTS[:2])

    def set_key(self):
        self.environment["ANTHROPIC_API_KEY"] = "sk-ant-none-of-anybody"

    def block(self, section):
        return self.TEXT.split(f"\n## {section}\n", 1)[1].split("```yaml\n", 1)[1].split("```", 1)[0]

    def run_gitlab(self, code):
        """As its runner does: the lines of a part one after the other, until one fails."""
        (self.folder / "bin/pip").write_text("#!/bin/sh\n")  # upskill is there
        (self.folder / "bin/pip").chmod(0o755)
        self.environment.update(CI_MERGE_REQUEST_DIFF_BASE_SHA="HEAD~1", UPSKILL_WHEEL="upskill.whl")
        said = ""
        for part, ends_with in (("script", code), ("after_script", None)):
            lines = re.search(rf"^  {part}:\n((?:    - .*\n)+)", self.block("GitLab CI and others"), re.M).group(1)
            script = "".join(line.removeprefix("    - ") + "\n" for line in lines.splitlines())
            done = subprocess.run(["bash", "-e", "-c", script], cwd=self.folder / "work", env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            said += done.stdout
            if ends_with is not None:
                self.assertEqual(done.returncode, ends_with, said)
        return said

    def test_gitlab_with_a_key(self):
        said = self.run_gitlab(1)
        self.assertIn("limit, region, owner, format, colour, prefix, mode, suffix broke", said)
        self.assertTrue((self.folder / "work/report.xml").exists(), said)
        self.assertIn("gate: not-regressed", (self.folder / "work/report.xml").read_text())
        self.assertTrue((self.folder / "work/report.html").exists())
        self.assertTrue(list((self.folder / "work/runs").glob("*/samples.jsonl")), "the cache has the run")
        self.assertTrue((self.folder / "work/runs/ledger.jsonl").read_text().strip(), "and the looks")

    def test_gitlab_without_a_key(self):
        del self.environment["ANTHROPIC_API_KEY"]
        self.assertIn("ANTHROPIC_API_KEY", self.run_gitlab(2))

    def inputs(self, job):
        """Of the action in the workflow's job, with GitHub's expressions evaluated for a pull request."""
        text = self.block("GitHub Actions").split(f"\n  {job}:", 1)[1].split("\n\n  ", 1)[0]
        step = text.split("- uses: OWNER/upskill@COMMIT\n", 1)[1]
        inputs = dict(re.findall(r"^          ([a-z-]+): (?!\|)(.*)", step, re.M))
        for name, lines in re.findall(r"^          ([a-z-]+): \|\n((?:            .*\n)+)", step, re.M):
            inputs[name] = lines
        inputs["skills"] = inputs["skills"].replace("pdf-tools", "facts")
        inputs["base"] = "HEAD~1" if "base" in inputs else ""
        inputs.pop("package")
        return {name.replace("-", "_"): value for name, value in inputs.items() if name != "artifact"}

    def test_the_workflow(self):
        self.step("measure", 0, **self.inputs("check"))
        inputs = self.inputs("eval")
        self.assertEqual(inputs["models"].split(), ["haiku", "sonnet"])
        self.step("measure", 1, **inputs)
        self.assertIn("limit, region, owner, format, colour, prefix, mode, suffix broke", self.summary())

    def test_a_pull_request_from_a_fork(self):
        """It has no key: the workflow leaves the job out, and one that doesn't is told why."""
        jobs = self.block("GitHub Actions")
        self.assertIn("github.event.pull_request.head.repo.full_name == github.repository", jobs.split("\n  eval:", 1)[1])
        self.assertNotIn("secrets.", jobs.split("\n  eval:", 1)[0])
        event = {"pull_request": {"head": {"repo": {"full_name": "stranger/skills"}}, "base": {"repo": {"full_name": "owner/skills"}}}}
        (self.folder / "event.json").write_text(json.dumps(event))
        self.environment["GITHUB_EVENT_PATH"] = str(self.folder / "event.json")
        del self.environment["ANTHROPIC_API_KEY"]
        self.step("measure", 2, **self.inputs("eval"))
        self.assertIn("forks get no secrets", self.summary())
        self.assertIn("ANTHROPIC_API_KEY", self.error)
        self.set_key()
        self.step("measure", 1, **self.inputs("eval"))


if __name__ == "__main__":
    unittest.main()
