#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hidden_answers_test.py UPSKILL: no student gets what measures its skill, however the skill reaches it.

A text is planted in each place of a skill's folder that holds cases, answers to them or earlier runs. The student, a
scripted server on loopback, searches all files that it can reach; the test looks for the text in whatever it was sent.
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
PLANTED = "KINGFISHER"  # the search must not find itself in the command
SEARCH = r'grep -rhoE "[K]INGFISHER [a-z_./A-Z]+" . "$HOME" /tmp 2>/dev/null; find . "$HOME" -name "[S]KILL.md" 2>/dev/null'
PLACES = [
    "skill_meta.json", "lineage.json", "tests.json", "tests/all.json", "answers/sum/reference.md",
    "answers/sum/wrong-number.md", "answers/sum/reference/sum.txt", "evals/evals.json", "evals/files/expected.txt",
    "eval_queries.json", "promptfooconfig.yaml", "upskill.json", "runs/old/samples.jsonl", ".upskill/evals.json",
    "Answers/sum/reference.md", "EVALS/notes.md",
]


class Student(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = []

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        type(self).asked.append(text)
        body = json.loads(text)
        turns = sum(1 for message in body["messages"] if message["role"] == "assistant")
        is_agent = re.search(r" skills: [a-z ]*$", str(body["messages"][0]["content"]))
        message = {"role": "assistant", "content": "6"}
        if is_agent:
            message["content"] = "done 6" if turns else "run " + SEARCH.replace('"', "'").replace("'$HOME'", "$HOME")
        elif body.get("tools") and turns == 0:
            message = {"role": "assistant", "content": None, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": SEARCH})}}]}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        answer = json.dumps({"model": "m", "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                             "usage": {"prompt_tokens": 10, "completion_tokens": 5}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class HiddenAnswers(unittest.TestCase):
    def setUp(self):
        Student.asked = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Student)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        os.chmod(self.root, 0o755)
        programs = self.root / "programs"
        programs.mkdir()
        shutil.copy(SUPPORT / "fake_agent", programs)
        self.environment = {**os.environ, "UPSKILL_AGENTS": str(SUPPORT / "fake_agents.toml"),
                            "PATH": f"{programs}:{os.environ['PATH']}"}
        for version in ("new", "old"):
            self.make_skill(version)

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def make_skill(self, version):
        skill = self.root / version / "sums"
        for place in PLACES:
            file = skill / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{PLANTED} {place}\n")
        (skill / "SKILL.md").write_text(f"---\nname: sums\ndescription: Adds numbers up.\n---\n\nAdd all, {version}.\n")
        (skill / "references").mkdir()
        (skill / "references/more.md").write_text("More about numbers.\n")
        # The secret of the cases is in what only checks and people see.
        case = {"id": "sum", "input": "What is the sum of 1, 2 and 3?", "note": f"{PLANTED} note",
                "reference": f"6 {PLANTED} reference", "checks": [{"type": "contains", "values": ["6"]}]}
        (skill / "tests.json").write_text(json.dumps({"cases": [case]}))
        queries = [{"query": "add 1 and 2", "should_trigger": True, "note": f"{PLANTED} query"},
                   {"query": "write a poem", "should_trigger": False}]
        (skill / "evals/eval_queries.json").write_text(json.dumps(queries))
        for name in ("skill_meta.json", "evals/evals.json"):
            (skill / name).write_text(json.dumps({"note": f"{PLANTED} {name}", "tests": []}))

    def keep_cases_in_checks(self):
        """In a folder that no list can know."""
        for version in ("new", "old"):
            skill = self.root / version / "sums"
            (skill / "checks/answers/sum").mkdir(parents=True)
            (skill / "checks/answers/sum/reference.md").write_text(f"{PLANTED} checks/answers/sum/reference.md\n")
            shutil.copy(skill / "tests.json", skill / "checks/cases.json")
        return "new/sums/checks/cases.json"

    def measure(self, *arguments, searches=True):
        url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        model = () if "-m" in arguments else ("-m", "generic.m")
        done = subprocess.run([UPSKILL, "eval", "new/sums", *model, *arguments, "--base-url", url], cwd=self.root,
                              capture_output=True, text=True, env=self.environment, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertTrue(Student.asked)
        sent = "\n".join(Student.asked)
        self.assertEqual(sorted(set(re.findall(PLANTED + r" [\w./-]+", sent))), [])
        if searches:  # else the search itself is broken
            self.assertIn("/.agents/skills/sums/SKILL.md", sent)

    def test_body(self):
        self.measure("-t", "new/sums/tests.json", searches=False)

    def test_workspace_with_the_body(self):
        self.measure("-t", "new/sums/tests.json", "--mode", "workspace", searches=False)

    def test_workspace_on_demand(self):
        self.measure("-t", "new/sums/tests.json", "--mode", "workspace", "--load", "on-demand")

    def test_cases_kept_elsewhere_in_the_skill_and_its_previous_version(self):
        self.measure("-t", self.keep_cases_in_checks(), "--mode", "workspace", "--load", "on-demand", "--against", "old/sums")

    def test_shard(self):
        self.measure("-t", self.keep_cases_in_checks(), "--mode", "workspace", "--load", "on-demand", "--shard", "1/1")
        plan = json.loads(next(self.root.glob("runs/2*/plan.json")).read_text())
        self.assertEqual(sorted(plan["workspace"]["skill"]["files"]), ["SKILL.md", "references/more.md"])

    def test_cases_that_a_manifest_names(self):
        for place in ("grading", "references"):
            folder = self.root / "new/sums" / place
            (folder / "Answers/sum").mkdir(parents=True)
            (folder / "Answers/sum/reference.md").write_text(f"{PLANTED} {place}/Answers/sum/reference.md\n")
            shutil.copy(self.root / "new/sums/tests.json", folder / "cases.json")
            scenario = {"id": "sums", "skills": ["new/sums"], "tests": f"new/sums/{place}/cases.json"}
            (self.root / "ci.json").write_text(json.dumps({"scenarios": [scenario]}))
            self.measure("-t", "ci.json", "--mode", "workspace", "--load", "on-demand")
            shutil.rmtree(folder)

    def test_where_hidden_links_lead(self):
        skill = self.root / "new/sums"
        (skill / "sol").mkdir()
        (skill / "sol/r.md").write_text(f"{PLANTED} sol/r.md\n")
        (skill / "answers/sum/linked.md").symlink_to("../../sol/r.md")
        (skill / "store/answers/sum").mkdir(parents=True)
        (skill / "store/answers/sum/reference.md").write_text(f"{PLANTED} store/answers/sum/reference.md\n")
        shutil.copy(skill / "tests.json", skill / "store/cases.json")
        (self.root / "linked.json").symlink_to(skill / "store/cases.json")
        self.measure("-t", "linked.json", "--mode", "workspace", "--load", "on-demand")

    def test_files_of_promptfoo(self):
        parts = self.root / "new/sums/quiz/parts"
        parts.mkdir(parents=True)
        (parts.parent / "all.yaml").write_text("prompts: ['{{q}}']\ntests: file://parts/tests.yaml\n")
        (parts / "tests.yaml").write_text(
            f"# {PLANTED} tests\n- vars: {{q: 'What is 1 + 2 + 3?'}}\n"
            "  assert: [{type: icontains, value: 'file://parts/expected.txt'}]\n")
        (parts / "expected.txt").write_text(f"{PLANTED} expected")
        self.measure("-t", "new/sums/quiz/all.yaml", "--mode", "workspace", "--load", "on-demand")

    def test_earlier_runs_in_the_skill(self):
        for runs in ("new/sums/results", "new/sums/results", "new/sums", "runs"):
            self.measure("-t", "new/sums/tests.json", "--mode", "workspace", "--load", "on-demand", "--runs-dir", runs, "--refresh")

    def test_agent_program(self):
        self.measure("-t", self.keep_cases_in_checks(), "--mode", "workspace", "--load", "on-demand", "-m", "agent:fake:tiny")

    def test_activation(self):
        self.measure("--activation")

    def test_activation_of_an_agent_program(self):
        self.measure("--activation", "-m", "agent:fake:tiny")


if __name__ == "__main__":
    unittest.main()
