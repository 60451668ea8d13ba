#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module of the wheel, with the real program and simulated students: python_test.py PROGRAM [TEST…]"""
import inspect
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import typing
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/support")]
os.environ["UPSKILL_PROGRAM"] = PROGRAM
import upskill
from stub_wheel import ENVIRONMENT, make_wheel
from upskill import comparisons, results

SKILL = ROOT / "examples/skills/kernel-builder-cuda-kernels"
GOOD = "sim:base=0.1,skill=0.95"


def misfits(value, kind, where="result"):
    """What in a JSON value isn't as a type of upskill.results says."""
    if typing.is_typeddict(kind):
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        fields = typing.get_type_hints(kind)
        problems = [f"{where}.{key}: not in {kind.__name__}" for key in value.keys() - fields.keys()]
        problems += [f"{where}.{key}: missing" for key in kind.__required_keys__ - value.keys()]
        return problems + [problem for key in value.keys() & fields.keys() for problem in misfits(value[key], fields[key], f"{where}.{key}")]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        return min((misfits(value, one, where) for one in arguments), key=len)
    if origin is list:
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [problem for number, item in enumerate(value) for problem in misfits(item, arguments[0], f"{where}[{number}]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        return [problem for key, item in value.items() for problem in misfits(item, arguments[1], f"{where}[{key!r}]")]
    accepted = (int, float) if kind is float else (kind,)
    fits = isinstance(value, accepted) and (kind is bool or not isinstance(value, bool))
    return [] if fits else [f"{where}: {value!r} isn't {kind.__name__}"]


class Module(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.here = upskill.Process(cwd=self.folder, env={"HOME": temporary.name, "XDG_CONFIG_HOME": None, "UPSKILL_CONFIG": None})

    def eval(self, skill=SKILL, **keywords):
        keywords.setdefault("models", [GOOD])
        return upskill.eval(skill, **{"process": self.here, **keywords})

    def assert_fits(self, outcome, kind):
        self.assertEqual(misfits(outcome.data, kind), [])

    def test_eval(self):
        outcome = self.eval(runs=3, gate="helps:*; lift>5", placebo=True, max_cost=1)
        self.assertTrue(outcome.ok)
        self.assertEqual(outcome.data["students"][0]["verdict"], "helps")
        self.assertEqual([clause["holds"] for clause in outcome.data["gate"]["clauses"]], [True] * 4)
        self.assert_fits(outcome, results.EvalResult)

    def test_a_failed_gate_is_a_result(self):
        outcome = self.eval(runs=3, gate="hurts:*")
        self.assertEqual((outcome.ok, outcome.exit_code, outcome.data["gate"]["holds"]), (False, 1, False))
        self.assertIn("FAILS", outcome.messages)

    def test_an_incomplete_run_is_a_result_and_can_be_resumed(self):
        outcome = self.eval(runs=2, max_tokens_total=5000)
        self.assertEqual((outcome.exit_code, outcome.data["complete"]), (3, False))
        self.assert_fits(outcome, results.EvalResult)
        resumed = self.eval(resume=outcome.data["run"], max_tokens_total=10**9)
        self.assertEqual((resumed.exit_code, resumed.data["complete"], resumed.data["run"]), (0, True, outcome.data["run"]))
        self.assertTrue(self.eval(resume=True).ok)

    def test_errors_say_what_the_program_said(self):
        with self.assertRaises(upskill.UpskillError) as caught:
            self.eval("nowhere")
        self.assertEqual((str(caught.exception), caught.exception.exit_code), ("reading nowhere: No such file or directory", 2))
        with self.assertRaisesRegex(upskill.UpskillError, "^runs folder 'elsewhere' not found"):
            upskill.runs(runs_dir="elsewhere", process=self.here)
        with self.assertRaisesRegex(upskill.UpskillError, "ended with exit code 2"):
            self.eval("nowhere", process=upskill.Process(cwd=self.folder, progress=True))
        with self.assertRaisesRegex(upskill.UpskillError, "unknown verdict 'nonsense'"):
            self.eval(gate="nonsense")
        with self.assertRaises(upskill.UpskillError) as caught:
            upskill.run("no-such-command", process=self.here)
        self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaisesRegex(upskill.UpskillError, "No such file"):
            self.eval(process=upskill.Process(cwd=self.folder / "nowhere"))

    def test_texts_that_start_with_a_hyphen_are_no_options(self):
        (self.folder / "--version").mkdir()
        (self.folder / "--version/SKILL.md").write_text("---\nname: dashes\ndescription: Use when asked.\n---\nText.\n")
        outcome = upskill.validate("--version", process=self.here)
        self.assertEqual((outcome.data[0]["path"], outcome.exit_code), ("--version", 1))
        with self.assertRaisesRegex(upskill.UpskillError, "--help"):
            self.eval(gate="--help")

    def test_no_shell_reads_the_arguments(self):
        with self.assertRaises(upskill.UpskillError):
            self.eval("$(touch made); touch made")
        self.assertEqual(os.listdir(self.folder), [])

    def test_validate(self):
        (self.folder / "Bad").mkdir()
        (self.folder / "Bad/SKILL.md").write_text("---\nname: Bad\n---\n")
        outcome = upskill.validate(SKILL, "Bad", process=self.here)
        self.assertEqual([skill["valid"] for skill in outcome.data], [True, False])
        self.assertEqual(outcome.exit_code, 1)
        self.assert_fits(outcome, typing.List[results.Validation])
        self.assert_fits(upskill.validate("Bad", strict=True, process=self.here), typing.List[results.Validation])

    def test_check(self):
        outcome = upskill.check(SKILL, lint=True, case=["edition-line", "h100-capability"], process=self.here)
        self.assertEqual(([case["id"] for case in outcome.data["cases"]], outcome.exit_code), (["edition-line", "h100-capability"], 0))
        self.assert_fits(outcome, results.SuiteCheck)

    def test_plan(self):
        self.assert_fits(upskill.plan(SKILL, models=[GOOD, "sim:"], baseline=0.4, runs=3, process=self.here), results.PlanResult)

    def test_earlier_runs(self):
        first, second = (self.eval(models=[GOOD, "sim:"], runs=3, seed=seed).data["run"] for seed in (1, 2))
        outcome = upskill.runs(process=self.here)
        self.assertEqual({one["run"] for one in outcome.data}, {first, second})
        self.assertEqual(upskill.runs(skill="another", all=True, process=self.here).data, [])
        self.assert_fits(outcome, typing.List[results.EvalResult])
        self.assert_fits(upskill.matrix(within=3, process=self.here), comparisons.Matrix)
        self.assert_fits(upskill.ledger(process=self.here), typing.List[comparisons.Look])
        self.assert_fits(upskill.compare(first, second, process=self.here), comparisons.Comparison)
        chosen = upskill.compare(second, second, choices=("sim:", GOOD + "+skill"), margin=3, process=self.here)
        self.assertEqual(chosen.data["contrasts"][0]["result"], "better")
        self.assert_fits(chosen, comparisons.Comparison)
        self.assert_fits(upskill.recheck(second, process=self.here), results.EvalResult)
        self.assertIn("| model |", upskill.run("report", second, "--format", "md", process=self.here).data)

    def test_shards(self):
        shards = [self.eval(runs=2, shard=f"{number}/2", runs_dir=f"shards/{number}") for number in (1, 2)]
        merged = upskill.merge("shards/1", "shards/2", output="runs/whole", process=self.here)
        self.assertEqual([one.data["complete"] for one in (*shards, merged)], [True] * 3)
        self.assert_fits(merged, results.EvalResult)

    def test_timeout(self):
        slow = upskill.Process(cwd=self.folder, timeout=1.5)
        with self.assertRaises(upskill.TimedOut) as caught:
            self.eval(models="sim:latency-ms=600", runs=50, jobs=2, process=slow)
        self.assertIn("stopped after 1.5 s", str(caught.exception))
        self.assertIn("--resume", str(caught.exception))
        self.assertIsInstance(caught.exception, TimeoutError)

    def interrupt(self, folder, whole_group):
        """Interrupts a Python during an eval. Returns its messages, and the numbers of answers before and at the end."""
        script = textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(ROOT / "python")!r})
            import upskill
            try:
                upskill.eval({str(SKILL)!r}, models=["sim:latency-ms=400"], runs=50, jobs=4, process=upskill.Process(progress=True))
            except KeyboardInterrupt:
                print("interrupted")
        """)
        python = subprocess.Popen([sys.executable, "-B", "-c", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, start_new_session=True)
        answers = lambda: sum(file.read_text().count("\n") for file in folder.glob("runs/*/samples.jsonl"))
        deadline = time.monotonic() + 20
        while not answers() and time.monotonic() < deadline:
            time.sleep(0.02)
        before = answers()
        (os.killpg if whole_group else os.kill)(python.pid, signal.SIGINT)
        out, error = python.communicate(timeout=20)
        self.assertEqual(out, "interrupted\n", error)
        return error, before, answers()

    def test_ctrl_c_finishes_what_is_in_flight(self):
        for whole_group in (False, True):  # a signal for Python alone, and the terminal's, which the program gets too
            with self.subTest(whole_group=whole_group), tempfile.TemporaryDirectory() as folder:
                error, before, kept = self.interrupt(pathlib.Path(folder), whole_group)
                self.assertIn("stopping: finishing", error)
                self.assertIn(f"{kept} of 1,600 cells answered", error)
                self.assertIn("--resume", error)
                self.assertGreater(kept, before, "requests in flight were dropped")

    def test_keywords_are_options_of_the_commands(self):
        # Presentation is the module's business, and these are functions of their own.
        # changed-since and ci choose among several skills, and eval takes one; tables of skills are values here, not files.
        left_out = {"changed-since", "ci", "color", "help", "json", "quiet", "verbose", "format", "csv", "python", "metric", "matrix", "ledger"}
        functions = {"eval": [upskill.eval], "validate": [upskill.validate], "check": [upskill.check], "plan": [upskill.plan],
                     "runs": [upskill.runs, upskill.matrix, upskill.ledger], "compare": [upskill.compare], "merge": [upskill.merge],
                     "recheck": [upskill.recheck]}
        for command, all_of_it in functions.items():
            listed = set(re.findall(r"^ +(?:-\w, )? *--([a-z-]+)", upskill.run(command, "--help").data, re.M)) - left_out
            if command in ("eval", "runs"): listed -= {"output"}
            keywords = {parameter.name for function in all_of_it for parameter in inspect.signature(function).parameters.values()
                        if parameter.kind is parameter.KEYWORD_ONLY} - {"process"}
            renamed = {"models": "model"}
            self.assertEqual({renamed.get(name, name).replace("_", "-") for name in keywords}, listed, command)

    def test_without_a_program(self):
        script = "import sys; sys.path.insert(0, sys.argv[1]); import upskill; upskill.program_path()"
        environment = {**os.environ, "PATH": f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}"}
        del environment["UPSKILL_PROGRAM"]
        for program, words in ((None, "isn't installed beside this package"), ("/etc/passwd", "isn't a program")):
            if program:
                environment["UPSKILL_PROGRAM"] = program
            done = subprocess.run([sys.executable, "-IBc", script, str(ROOT / "python")], env=environment, capture_output=True, text=True)
            self.assertIn(words, done.stderr)

    def test_python_m(self):
        done = subprocess.run([sys.executable, "-B", "-m", "upskill", "--version"], cwd=ROOT / "python", capture_output=True, text=True)
        self.assertRegex(done.stdout, r"^upskill \d")


class Wheel(unittest.TestCase):
    """The module as pip installs it from a wheel that scripts/make_wheel.py has written."""

    def test_program_beside_the_module(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile",
                            "--disable-pip-version-check", "--prefix", folder / "prefix", make_wheel(folder, PROGRAM)],
                           env=ENVIRONMENT, check=True)
            package = next((folder / "prefix").rglob("upskill/__init__.py"))
            self.assertTrue((package.parent / "py.typed").exists())
            script = ("import sys; sys.path.insert(0, sys.argv[1]); import upskill\n"
                      "print(upskill.program_path()); print(upskill.run('--version').data)")
            environment = {name: value for name, value in os.environ.items() if name != "UPSKILL_PROGRAM"}
            done = subprocess.run([sys.executable, "-IBc", script, package.parent.parent], env=environment, cwd=folder, check=True,
                                  capture_output=True, text=True)
            path, version = done.stdout.split("\n", 1)
            self.assertTrue(path.startswith(str((folder / "prefix").resolve())) and path.endswith("/bin/upskill"), path)
            self.assertIn("upskill ", version)


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit(__doc__)
    unittest.main()
