#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""teach_test.py UPSKILL: `teach` and `generate --from RUN` with scripted models on loopback.

The teacher knows that reports begin with "ACME-7"; the student only does if a skill says so.
"""
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

UPSKILL = sys.argv.pop(1) if len(sys.argv) > 1 else "upskill"
SKILL = {"name": "reports", "description": "Writes reports. Use it for any report.",
         "sections": [{"title": "Form", "rules": [{"text": "A report is the file `report.txt`, which begins with the line `ACME-7`.",
                                                   "cites": []}]}],
         "references": [], "scripts": []}
CASES = [{"id": name, "input": f"Write a report about {name}.", "mode": "workspace",
          "checks": [{"type": "command", "command": "head -n 1 report.txt | grep -q '^ACME-7$'"}]}
         for name in ("rivers", "lakes", "hills", "roads", "trees", "birds")]


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = []
    answered = []
    tokens_of_a_draft = 10
    count = 0
    fails = staticmethod(lambda body: False)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append(body)
        type(self).count += body["model"] == "student"
        if type(self).fails(body):  # for good
            self.send_response(400)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        type(self).answered.append(body)
        finish, message = self.answer(body)
        answer = json.dumps({"model": "m", "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                             "usage": {"prompt_tokens": 10 if body.get("tools") else type(self).tokens_of_a_draft,
                                       "completion_tokens": 5}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def answer(self, body):
        text = json.dumps(body["messages"])
        if not body.get("tools"):  # the teacher writes
            said = self.draft(body)
            return "stop", {"role": "assistant", "content": json.dumps(said)}
        if any(message["role"] == "tool" for message in body["messages"]):
            return "stop", {"role": "assistant", "content": "The report is written."}
        knows = body["model"] == "teacher" or "ACME-7" in text
        arguments = {"path": "report.txt", "content": "ACME-7\nAll is well.\n" if knows else "All is well.\n"}
        call = {"id": "c1", "type": "function", "function": {"name": "write_file", "arguments": json.dumps(arguments)}}
        return "tool_calls", {"role": "assistant", "content": None, "tool_calls": [call]}

    @staticmethod
    def draft(body):
        schema = body["response_format"]["json_schema"]["schema"]["properties"]
        draft = json.loads(json.dumps(SKILL))
        prompt = "\n".join(message["content"] for message in body["messages"] if message["role"] == "user")
        items = re.split(r"(?m)^\[([a-z]+[0-9]+)\]", prompt)
        cited = [name for name, text in zip(items[1::2], items[2::2]) if "ACME-7" in text and "report.txt" in text]
        draft["sections"][0]["rules"][0]["cites"] = cited[:2]
        if "points" in schema:
            draft.update(points=[], sections=[])
            draft.pop("name")
        elif "name" not in schema:
            draft.pop("name")
        return draft

    def log_message(self, *_):
        pass


class Teach(unittest.TestCase):
    def setUp(self):
        Model.asked, Model.answered, Model.count = [], [], 0
        Model.fails = staticmethod(lambda body: False)
        Model.tokens_of_a_draft = 10
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "reports.json").write_text(json.dumps({"cases": CASES}))

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def run_upskill(self, *arguments):
        url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        done = subprocess.run([UPSKILL, *arguments, "--base-url", url], cwd=self.root, capture_output=True, text=True,
                              env={**os.environ, "HOME": self.folder.name}, timeout=240)
        if "students work in a sandbox" in done.stderr:
            self.skipTest(done.stderr)
        return done

    def test_solve_distil_and_measure(self):
        done = self.run_upskill("teach", "reports.json", "--teacher", "generic.teacher", "--student", "generic.student",
                                "--color", "never")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("solved   4 of 4", done.stderr)
        self.assertIn("ACME-7", (self.root / "reports/SKILL.md").read_text())
        said = " ".join(done.stdout.split())
        self.assertIn("0 % 0/2", said)
        self.assertIn("100 % 2/2", said)
        # What the teacher was told of is how it solved its cases, with the final files, and nothing of the held-out ones.
        drafted = [json.dumps(body) for body in Model.asked if body["model"] == "teacher" and not body.get("tools")]
        self.assertTrue(drafted)
        self.assertTrue(any("report.txt" in text and "ACME-7" in text for text in drafted))
        measured = {case["id"] for case in CASES
                    if any(body["model"] == "student" and case["input"] in json.dumps(body) for body in Model.asked)}
        self.assertEqual(len(measured), 2)
        for name in measured:
            self.assertFalse(any(f"report about {name}" in text for text in drafted))
        self.assertNotIn("not measured", done.stdout + done.stderr)
        self.assertNotIn("0 held out", done.stdout + done.stderr)
        # The same command prints the result again, and asks for nothing.
        asked = len(Model.asked)
        again = self.run_upskill("teach", "reports.json", "--teacher", "generic.teacher", "--student", "generic.student",
                                 "--color", "never")
        self.assertEqual(again.returncode, 0, again.stderr + again.stdout)
        self.assertIn("was written by the same command before, and measured", again.stderr)
        self.assertIn("100 % 2/2", " ".join(again.stdout.split()))
        self.assertEqual(len(Model.asked), asked)
        # Another teacher is another command, which doesn't replace the skill.
        other = self.run_upskill("teach", "reports.json", "--teacher", "generic.other", "--student", "generic.student")
        self.assertEqual(other.returncode, 2)
        self.assertIn("exists", other.stderr)
        # A student that is added is measured with the skill that is there.
        more = self.run_upskill("teach", "reports.json", "--teacher", "generic.teacher", "--student", "generic.student",
                                "--student", "generic.second", "--color", "never")
        self.assertEqual(more.returncode, 0, more.stderr + more.stdout)
        self.assertEqual({body["model"] for body in Model.asked[asked:]}, {"generic.second".split(".")[1]})

    def test_the_same_command_continues_at_any_step(self):
        command = ("teach", "reports.json", "--teacher", "generic.teacher", "--student", "generic.student", "--color", "never")
        seen = {}
        for step, fails in (("solve", lambda body: body["model"] == "teacher" and "roads" in json.dumps(body["messages"][-2:])),
                            ("draft", lambda body: not body.get("tools")),
                            ("measure", lambda body: body["model"] == "student" and Model.count > 2)):
            Model.fails = staticmethod(fails)
            Model.count = 0
            done = self.run_upskill(*command)
            self.assertNotEqual(done.returncode, 0, step + done.stderr + done.stdout)
            seen[step] = len(list((self.root / "runs").glob("*/plan.json")))
        Model.fails = staticmethod(lambda body: False)
        done = self.run_upskill(*command)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("100 % 2/2", " ".join(done.stdout.split()))
        self.assertEqual(len(list((self.root / "runs").glob("*/plan.json"))), 2, "no run was begun twice")
        self.assertEqual(len(list((self.root / "runs/generations").iterdir())), 1)
        # Nothing that was answered has been asked twice.
        answered = [json.dumps(body, sort_keys=True) for body in Model.answered]
        self.assertEqual(len(answered), len(set(answered)))

    def test_a_name_that_says_nothing_is_none(self):
        (self.root / "reports.json").rename(self.root / "cases.json")
        done = self.run_upskill("teach", "cases.json", "--teacher", "generic.teacher", "--student", "generic.student")
        self.assertEqual(done.returncode, 2)
        self.assertIn("name the folder with -o", done.stderr)
        done = self.run_upskill("teach", "cases.json", "--teacher", "sim:skill=1", "--student", "generic.student", "-o", "s")
        self.assertEqual(done.returncode, 2)
        self.assertIn("it can't be a teacher", done.stderr)
        self.assertEqual(Model.asked, [])
        done = self.run_upskill("teach", "cases.json", "--teacher", "generic.teacher", "--student", "generic.student",
                                "--task", "Write ACME reports")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertTrue((self.root / "write-acme-reports/SKILL.md").exists())

    def test_the_limit_of_cost_is_that_of_everything(self):
        Model.tokens_of_a_draft = 1_000_000  # one dollar, for each of draft and critique
        catalog = self.root / "models.toml"
        catalog.write_text("".join(f'[[price]]\nproviders = ["generic"]\nmodels = ["{name}"]\ninput = 1\noutput = {output}\n'
                                   for name, output in (("teacher", 1), ("student", 2000))))
        os.environ["UPSKILL_MODELS"] = str(catalog)
        self.addCleanup(os.environ.pop, "UPSKILL_MODELS")
        done = self.run_upskill("teach", "reports.json", "--teacher", "generic.teacher", "--student", "generic.student",
                                "--max-tokens", "512", "--max-cost", "3")  # an answer of the student may cost $1.02
        self.assertEqual(done.returncode, 3, done.stderr + done.stdout)
        self.assertTrue((self.root / "reports/SKILL.md").exists(), done.stderr)
        self.assertEqual([body for body in Model.asked if body["model"] == "student"], [])

    def test_a_run_without_passing_work_teaches_nothing(self):
        skill = self.root / "s"
        skill.mkdir()
        (skill / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\n\nNothing.\n")
        self.assertEqual(self.run_upskill("eval", "s", "-t", "reports.json", "-m", "generic.student", "-q").returncode, 0)
        run = next(path.name for path in (self.root / "runs").iterdir() if (path / "plan.json").exists())
        done = self.run_upskill("generate", "--from", run, "-m", "generic.teacher", "--no-eval")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("nothing to learn from", done.stderr)


if __name__ == "__main__":
    unittest.main()
