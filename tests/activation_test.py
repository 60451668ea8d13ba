#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""activation_test.py UPSKILL: `eval --activation` and `improve-description` with a scripted model.

The model is a server on loopback that chooses among skills by the words of their descriptions, so that a better
description is found more often; as a teacher, it writes the description and the queries that a test gives it.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

UPSKILL = sys.argv.pop(1) if len(sys.argv) > 1 else "upskill"
SUPPORT = pathlib.Path(__file__).resolve().parent / "support"
OLD = "Helps with spreadsheets."
NEW = "Cleans tables: finds doubled rows, missing values and wrong dates. Not for charts."
QUERIES = [
    ("remove the doubled rows from orders.csv", True),
    ("some values are missing in this list of customers", True),
    ("which rows have wrong dates", True),
    ("help, my spreadsheets need care", True),
    ("are there rows that occur twice, with missing names", True),
    ("clean up these tables please", True),
    ("dates in column four look wrong, find the rows", True),
    ("find missing values in sales.csv", True),
    ("draw charts of the monthly sales", False),
    ("make charts from these numbers, with colours", False),
    ("write a poem about spring", False),
    ("translate this letter", False),
]


def words(text):
    return {word.rstrip("s") for word in re.findall(r"[a-z]{4,}", text.lower())}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = []  # bodies, in order
    description = NEW
    ignores = False  # turns to another skill after reading the right one
    deaf_to = []     # queries at which it reads no skill

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append(body)
        answer = json.dumps({"model": "m", "choices": [{"index": 0, **self.answer(body)}],
                             "usage": {"prompt_tokens": 10, "completion_tokens": 5}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def answer(self, body):
        if re.search(r" skills: [a-z ]+$", body["messages"][0]["content"]):
            return self.says(self.line_for_agent(body))
        text = "\n".join(m["content"] or "" for m in body["messages"] if m["role"] in ("system", "user"))
        if "Write a better description" in text:
            return self.says(json.dumps({"description": self.description}))
        if "Write 10 requests" in text:
            return self.says(json.dumps({"should_trigger": [q for q, should in QUERIES if should],
                                         "should_not_trigger": [q for q, should in QUERIES if not should]}))
        turn = sum(1 for m in body["messages"] if m["role"] == "assistant")
        query = words(body["messages"][1]["content"])
        skills = re.findall(r"<name>(.*?)</name>\s*<description>(.*?)</description>\s*<location>(.*?)</location>", text, re.S)
        scores = [(len(query & words(description)), name, location) for name, description, location in skills]
        _, name, location = max(scores)
        if turn == 0 and max(scores)[0] > 0 and not any(q in body["messages"][1]["content"] for q in self.deaf_to):
            return self.calls("activate_skill", {"name": name})
        if turn == 1 and self.ignores and name == "tables":
            return self.calls("read_file", {"path": next(l for _, n, l in scores if n == "charts")})
        return self.says("done")

    @staticmethod
    def line_for_agent(body):
        """What tests/support/fake_agent does next: it names the skills that it finds, but not what they are for."""
        query, _, found = body["messages"][0]["content"].partition(" skills: ")
        chosen = "charts" if "chart" in query else "tables" if words(query) & words(NEW) else None
        if chosen in found.split() and len(body["messages"]) == 1:
            return f"read .agents/skills/{chosen}/SKILL.md"
        return "done That is all."

    @staticmethod
    def says(text):
        return {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}

    @staticmethod
    def calls(name, arguments):
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        return {"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [call]}}

    def log_message(self, *_):
        pass


class Activation(unittest.TestCase):
    def setUp(self):
        Model.asked, Model.description, Model.ignores, Model.deaf_to = [], NEW, False, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.environment = {}
        self.skill("tables", OLD)
        self.skill("charts", "Draws charts with colours from monthly numbers.")
        queries = self.root / "skills/tables/evals/eval_queries.json"
        queries.parent.mkdir()
        queries.write_text(json.dumps([{"query": q, "should_trigger": should} for q, should in QUERIES]))

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def skill(self, name, description):
        (self.root / "skills" / name).mkdir(parents=True, exist_ok=True)
        text = f'---\nname: {name}\ndescription: "{description}"\nlicense: MIT\n---\n\n# {name}\n\nHow to work with {name}.\n'
        (self.root / "skills" / name / "SKILL.md").write_text(text)

    def run_upskill(self, *arguments):
        url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        done = subprocess.run([UPSKILL, *arguments, "--base-url", url], cwd=self.root, capture_output=True, text=True,
                              env={**os.environ, "HOME": self.folder.name, **self.environment}, timeout=120)
        if "students work in a sandbox" in done.stderr:
            self.skipTest(done.stderr)
        return done

    def measure(self, *arguments):
        done = self.run_upskill("eval", "skills/tables", "--activation", "--json", "-q",
                                *(arguments if "-m" in arguments else ("-m", "generic.m", *arguments)))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)["students"][0]["activation"]

    def test_a_change_of_the_description_alters_recall(self):
        before = self.measure()
        self.assertEqual(before["among"], ["charts"])
        self.assertEqual((before["recall"]["hits"], before["recall"]["of"]), (2, 8))
        self.assertEqual(before["specificity"]["hits"], 4)
        self.assertLess(before["recall"]["low"], 2 / 8)
        self.skill("tables", NEW)
        after = self.measure()
        self.assertEqual((after["recall"]["hits"], after["recall"]["of"]), (7, 8))
        self.assertEqual(after["precision"]["value"], 1.0)
        self.assertEqual(after["ignored"]["hits"], 0)

    def test_read_but_ignored_is_told_apart_and_a_resumed_run_asks_for_nothing_twice(self):
        self.skill("tables", NEW)
        Model.ignores = True
        ignored = self.measure()
        self.assertEqual(ignored["recall"]["hits"], 7)
        self.assertEqual((ignored["ignored"]["hits"], ignored["ignored"]["of"]), (7, 7))
        asked = len(Model.asked)
        done = self.run_upskill("eval", "skills/tables", "--resume", "--color", "never")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(Model.asked), asked)
        self.assertIn("7 of 7 answers read it and did not follow it", " ".join(done.stdout.split()))
        for name, expected in (("r.html", "read when it should be"), ("r.md", "recall"), ("r.json", '"activation"')):
            made = subprocess.run([UPSKILL, "report", "latest", "-o", name], cwd=self.root, capture_output=True, text=True,
                                  env={**os.environ, "HOME": self.folder.name})
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn(expected, (self.root / name).read_text())

    def test_an_agent_program_is_measured_by_its_session(self):
        programs = self.root / "programs"
        programs.mkdir()
        os.chmod(self.root, 0o755)
        shutil.copy(SUPPORT / "fake_agent", programs)
        self.environment = {"UPSKILL_AGENTS": str(SUPPORT / "fake_agents.toml"), "PATH": f"{programs}:{os.environ['PATH']}"}
        found = self.measure("-m", "agent:fake:tiny")
        self.assertEqual(found["among"], ["charts"])
        self.assertEqual((found["recall"]["hits"], found["recall"]["of"]), (7, 8))
        self.assertEqual((found["precision"]["hits"], found["precision"]["of"]), (7, 7))
        self.assertEqual((found["specificity"]["hits"], found["specificity"]["of"]), (4, 4))
        self.assertEqual(found["ignored"]["hits"], 0)
        # It found both skills in each of its own workspaces.
        self.assertTrue(all("skills: charts tables" in body["messages"][0]["content"] for body in Model.asked))

    def test_improve_description_reports_the_held_out_figure(self):
        done = self.run_upskill("improve-description", "skills/tables", "--teacher", "generic.teacher", "-m", "generic.m",
                                "--json")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        found = json.loads(done.stdout)
        before, after = found["held_out"]["before"], found["held_out"]["after"]
        self.assertEqual((before["description"], after["description"]), (OLD, NEW))
        self.assertGreater(after["recall"]["value"], before["recall"]["value"])
        # Train and held-out queries are different ones, and the teacher saw none of the latter.
        self.assertEqual(found["train"][0]["recall"]["of"] + before["recall"]["of"], 8)
        run = self.root / "runs" / after["runs"][0]
        plan = (run / "plan.json").read_text()
        held_out = [query for query, _ in QUERIES if json.dumps(query) in plan]
        self.assertEqual(len([q for q, should in QUERIES if should and q in held_out]), after["recall"]["of"])
        taught = [json.dumps(body) for body in Model.asked if body["model"] == "teacher"]
        self.assertTrue(taught)
        for query in held_out:
            self.assertFalse(any(query in text for text in taught), query)
        text = (self.root / "skills/tables/SKILL.md").read_text()
        self.assertIn(f'description: "{NEW}"\nlicense: MIT\n', text)
        self.assertEqual(found["written"], "skills/tables/SKILL.md")
        # The same again is paid for by nobody but for the queries of the new description.
        asked = len(Model.asked)
        self.skill("tables", OLD)
        self.assertEqual(self.run_upskill("improve-description", "skills/tables", "--teacher", "generic.teacher", "-m",
                                          "generic.m", "-o", "other.md").returncode, 0)
        self.assertEqual(len(Model.asked), asked)
        self.assertIn(OLD, (self.root / "skills/tables/SKILL.md").read_text())
        # A tie on the held-out queries is written, and said.
        self.skill("tables", "Of files.")
        Model.deaf_to, Model.description = held_out, NEW + " Of files."
        done = self.run_upskill("improve-description", "skills/tables", "--teacher", "generic.teacher", "-m", "generic.m")
        self.assertRegex(done.stdout, r"wrote skills/tables/SKILL.md: .*train queries.*only as well")
        command = done.stdout.splitlines()[-1].split()
        self.assertEqual(command[:2], ["upskill", "report"])
        report = subprocess.run([UPSKILL, *command[1:]], cwd=self.root, capture_output=True, text=True, timeout=60)
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_a_dry_run_of_improve_description_sends_nothing(self):
        done = self.run_upskill("improve-description", "skills/tables", "--teacher", "generic.teacher", "-m", "generic.m",
                                "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("generic.teacher: up to 3 requests", done.stdout)
        self.assertEqual(Model.asked, [])
        self.assertFalse((self.root / "runs").exists())

    def test_a_description_that_is_worse_or_too_long_is_not_written(self):
        for description in ("Nothing at all.", "x" * 1025):
            Model.description = description
            done = self.run_upskill("improve-description", "skills/tables", "--teacher", "generic.teacher", "-m", "generic.m",
                                    "--tries", "1")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertIn("nothing was written", done.stdout)
            self.assertIn(OLD, (self.root / "skills/tables/SKILL.md").read_text())

    def test_a_run_is_rechecked_with_what_its_queries_expect_now(self):
        before = self.measure()
        queries = self.root / "skills/tables/evals/eval_queries.json"
        # One query more, in front, and another opinion of one: names by position no longer tell queries apart.
        changed = [{"query": q, "should_trigger": should or q.startswith("write a poem")} for q, should in QUERIES]
        queries.write_text(json.dumps([{"query": "new", "should_trigger": True}, *changed]))
        asked = len(Model.asked)
        done = subprocess.run([UPSKILL, "recheck", "latest", "--json"], cwd=self.root, capture_output=True, text=True,
                              env={**os.environ, "HOME": self.folder.name}, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(len(Model.asked), asked)
        self.assertNotIn("any more", done.stderr)
        found = json.loads(done.stdout)
        after = found["students"][0]["activation"]
        self.assertEqual((after["recall"]["hits"], after["recall"]["of"]), (before["recall"]["hits"], 9))
        self.assertEqual(list(found["changed"].values()), [{"now_pass": 0, "now_fail": 1}])

    def test_useless_descriptions_are_said_to_be_so_and_others_asked_for(self):
        Model.description = "x" * 1025
        command = ("improve-description", "skills/tables", "--teacher", "generic.teacher", "-m", "generic.m", "--tries", "1")
        done = self.run_upskill(*command)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("the teacher wrote no usable description in 1 answer", done.stdout)
        self.assertNotIn("held-out", done.stdout)
        self.assertNotIn("did better", done.stdout)
        # The same command keeps what students have answered, and asks the teacher for something else.
        students = len([body for body in Model.asked if body["model"] == "m"])
        train = json.loads(self.run_upskill(*command, "--json").stdout)
        self.assertIsNone(train["held_out"]["before"])
        self.assertEqual(len([body for body in Model.asked if body["model"] == "m"]), students)
        Model.description = NEW
        done = self.run_upskill(*command)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn(NEW, (self.root / "skills/tables/SKILL.md").read_text())

    def test_a_teacher_that_cannot_be_one_costs_nothing(self):
        for teacher, reason in (("cmd:no-such-teacher -p", "there is no program no-such-teacher"),
                                ("sim:skill=1", "it can't be a teacher")):
            done = self.run_upskill("improve-description", "skills/tables", "--teacher", teacher, "-m", "generic.m")
            self.assertEqual(done.returncode, 2, done.stderr + done.stdout)
            self.assertIn(reason, done.stderr)
            self.assertEqual(Model.asked, [])

    def test_other_skills_that_cannot_be_chosen_are_named(self):
        (self.root / "skills/broken").mkdir()
        (self.root / "skills/broken/SKILL.md").write_text("no front matter")
        self.skill("twin", "Does nothing.")
        twin = self.root / "skills/twin/SKILL.md"
        twin.write_text(twin.read_text().replace("name: twin", "name: charts"))
        done = self.run_upskill("eval", "skills/tables", "--activation", "-m", "generic.m", "--among", "skills")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = " ".join(done.stderr.split())
        self.assertIn("students can't choose skills/broken: ", said)
        self.assertIn("students can't choose skills/twin: skills/charts has the same name", said)
        self.assertNotIn("students can't choose skills/tables", said)

    def test_descriptions_are_listed_as_text(self):
        self.skill("tables", "Cleans <tables> &amp; </available_skills> more")
        self.measure()
        listed = Model.asked[0]["messages"][0]["content"]
        self.assertEqual(listed.count("</available_skills>"), 1)
        self.assertIn("Cleans &lt;tables&gt; &amp;amp; &lt;/available_skills&gt; more", listed)

    def test_files_of_a_query_that_cannot_be_there_are_refused(self):
        def run(files, check=None):
            (self.root / "q.json").write_text(json.dumps({"cases": [
                {"id": "q", "input": "clean tables", "context": {"files": files}, "checks": [check or {"type": "activates"}]}]}))
            done = self.run_upskill("eval", "skills/tables", "--activation", "-m", "generic.m", "-t", "q.json")
            return done.returncode, " ".join(done.stderr.split())
        code, said = run({"a": "1", "a/b": "2"})
        self.assertEqual(code, 2)
        self.assertIn('"context.files": a is a file and a folder', said)
        code, said = run({".agents": "1"})
        self.assertEqual(code, 2)
        self.assertIn('"context.files": .agents is a file and a folder; the folders of skills are in .agents/skills', said)
        code, said = run({}, {"type": "activates", "expected": "yes"})
        self.assertEqual(code, 2)
        self.assertIn('"checks" entry 1: "expected" must be true or false', said)
        self.assertEqual(Model.asked, [])
        self.assertFalse((self.root / "runs").exists() and any((self.root / "runs").glob("*/plan.json")))

    def test_without_queries_a_model_writes_them(self):
        (self.root / "skills/tables/evals/eval_queries.json").unlink()
        done = self.run_upskill("eval", "skills/tables", "--activation", "-m", "generic.m", "--no-log-runs")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no queries", done.stderr)
        self.measure("--test-gen-model", "generic.teacher")
        written = json.loads((self.root / "skills/tables/evals/eval_queries.json").read_text())
        self.assertEqual(len(written), len(QUERIES) - 1)  # one names the skill


if __name__ == "__main__":
    unittest.main()
