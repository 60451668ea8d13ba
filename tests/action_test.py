#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The GitHub Action with the real program, simulated students and an imitated runner: action_test.py PROGRAM [TEST…]"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from stub_wheel import make_wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
SKILL = str(ROOT / "examples/skills/kernel-builder-cuda-kernels")
GOOD = "sim:base=0.1,skill=0.95"


class Runner(unittest.TestCase):
    """A folder for each test, with what a runner of GitHub provides."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for folder in ("bin", "temp", "work"):
            (self.folder / folder).mkdir()
        (self.folder / "bin/upskill").symlink_to(PROGRAM)
        self.environment = {"PATH": f"{self.folder}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": temporary.name, "LANG": "C.UTF-8",
                            "RUNNER_TEMP": f"{self.folder}/temp", "PIP_CONFIG_FILE": "/dev/null"}
        for name in ("SUMMARY", "OUTPUT", "PATH"):
            (self.folder / name).touch()
            self.environment[f"GITHUB_STEP_{name}" if name == "SUMMARY" else f"GITHUB_{name}"] = f"{self.folder}/{name}"

    def start(self, step, **inputs):
        environment = {**self.environment, **{f"INPUT_{name.upper()}": value for name, value in inputs.items()}}
        return subprocess.Popen([sys.executable, "-B", ROOT / "action/run", step], cwd=self.folder / "work", env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def step(self, step, code, **inputs):
        process = self.start(step, **inputs)
        self.out, self.error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, self.out + self.error)
        self.assertNotIn("Traceback", self.error)

    def measure(self, code, **inputs):
        self.step("measure", code, **{"skills": SKILL, "models": GOOD, **inputs})

    def summary(self):
        return (self.folder / "SUMMARY").read_text()

    def outputs(self):
        return {name: value for name, _, value in re.findall(r"^(\S+)<<(\w+)\n(.*?)\n\2$", (self.folder / "OUTPUT").read_text(), re.M | re.S)}

    def reports(self):
        return sorted(os.listdir(self.outputs()["report-folder"]))

    def obeyed(self):
        """The commands in the log that the runner carries out."""
        commands, stopped = [], None
        for line in self.out.splitlines():
            if stopped:
                stopped = None if line == f"::{stopped}::" else stopped
            elif line.startswith("::stop-commands::"):
                stopped = line[len("::stop-commands::"):]
            elif line.startswith("::"):
                commands.append(line)
        self.assertIsNone(stopped)
        return commands

    def write_skill(self, name, text="Text.\n", cases=None, front_name=None):
        folder = self.folder / "work" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {front_name or folder.name}\ndescription: Use when asked.\n---\n{text}")
        if cases is not None:
            (folder / "skill_meta.json").write_text(json.dumps({"tests": cases}))


class Measure(Runner):
    def test_a_gate_that_holds(self):
        self.measure(0, runs="3", gate="helps:*; lift>5", max_cost="1")
        self.assertEqual(self.reports(), ["report.html", "report.md", "report.xml", "result-1.json"])
        self.assertEqual(self.outputs()["exit-code"], "0")
        self.assertTrue((self.folder / "work/runs" / self.outputs()["runs"] / "plan.json").exists())
        for words in ("## upskill eval\n\nAll skills are valid.", "### kernel-builder-cuda-kernels", "| ✅ | lift&gt;5 |", "The gate holds."):
            self.assertIn(words, self.summary())
        xml.etree.ElementTree.parse(self.outputs()["report-folder"] + "/report.xml")
        self.assertEqual(self.obeyed(), [])
        self.assertIn("with skill", self.out)

    def test_a_gate_that_fails(self):
        self.measure(1, runs="3", gate="helps:*; hurts:*")
        self.assertEqual(self.outputs()["exit-code"], "1")
        self.assertIn("| ❌ | hurts:\\* |", self.summary())
        self.assertRegex("\n".join(self.obeyed()), "^::error file=[^,:]*/SKILL.md,line=1,title=upskill::kernel-builder-cuda-kernels: hurts:\\* doesn't hold")
        self.assertIn("report.html", self.reports())

    def test_an_incomplete_run(self):
        self.measure(3, runs="3", gate="helps:*", max_tokens_total="5000")
        self.assertIn("**Incomplete:**", self.summary())
        self.assertIn("The gate was not evaluated", self.summary())

    def test_the_most_serious_exit_code_of_several_skills(self):
        self.write_skill("first", cases=[{"id": "a", "input": "Say a.", "expected": {"contains": ["a"]}, "reference": "a"}])
        self.write_skill("untested")
        self.measure(2, skills=f"first\n\n  {SKILL}  \r\nuntested\n", runs="2", gate="lift<5@estimate")
        self.assertEqual(len(self.outputs()["runs"].split("\n")), 2)
        self.assertIn("**No result for `untested`:**", self.summary())
        self.assertEqual([one for one in self.reports() if one.startswith("result")], ["result-1.json", "result-2.json"])

    def test_an_invalid_skill_is_not_measured(self):
        self.write_skill("bad", front_name="Bad")
        self.measure(1, skills=f"bad\n{SKILL}")
        self.assertEqual((self.outputs()["runs"], self.outputs()["report-folder"]), ("", ""))
        self.assertIn("::error file=bad/SKILL.md,line=2,col=7::Skill name 'Bad' must be lowercase", self.obeyed())
        self.assertIn("Not all skills are valid", self.summary())
        self.assertFalse((self.folder / "work/runs").exists())

    def test_validate(self):
        self.write_skill("plain", text="See [there](nowhere.md).\n")
        self.measure(0, mode="validate", skills="plain")
        self.measure(1, mode="validate", skills="plain", strict="true")
        self.assertTrue(any(line.startswith("::warning file=plain/SKILL.md") for line in self.obeyed()))

    def test_a_folder_of_skills(self):
        self.write_skill("set/first", cases=[{"input": "Say a.", "expected": {"contains": ["a"]}}])
        self.write_skill("set/second", cases=[{"input": "Say b.", "expected": {"contains": ["b"]}}])
        self.measure(0, skills="set")
        self.assertEqual(len(self.outputs()["runs"].split()), 2)

    def test_check(self):
        self.measure(0, mode="check")
        self.assertIn("\n    16 of 16 right answers pass", self.summary())
        self.assertEqual(self.reports(), ["check-1.xml"])
        self.measure(0, mode="check", strict="true")
        self.write_skill("weak", cases=[{"id": "a", "input": "Say a.", "expected": {"contains": ["a"]}, "reference": "a"}])
        self.measure(1, mode="check", skills="weak", strict="true")
        self.assertIn("\n    weak a · an echo of the input passes", self.summary())
        self.write_skill("wrong", cases=[{"id": "a", "input": "Say a.", "expected": {"contains": ["b"]}, "reference": "a"}])
        self.measure(1, mode="check", skills=f"{SKILL}\nwrong")
        self.assertEqual(self.reports(), ["check-1.xml", "check-2.xml"])

    def test_inputs_are_no_code(self):
        bad = "$(touch made)`touch made`; touch made\n--version\n"
        self.measure(2, skills=bad)
        self.measure(2, gate='"; touch made; "$(touch made)')
        self.measure(2, runs="1 --no-sandbox")
        self.measure(2, mode="eval; touch made")
        self.measure(2, models="--help")
        self.measure(2, strict="perhaps")
        self.assertEqual(self.outputs()["exit-code"], "2")
        self.measure(2, stop_when_decided="perhaps")
        self.assertEqual(set(os.listdir(self.folder / "work")) - {"runs"}, set())

    def test_a_skill_gives_the_runner_no_commands(self):
        command = "::add-path::/tmp/evil"
        case = {"id": f"a\n{command}", "input": f"Say a.\n{command}", "expected": {"contains": [f"x\n{command}\n"]}, "reference": f"\n{command}\n"}
        self.write_skill("commands", text=f"{command}\n", cases=[case, {**case, "id": command}])
        self.measure(1, mode="check", skills="commands")
        self.assertEqual(self.obeyed(), [])
        process = self.start("measure", skills="commands", models=GOOD, gate=f"helps:{command}", arguments="-v")
        self.out, self.error = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse([line for line in self.obeyed() if "add-path" in line.split("::")[1]])

    def test_no_command_comes_from_a_name(self):
        self.measure(2, mode="x\n::add-path::/tmp/evil")
        self.assertEqual(len(self.obeyed()), 1)
        self.assertIn("%0A", self.obeyed()[0])

    def test_cancelled(self):
        process = self.start("measure", skills=SKILL, models="sim:latency-ms=300", runs="50", arguments="--jobs=4")
        deadline = time.monotonic() + 20
        while not list((self.folder / "work").glob("runs/*/samples.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.outputs()["exit-code"], "130")
        self.assertIn("**Incomplete:**", self.summary())
        self.assertIn("report.html", self.reports())


class Repository(Runner):
    """A skill in git, and a student that knows what the skill in its prompt says and nothing else."""

    FACTS = [f"The {name} is {word}." for name, word in (("port", "seven"), ("host", "birch"), ("limit", "ninety"), ("region", "north"),
                                                        ("owner", "harbour"), ("format", "slate"))]

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments], cwd=self.folder / "work", check=True,
                       env=self.environment, stdout=subprocess.DEVNULL)

    def save(self, facts, name="facts"):
        cases = [{"id": fact.split()[1], "input": f"What is the {fact.split()[1]}?", "expected": {"contains": [fact.split()[3][:-1]]},
                  "reference": fact} for fact in self.FACTS]
        shutil.rmtree(self.folder / "work/skills" / name, ignore_errors=True)
        self.write_skill(f"skills/{name}", "\n".join(facts) + "\n", cases)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "A change.")

    def setUp(self):
        super().setUp()
        self.student = self.folder / "student"
        self.student.write_text("#!/bin/sh\nprompt=$(cat)\nname=$(printf '%s\\n' \"$prompt\" | sed -n 's/^.*What is the \\([a-z]*\\)?.*/\\1/p')\n"
                                "printf '%s\\n' \"$prompt\" | grep \"^The $name is \" || echo unknown\necho \"$$\"\n")
        self.student.chmod(0o755)
        self.git("init", "-q", "-b", "main")
        self.save(self.FACTS[:5])


class PreviousVersion(Repository):
    """The gate of docs/ci.md."""

    def gate(self, code, **inputs):
        self.measure(code, **{"skills": "skills/facts", "models": f"cmd:{self.student}", "base": "HEAD~1", "arguments": "--jobs=16", **inputs})

    def answers(self):
        journal, = (self.folder / "work/runs").glob("*/samples.jsonl")
        return [json.loads(line) for line in journal.read_text().splitlines()]

    def test_a_ruined_skill_is_found_within_40_answers(self):
        self.save(self.FACTS)
        self.save(self.FACTS[:2] + ["The others are <b>secret</b>."])
        self.gate(1)
        self.assertLessEqual(len(self.answers()), 40)
        self.assertEqual({answer["arm"] for answer in self.answers()}, {"skill", "previous"})
        for words in ("**The gate failed.**", "| ❌ | not-regressed |", "100 % → 33 %: limit, region, owner, format broke",
                      "| limit | 2/2 | 0/2 |", "unknown"):
            self.assertIn(words, self.summary())
        self.assertRegex("\n".join(self.obeyed()), "^::error file=skills/facts/SKILL.md,line=1,title=upskill::facts: not-regressed doesn't hold .*limit, region")
        cases = xml.etree.ElementTree.parse(self.outputs()["report-folder"] + "/report.xml").iter("testcase")
        failed = [case.get("name") for case in cases if case.find("failure") is not None]
        self.assertEqual(failed, ["gate: not-regressed vs previous", "limit", "region", "owner", "format"])

    def test_the_documented_command_finds_it(self):
        line = re.search("^upskill (eval .* --ci .*)$", (ROOT / "docs/ci.md").read_text(), re.M).group(1)
        for name, value in (("origin/main", "HEAD~1"), ("haiku", f"cmd:{self.student}"), (" --max-cost 2", "")):  # commands have no prices
            self.assertIn(name, line)
            line = line.replace(name, value)
        self.save(self.FACTS[:5], "other")
        self.save(self.FACTS[:1])
        done = subprocess.run([PROGRAM, *line.split()], cwd=self.folder / "work", env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("1 of 2 skills changed since HEAD~1", done.stderr)
        self.assertRegex(done.stderr, "FAILS  not-regressed .* vs previous: 83 % → 17 %: host, limit, region, owner broke")
        self.assertLessEqual(len(self.answers()), 40)

    def test_a_cosmetic_change_passes_at_the_first_look(self):
        self.save(self.FACTS[:5] + ["That is all that is known."])
        self.gate(0)
        self.assertEqual(len(self.answers()), 24)
        self.assertIn("points or more would have been found in 90 % of runs", self.summary())

    def test_a_better_skill_passes(self):
        self.save(self.FACTS)
        self.gate(0, gate="helps:* vs baseline")
        self.assertIn("| ✅ | not-regressed |", self.summary())
        self.assertIn("| ✅ | helps:", self.summary())

    def test_an_unchanged_skill_costs_nothing(self):
        self.save(self.FACTS[:5])
        self.gate(0)
        self.assertIn("`skills/facts` hasn't changed.", self.summary())
        self.assertEqual(self.outputs()["runs"], "")

    def test_a_new_skill_is_measured_against_none(self):
        self.save(self.FACTS, "new")
        self.gate(0, skills="skills/new")
        self.assertIn("new has no earlier version", self.error)
        self.gate(0, skills="skills/new", base="0" * 40)

    def test_the_base_is_fetched(self):
        self.save(self.FACTS[:1])
        subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{self.folder}/work", self.folder / "clone"], check=True, env=self.environment)
        origin = subprocess.run(["git", "rev-parse", "HEAD~1"], cwd=self.folder / "work", check=True, stdout=subprocess.PIPE, text=True)
        (self.folder / "work").rename(self.folder / "origin")
        (self.folder / "clone").rename(self.folder / "work")
        self.git("remote", "set-url", "origin", f"file://{self.folder}/origin")
        self.gate(1, base=origin.stdout.strip())
        self.gate(2, base="nowhere")
        self.gate(2, base="--upload-pack=touch made")
        self.assertFalse((self.folder / "work/made").exists())


class Install(Runner):
    def test_wheel(self):
        make_wheel(self.folder, PROGRAM)
        (self.folder / "bin/upskill").unlink()
        self.step("install", 0, package=f"{self.folder}/dist")
        place = (self.folder / "PATH").read_text().strip()
        self.assertTrue((pathlib.Path(place).parent / "lib/upskill/plugin.so").exists(), "the engine lies beside bin")
        self.environment["PATH"] = f"{place}:{self.environment['PATH']}"
        self.measure(0, mode="validate")

    def test_what_is_refused(self):
        self.step("install", 0)  # in PATH already
        for inputs in ({"package": "--index-url=https://example.org"}, {"package": "nowhere.whl"}, {"package": "temp"},
                       {"package": "http://example.org/upskill.whl"}, {"package": "x.whl", "version": "1.0"}, {"version": "1.0; x"},
                       {"version": "1.0 --pre"}):
            with self.subTest(inputs):
                self.step("install", 2, **inputs)
                self.assertEqual(len(self.obeyed()), 1)
        (self.folder / "bin/upskill").unlink()
        self.step("install", 2)
        self.assertIn("upskill isn't in PATH", self.out)
        (self.folder / "bin/upskill").write_text("#!/usr/bin/python3\nfrom upskill.cli import main\n")
        (self.folder / "bin/upskill").chmod(0o755)
        self.step("install", 2)
        self.assertIn("is the Python tool of the same name", self.out)


class Hooks(Runner):
    """The hook of pre-commit that is a script."""

    def run_hook(self, *arguments):
        return subprocess.run([ROOT / "action/check-suites", *arguments], cwd=self.folder / "work", env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_each_suite_is_checked(self):
        good = {"id": "a", "input": "Say a.", "expected": {"contains": ["a"]}, "reference": "a"}
        self.write_skill("good", cases=[good])
        self.write_skill("-good", cases=[good])
        self.write_skill("bad one", cases=[{**good, "reference": "b"}])
        done = self.run_hook("-good/skill_meta.json", "good/skill_meta.json")
        self.assertEqual((done.returncode, done.stdout.count("1 of 1 right answers pass")), (0, 2), done.stdout)
        done = self.run_hook("--lint", "--strict", "bad one/skill_meta.json", "good/skill_meta.json")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("1 of 1 right answers pass", done.stdout)
        self.assertEqual(self.run_hook("good/skill_meta.json", "nowhere.json").returncode, 2)

    def test_entries_exist(self):
        hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
        for entry in re.findall(r"^  language: script\n  entry: (\S+)", hooks, re.M):
            self.assertTrue(os.access(ROOT / entry, os.X_OK), entry)


class Metadata(unittest.TestCase):
    """action.yml, read line by line: no YAML parser is among the project's packages."""

    TEXT = (ROOT / "action.yml").read_text()

    def test_every_input_reaches_the_script_by_the_environment(self):
        inputs = self.TEXT[self.TEXT.index("\ninputs:"):self.TEXT.index("\noutputs:")]
        names = re.findall(r"^  ([a-z-]+):$", inputs, re.M)
        self.assertIn("skills", names)
        passed = dict(re.findall(r"^        INPUT_([A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$", self.TEXT, re.M))
        self.assertEqual(set(passed.values()) | {"artifact"}, set(names))
        self.assertTrue(all(name == value.upper().replace("-", "_") for name, value in passed.items()))
        script = (ROOT / "action/run").read_text()
        self.assertEqual([name for name in passed if f'"{name}"' not in script], [])

    def test_no_expression_in_a_script(self):
        for line in re.findall(r"^ +run:.*", self.TEXT, re.M):
            self.assertNotIn("${{", line)
            self.assertNotIn("|", line, "scripts are one line")

    def test_actions_are_pinned_by_hash(self):
        for use in re.findall(r"^ +uses: (.*)", self.TEXT, re.M):
            self.assertRegex(use, r"^[\w/-]+@[0-9a-f]{40} # v\d")


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit(__doc__)
    unittest.main()
