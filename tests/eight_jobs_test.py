#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""eight_jobs_test.py UPSKILL TINY_MODEL: eight jobs as users do them, from the first minutes to a gate in CI.

Each looks at what the user sees: exit codes, files, and the facts in the output. The models are on loopback, and know what
`Model` says; no network is used.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from provider import Provider, Server

TINY_MODEL = pathlib.Path(sys.argv.pop(2) if len(sys.argv) > 2 else "").absolute()
UPSKILL = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "upskill").absolute()
FACTS = {"port": "seven", "host": "birch", "limit": "ninety", "region": "north", "owner": "harbour", "format": "slate", "colour": "teal",
         "prefix": "acme"}
KEY = "the-right-key"


def sentences(names=FACTS):
    return [f"The {name} is {FACTS[name]}." for name in names]


QUESTIONS = ("What is the {}?", "In a sentence: What is the {}?", "A user asks: What is the {}?")


def cases(questions=QUESTIONS[:1]):
    return [{"id": name + "?" * number, "input": question.format(name), "expected": {"contains": [word]},
             "reference": f"The {name} is {word}."}
            for number, question in enumerate(questions) for name, word in FACTS.items()]


def teacher(schema, prompt):
    """What a teacher answers: cases, a draft or a rewritten skill, of all the facts."""
    items = re.findall(r"(?m)^\[([a-z]+[0-9]+)\]", prompt)
    if "cases" in schema:
        made = [{"kind": "answer", "transfer": False, "input": question.format(name), "contains": [word], "any_of": [],
                 "not_contains": [], "checks": [], "output_file": "", "reference": f"The {name} is {word}.", "cites": items[:1]}
                for question in QUESTIONS for name, word in FACTS.items()]
        return {"cases": made[:schema["cases"]["maxItems"]]}
    rules = [{"text": sentence, "cites": items[:1]} for sentence in sentences()]
    draft = {"name": "facts", "description": "Answers questions about the service. Use it for any of them.", "references": [],
             "scripts": [], "sections": [{"title": "Facts", "rules": rules}], "points": []}
    return {key: value for key, value in draft.items() if key in schema}


class Model(Provider):
    """`weak` knows what its prompt says, `middle` half of the facts, `strong` all of them; `teacher` writes skills."""
    MODELS = ("weak", "middle", "strong", "teacher")
    seconds = 0.0

    def do_GET(self):
        self.reply(200, {"data": [{"id": name} for name in self.MODELS]})

    def do_POST(self):
        time.sleep(type(self).seconds)
        if self.path != "/v1/chat/completions":
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(404, {"error": {"message": "Not Found"}})
        elif self.headers.get("Authorization") != "Bearer " + KEY:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
        else:
            super().do_POST()

    def answer(self, prompt, body):
        if body["model"] == "teacher":
            return json.dumps(teacher(body["response_format"]["json_schema"]["schema"]["properties"], prompt))
        if body["model"] not in self.MODELS:
            return None
        known = {"weak": [], "middle": list(FACTS)[:4], "strong": list(FACTS)}[body["model"]]
        asked = re.findall(r"What is the (\w+)\?", prompt)[-1]
        found = re.search(rf"The {asked} is \w+\.", prompt + "\n".join(sentences(known)))
        return found.group(0) if found else "That isn't known."


class Jobs(unittest.TestCase):
    def setUp(self):
        Model.seconds = 0.0
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "work"
        (self.folder / "home").mkdir(parents=True)
        self.url = Server(Model, self).url + "/v1"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "LANG": "C.UTF-8",
                            "GENERIC_BASE_URL": self.url, "GENERIC_API_KEY": KEY}

    def start(self, *arguments):
        return subprocess.Popen([UPSKILL, *map(str, arguments)], cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, process, code=0):
        out, error = process.communicate(timeout=100)
        self.said = " ".join((out + error).split())
        self.assertEqual(process.returncode, code, out + error)
        return out

    def upskill(self, *arguments, code=0):
        return self.end(self.start(*arguments), code)

    def says(self, *words):
        for word in words:
            self.assertIn(word, self.said)

    def skill(self, name="facts", facts=FACTS, tests=None):
        folder = self.folder / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Use when asked about the service.\n---\n\n"
                                         + "\n".join(sentences(facts)) + "\n")
        (folder / "skill_meta.json").write_text(json.dumps({"tests": cases() if tests is None else tests}, indent=1))
        return f"skills/{name}"

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)

    def test_1_first_minutes(self):
        self.upskill("quickstart", "-m", f"llama:{TINY_MODEL}")
        self.says("16 cases × 3 rounds", "baseline", "with skill", "upskill-quickstart.html")
        self.assertIn("<html", (self.folder / "upskill-quickstart.html").read_text())
        self.upskill("quickstart", "-m", f"llama:{TINY_MODEL}")
        self.says("96 of 96 cells from the cache")

    def test_2_an_own_skill_with_eight_kinds_of_checks(self):
        made = self.upskill("init", "settings")
        for line in re.findall(r"upskill (.+)", made):  # what it says to do next
            self.upskill(*line.split())
        answers = {"contains": "The port is seven.", "not_contains": "Never use HTTP/1.", "regex": "v1.25", "number": "It takes 90 seconds.",
                   "equals": "teal", "json_value": '{"port": 7}', "toml_value": "```toml\nport = 7\n```", "command": "```python ready.py\nprint(7)\n```"}
        keys = {"contains": {"values": "seven"}, "not_contains": {"values": "HTTP/2"}, "regex": {"pattern": r"v\d+\.\d+"},
                "number": {"value": 90}, "equals": {"text": "teal"}, "json_value": {"at": "port", "equals": 7},
                "toml_value": {"at": "port", "equals": 7}, "command": {"command": "python3 ready.py | grep -qx 7"}}
        tests = [{"id": kind, "input": f"Question {kind}?", "checks": [{"type": kind, **keys[kind]}], "reference": answer}
                 for kind, answer in answers.items()]
        tests[1]["wrong"] = [{"answer": "Use HTTP/2."}]
        skill = self.skill("settings", tests=tests)
        self.upskill("check", skill)
        self.says("8 of 8 right answers pass", "1 of 1 wrong")
        self.upskill("eval", skill, "-m", "sim:base=0.1,skill=1,reference=1", "--runs", "2")
        self.says("16/16", "helps")
        tests[2]["checks"][0]["pattern"] = r"^\d+$"
        self.skill("settings", tests=tests)
        self.upskill("check", skill, "--lint", code=1)
        self.says("7 of 8 right answers pass", "regex")

    def test_3_from_a_session_to_a_skill_by_hand(self):
        (self.folder / "session.json").write_text(json.dumps(
            [{"role": "user", "content": "Set up the service."}, {"role": "assistant", "content": " ".join(sentences())},
             {"role": "user", "content": "Right. Remember these names."}]))
        process = self.start("generate", "Answer questions about the service", "--from", "session.json", "-m", "desk:desk", "--eval-model", "generic.weak",
                             "--no-critique", "--runs", "2", "--name", "facts")
        answered = 0
        while process.poll() is None:
            waiting = sorted((self.folder / "desk").glob("*-request.md"))[answered:]
            if not waiting:
                time.sleep(0.05)
                continue
            request = self.upskill("desk", "desk", "--print", "--whole")
            schema, _ = json.JSONDecoder().raw_decode(request[request.index("{", request.rindex("JSON schema:")):])
            (self.folder / "answer.txt").write_text(json.dumps(teacher(schema["properties"], request)))
            self.upskill("desk", "desk", "--answer", "answer.txt")
            answered += 1
        self.end(process)
        self.assertGreaterEqual(answered, 2)
        self.says("helps")
        self.assertIn("The port is seven.", (self.folder / "skills/facts/SKILL.md").read_text())
        self.upskill("validate", "skills/facts")
        self.upskill("eval", "skills/facts", "-m", "generic.weak", "--runs", "1")

    def test_4_three_models_compared(self):
        skill = self.skill()
        self.upskill("eval", skill, "-m", "generic.weak", "-m", "generic.middle", "-m", "generic.strong", "--runs", "3")
        for name, rates in (("weak", "0 % → 100 %"), ("middle", "50 % → 100 %"), ("strong", "100 % → 100 %")):
            self.says(f"generic.{name} {rates}")
        self.upskill("report", "latest", "-o", "report.html")
        self.assertIn("middle", (self.folder / "report.html").read_text())
        self.upskill("runs", "--matrix")
        self.says("facts", "weak", "middle", "strong")

    def test_5_ci_with_a_worsened_skill(self):
        self.git("init", "-q", "-b", "main")
        self.skill("facts")
        self.skill("other")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Both skills.")
        gate = ("eval", "skills", "--ci", "main~1", "-m", "generic.weak")
        self.skill("facts", list(reversed(FACTS)))
        self.git("commit", "-qam", "The same in another order.")
        self.upskill(*gate)
        self.says("1 of 2 skills changed", "not-regressed", "100 % → 100 %")
        self.git("add", "-A")  # what a run leaves isn't committed with the skills
        self.assertEqual(subprocess.run(["git", "status", "--short"], cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout, b"")
        self.skill("facts", ["port", "host"])
        self.git("commit", "-qam", "A third of it.")
        self.upskill(*gate, code=1)
        self.says("not-regressed", "100 % → 25 %", "limit, region, owner, format, colour, prefix broke")

    def test_6_an_existing_skill_is_improved(self):
        skill = self.skill("facts", ["port", "host", "limit"], cases(QUESTIONS))
        self.upskill("generate", "--from", skill, "-m", "generic.teacher", "--eval-model", "generic.weak", "--no-critique", "--runs", "5",
                     "-o", "better")
        self.says("rewrites the existing skill", "24 sound", "12 held out", "vs previous", "helps")
        self.assertIn("The prefix is acme.", (self.folder / "better/SKILL.md").read_text())
        self.assertNotIn("The prefix is acme.", (self.folder / skill / "SKILL.md").read_text())
        self.upskill("eval", "better", "-m", "generic.weak", "--against", skill, "--runs", "5")
        self.says("previous")

    def test_7_what_breaks_says_how_to_go_on(self):
        skill = self.skill()
        Model.seconds = 0.2
        process = self.start("eval", skill, "-m", "generic.weak", "--runs", "5", "-j", "2")
        deadline = time.monotonic() + 30
        while not any(path.stat().st_size for path in self.folder.glob("runs/*/samples.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        Model.seconds = 0.0
        self.upskill("eval", skill, "-m", "generic.weak", "--resume", "latest")
        self.says("0/40", "40/40", "+100 points")
        self.upskill("eval", skill, "-m", "generic.weka", "--runs", "1", code=3)
        self.says("weka", "did you mean 'weak'", "middle", "strong")
        self.environment["GENERIC_API_KEY"] = "another-key"
        self.upskill("eval", skill, "-m", "generic.weak", "--runs", "1", "--no-cache", code=3)
        self.says("401", "GENERIC_API_KEY")
        self.environment["GENERIC_API_KEY"] = KEY
        self.upskill("eval", skill, "-m", "weak", "--base-url", self.url + "/nowhere", "--runs", "1", "--no-cache", code=3)
        self.says("404", "/nowhere/chat/completions")
        self.upskill("eval", skill, "-m", "weak", "--base-url", "http://127.0.0.1:1/v1", "--runs", "1", "--no-cache", code=3)
        self.says("127.0.0.1:1")

    def test_8_a_skill_of_the_python_tool(self):
        """Its command lines are in from_python_test; here, what it wrote itself: `tests: []`."""
        skill = self.skill(tests=[])
        self.upskill("eval", skill, "-m", "generic.weak", code=2)
        self.says("--test-gen-model")
        self.upskill("eval", skill, "-m", "generic.weak", "--test-gen-model", "generic.teacher", "--runs", "3")
        self.says("48/48", "helps")


if __name__ == "__main__":
    unittest.main()
