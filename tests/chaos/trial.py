# SPDX-License-Identifier: Apache-2.0
"""A folder with a skill and its runs, commands of the real program in it, and what must hold whatever happens to them."""
import json
import os
import re
import signal
import subprocess
import tempfile

CASES = 3
ROUNDS = 2
ARMS = 2
CELLS = CASES * ROUNDS * ARMS
MODEL = "sim:base=0.4,skill=0.85"
TEMPORARY = re.compile(r"^\..*\.[0-9a-f]{16}$")


class Wrong(Exception):
    """Something doesn't hold that must."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


class Outcome:
    def __init__(self, code, out, error):
        self.code, self.out, self.error = code, out, error

    def __str__(self):
        return f"exit code {self.code}, standard error:\n{self.error.decode(errors='replace')}"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Trial:
    """To be used in a `with`."""

    def __init__(self, upskill, faults, place=None):
        self.upskill, self.faults = upskill, faults
        self.temporary = tempfile.TemporaryDirectory(prefix="upskill-chaos-", dir=place)
        self.folder = self.temporary.name
        self.work = os.path.join(self.folder, "work")
        self.runs = os.path.join(self.work, "runs")
        os.mkdir(self.work)
        write(self.path("adding/SKILL.md"), "---\nname: adding\ndescription: Adds numbers.\n---\n\nAdd them.\n")
        cases = [{"id": f"case-{i}", "input": f"Question {i}?", "expected": {"contains": [f"answer {i}."]}}
                 for i in range(CASES)]
        write(self.path("adding/tests.json"), json.dumps({"tests": cases}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.work, name)

    def environment(self, chaos):
        environment = {"HOME": self.folder, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100"}
        if chaos:
            environment["LD_PRELOAD"] = self.faults
            environment.update({"CHAOS_" + name.upper(): str(value) for name, value in chaos.items()})
        return environment

    def start(self, arguments, out, error, chaos=None, **settings):
        return subprocess.Popen([self.upskill, *arguments], cwd=self.work, env=self.environment(chaos),
                                stdin=subprocess.DEVNULL, stdout=out, stderr=error, **settings)

    def run(self, arguments, chaos=None):
        """Its standard output is a file, so that faults reach it; standard error a pipe, so that it can tell of them."""
        path = os.path.join(self.folder, "out")
        with open(path, "wb") as out:
            process = self.start(arguments, out, subprocess.PIPE, chaos)
            error = process.communicate(timeout=120)[1]
        outcome = Outcome(process.returncode, content(path), error)
        require(outcome.code in (0, 1, 2, 3, -signal.SIGKILL), f"{arguments}: an exit code that means nothing: {outcome}")
        return outcome

    def calls(self, arguments):
        """How many calls that write this command makes."""
        counted = os.path.join(self.folder, "count")
        outcome = self.run(arguments, {"count": counted})
        require(outcome.code == 0, f"{arguments}: {outcome}")
        return int(content(counted))

    # Evaluations.

    def new(self, *more, rounds=ROUNDS, model=MODEL):
        return ["eval", "adding", "-m", model, "--runs", str(rounds), "-j", "2", "--json", *more]

    def resume_command(self):
        return ["eval", "adding", "--resume", "--json"]

    def resume_or_new(self):
        """The command that completes what a command like new() began."""
        return self.resume_command() if self.run_folders() else self.new()

    def run_folders(self):
        if not os.path.isdir(self.runs):
            return []
        return sorted(os.path.join(self.runs, name) for name in os.listdir(self.runs)
                      if os.path.exists(os.path.join(self.runs, name, "plan.json")))

    def journal_lines(self, folder):
        """The whole lines of a run's journal: those that count as saved."""
        path = os.path.join(folder, "samples.jsonl")
        return [] if not os.path.exists(path) else content(path).split(b"\n")[:-1]

    def require_sound_journal(self, folder):
        seen = set()
        for line in self.journal_lines(folder):
            try:
                sample = json.loads(line)
            except ValueError:
                raise Wrong(f"{folder}/samples.jsonl has a line that is no JSON: {line[:200]}") from None
            if sample["status"] != "ok":
                continue
            cell = (sample["model"], sample["arm"], sample["case"], sample["round"])
            require(cell not in seen, f"{folder}: two answers of the same cell {cell}")
            seen.add(cell)
        return seen

    def turn_lines(self, folder):
        """The whole lines of the journal of turns."""
        path = os.path.join(folder, "turns.jsonl")
        return [] if not os.path.exists(path) else content(path).split(b"\n")[:-1]

    def require_sound_turns(self, folder):
        """Every turn is saved once: a second time, it would have been paid for again."""
        lines, seen = self.turn_lines(folder), set()
        for line in lines:
            try:
                key = json.loads(line)["key"]
            except ValueError:
                raise Wrong(f"{folder}/turns.jsonl has a line that is no JSON: {line[:200]}") from None
            require(key not in seen, f"{folder}: a turn was taken twice: {line[:200]}")
            seen.add(key)
        return lines

    def require_complete(self, outcome, folder):
        """What must be there after an exit code of 0: the results, in all places."""
        require(outcome.code == 0, f"not completed: {outcome}")
        result = parsed(outcome)
        require(result["complete"] is True, "exit code 0 of a run that isn't complete")
        require(len(self.require_sound_journal(folder)) == CELLS, f"{folder}: answers are missing")
        for name in ("plan.json", "batch_summary.json", "run_1/run_result.json", "run_2/run_result.json",
                     "agentskills/benchmark.json"):
            require(os.path.exists(os.path.join(folder, name)), f"exit code 0 without {name}")
        for name in ("plan.json", "batch_summary.json", "run_1/run_result.json", "agentskills/benchmark.json"):
            json.loads(content(os.path.join(folder, name)))
        table = content(os.path.join(self.runs, "results.csv")).decode()
        require(table.count(os.path.basename(folder)) == ARMS, f"results.csv lacks rows of the run:\n{table}")
        return result

    def require_no_temporary_files(self):
        for folder, _, files in os.walk(self.work):
            for name in files:
                require(not TEMPORARY.match(name), f"left behind: {folder}/{name}")


def parsed(outcome):
    try:
        return json.loads(outcome.out)
    except ValueError:
        raise Wrong(f"standard output isn't whole: {outcome.out[-200:]!r}, {outcome}") from None


def figures(result):
    """What must be the same, however often the run was disturbed."""
    return [(student["verdict"], student["baseline"]["passed"], student["with_skill"]["passed"], student["cases"])
            for student in result["students"]]
