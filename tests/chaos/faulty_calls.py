# SPDX-License-Identifier: Apache-2.0
"""Commands of which the n-th call that writes to a file fails, or at which the program is killed (faults.cpp); and the
same commands under what else may happen to them."""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

from trial import ARMS, CELLS, Outcome, Trial, content, figures, parsed, require, write

# Its answers are those of a model, by what a request asks for.
TEACHER = """
import json, sys
request = sys.stdin.read()
draft = {"description": "Adds numbers. Use it for sums.", "references": [], "scripts": [],
         "sections": [{"title": "Adding", "rules": [{"text": "Say the total.", "cites": []}]}]}
cases = [{"kind": "command" if k % 2 else "answer", "transfer": k % 4 == 1, "input": f"What is the sum number {k}?",
          "contains": [f"total-{k}."], "any_of": [], "not_contains": [], "checks": [], "output_file": "",
          "reference": f"It is total-{k}.", "cites": []} for k in range(1, 7)]
print(json.dumps({"cases": cases} if '"cases"' in request else draft))
"""
FAULTS = {
    "enospc": {"fault": "enospc"},
    "full": {"fault": "enospc", "lasting": 1},
    "eio": {"fault": "eio"},
    "broken": {"fault": "eio", "lasting": 1},
    "eintr": {"fault": "eintr"},
    "short": {"fault": "short"},
    "kill": {"fault": "kill"},
    "tear": {"fault": "tear"},
}
HARMLESS = ("eintr", "short")
FATAL = ("kill", "tear")


class Command:
    """A command that is disturbed. `template`: the folder in which it starts, made once."""

    def prepare(self, trial):
        pass

    def arguments(self, trial):
        raise NotImplementedError

    def reference(self, trial, outcome):
        """What an undisturbed run of it gives."""

    def check(self, trial, outcome, reference):
        """After the disturbance; `outcome` may be a success."""

    def complete(self, trial, reference):
        """Without a disturbance afterwards, whatever is left of it."""


class Evaluation(Command):
    def arguments(self, trial):
        return trial.new()

    def reference(self, trial, outcome):
        return figures(trial.require_complete(outcome, trial.run_folders()[0]))

    def check(self, trial, outcome, reference):
        for folder in trial.run_folders():
            trial.require_sound_journal(folder)
        if outcome.code == 0:
            require(figures(trial.require_complete(outcome, trial.run_folders()[0])) == reference, "other results")

    def complete(self, trial, reference):
        before = {folder: trial.journal_lines(folder) for folder in trial.run_folders()}
        outcome = trial.run(trial.resume_or_new())
        folder = trial.run_folders()[-1]
        require(figures(trial.require_complete(outcome, folder)) == reference, "other results")
        for folder, lines in before.items():
            require(trial.journal_lines(folder)[:len(lines)] == lines, "an answer that was saved is gone")


class Working(Evaluation):
    """Students that act: their turns, and what tools did, are saved as well. The simulated student writes files, which
    needs no sandbox."""

    def arguments(self, trial):
        return trial.new("--mode", "workspace", "--no-cache")

    def check(self, trial, outcome, reference):
        for folder in trial.run_folders():
            trial.require_sound_turns(folder)
        super().check(trial, outcome, reference)

    def complete(self, trial, reference):
        before = {folder: trial.turn_lines(folder) for folder in trial.run_folders()}
        outcome = trial.run(trial.resume_command() if before else self.arguments(trial))
        folder = trial.run_folders()[-1]
        require(figures(trial.require_complete(outcome, folder)) == reference, "other results")
        for folder, lines in before.items():
            after = trial.require_sound_turns(folder)
            require(after[:len(lines)] == lines, "a turn that was saved is gone")


class Resumption(Evaluation):
    """Of a run that was killed within a line."""

    def prepare(self, trial):
        trial.run(trial.new(), {"fault": "tear", "at": 16})
        require(len(trial.run_folders()) == 1, "not killed where the journal is written")

    def arguments(self, trial):
        return trial.resume_or_new()


class Merging(Command):
    """Of a second shard into a run that has the first."""

    def prepare(self, trial):
        for shard in ("1/2", "2/2"):
            outcome = trial.run(trial.new("--shard", shard, "--runs-dir", "shards" + shard[0]))
            require(outcome.code == 0, f"shard {shard}: {outcome}")
        outcome = trial.run(["merge", "shards1", "-o", "runs/whole", "--json"])
        require(outcome.code == 3, f"the first shard: {outcome}")

    def arguments(self, trial):
        return ["merge", "shards1", "shards2", "-o", "runs/whole", "--json"]

    def reference(self, trial, outcome):
        require(parsed(outcome)["complete"], "incomplete")
        return content(trial.path("runs/whole/samples.jsonl"))

    def check(self, trial, outcome, reference):
        lines = set(trial.journal_lines(trial.path("runs/whole")))
        first = [line for name in os.listdir(trial.path("shards1")) if name != "results.csv"
                 for line in trial.journal_lines(trial.path("shards1/" + name))]
        require(lines.issuperset(first), "merging lost answers of its target")
        if outcome.code == 0:
            require(self.reference(trial, outcome) == reference, "another journal")

    def complete(self, trial, reference):
        outcome = trial.run(self.arguments(trial))
        require(outcome.code == 0 and self.reference(trial, outcome) == reference, f"another journal: {outcome}")


class Reporting(Command):
    """A report in place of an older one."""

    def prepare(self, trial):
        require(trial.run(trial.new()).code == 0, "eval")
        write(trial.path("report.csv"), "old")

    def arguments(self, trial):
        return ["report", "latest", "-o", "report.csv"]

    def reference(self, trial, outcome):
        require(b"report.csv written" in outcome.out, f"says nothing: {outcome}")
        return content(trial.path("report.csv"))

    def check(self, trial, outcome, reference):
        require(content(trial.path("report.csv")) in (b"old", reference), "a part of a report")
        if outcome.code == 0:
            require(self.reference(trial, outcome) == reference, "exit code 0 without a report")

    def complete(self, trial, reference):
        require(self.reference(trial, trial.run(self.arguments(trial))) == reference, "another report")


class Generation(Command):
    """A skill from a task, by a command as the teacher."""

    def prepare(self, trial):
        write(trial.path("teacher.py"), TEACHER)

    def arguments(self, trial):
        return ["generate", "Add numbers", "-m", "cmd:python3 teacher.py", "--no-critique", "--name", "adding", "--eval-model",
                "sim:base=0.1,skill=0.9", "--cases", "6", "--runs", "2", "--max-attempts", "0", "-o", "made", "-q", "--json"]

    def reference(self, trial, outcome):
        result = parsed(outcome)
        require(result["accepted"] is True, f"not accepted: {result.get('rejected_because')}")
        meta = json.loads(content(trial.path("made/skill_meta.json")))
        json.loads(content(trial.path("made/lineage.json")))
        return content(trial.path("made/SKILL.md")), meta["tests"], meta["metadata"]["students"]

    def check(self, trial, outcome, reference):
        for folder in trial.run_folders():
            trial.require_sound_journal(folder)
        if outcome.code == 0:
            require(self.reference(trial, outcome) == reference, "another skill")

    def complete(self, trial, reference):
        generations = trial.path("runs/generations")
        begun = os.path.isdir(generations) and any(
            os.path.exists(os.path.join(generations, name, "generation.json")) for name in os.listdir(generations))
        outcome = trial.run(["generate", "--resume", "-q", "--json", "-m", "cmd:python3 teacher.py"] if begun else self.arguments(trial))
        require(outcome.code == 0, f"not completed: {outcome}")
        require(self.reference(trial, outcome) == reference, "another skill than without a disturbance")


COMMANDS = {"eval": Evaluation, "work": Working, "resume": Resumption, "merge": Merging, "report": Reporting, "generate": Generation}


class Disturbed:
    """One command with its template, its number of calls and its undisturbed result."""

    def __init__(self, name, upskill, faults, place=None):
        self.place = place
        self.name, self.upskill, self.faults = name, upskill, faults
        self.command, self.places = COMMANDS[name](), set()
        self.template = Trial(upskill, faults, place)
        self.command.prepare(self.template)
        with self.copy() as trial:
            self.calls = trial.calls(self.command.arguments(trial))
        with self.copy() as trial:
            outcome = trial.run(self.command.arguments(trial))
            require(outcome.code == 0, f"{name}: {outcome}")
            self.reference = self.command.reference(trial, outcome)

    def copy(self):
        trial = Trial(self.upskill, self.faults, self.place)
        shutil.rmtree(trial.work)
        shutil.copytree(self.template.work, trial.work)
        return trial

    def close(self):
        self.template.temporary.cleanup()

    def disturb(self, fault, at):
        with self.copy() as trial:
            outcome = trial.run(self.command.arguments(trial), {**FAULTS[fault], "at": at})
            killed = outcome.code == -signal.SIGKILL
            require(killed == (fault in FATAL) or (fault in FATAL and at > self.calls - 5), f"not killed: {outcome}")
            require(fault not in HARMLESS or outcome.code == 0, f"a harmless fault ended it: {outcome}")
            require(outcome.code == 0 or killed or outcome.error, "a failure that says nothing")
            if not killed:
                trial.require_no_temporary_files()
            self.command.check(trial, outcome, self.reference)
            self.command.complete(trial, self.reference)


    def require_done(self, trial, outcome):
        """That the command wasn't disturbed, as it seemed to itself."""
        require(outcome.code == 0, f"not completed: {outcome}")
        self.command.check(trial, outcome, self.reference)
        self.command.complete(trial, self.reference)

    def under_a_wrong_clock(self, random):
        """The wall clock jumps by up to a day in either direction, all the time."""
        with self.copy() as trial:
            self.require_done(trial, trial.run(self.command.arguments(trial), {"clock": random.randint(1, 1_000_000)}))

    def with_a_slow_reader(self, _random):
        """Standard output is a small pipe that doesn't block the writer, and is read slowly."""
        with self.copy() as trial:
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
            process = trial.start(self.command.arguments(trial), writer, subprocess.PIPE)
            os.close(writer)
            read = b""
            while block := os.read(reader, 100):
                read += block
                time.sleep(0.0005)
            os.close(reader)
            error = process.communicate(timeout=120)[1]
            self.require_done(trial, Outcome(process.returncode, read, error))

    def with_closed_descriptors(self, _random):
        for closed in ([0], [1], [2], [0, 1, 2]):
            with self.copy() as trial:
                def close(descriptors=tuple(closed)):
                    for descriptor in descriptors:
                        os.close(descriptor)
                path = os.path.join(trial.folder, "out")
                with open(path, "wb") as out:
                    process = trial.start(self.command.arguments(trial), out, subprocess.DEVNULL, preexec_fn=close)
                    code = process.wait(timeout=120)
                require((code != 0) == (1 in closed), f"exit code {code} with closed descriptors {closed}")
                outcome = Outcome(code, content(path), b"")
                self.command.check(trial, outcome, self.reference)
                self.command.complete(trial, self.reference)

    def killed_at_random(self, random):
        """kill -9 at some moment, wherever the program is then."""
        with self.copy() as trial:
            process = trial.start(self.command.arguments(trial), subprocess.DEVNULL, subprocess.DEVNULL)
            time.sleep(random.uniform(0.0, 0.1))
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.command.check(trial, Outcome(-signal.SIGKILL, b"", b""), self.reference)
            self.command.complete(trial, self.reference)

    def with_little_room(self, room):
        """Its file system has only this many bytes left."""
        with self.copy() as trial:
            filler = os.path.join(self.place, "filler")
            with open(filler, "wb") as file:
                free = os.statvfs(self.place)
                os.posix_fallocate(file.fileno(), 0, max(1, free.f_bavail * free.f_frsize - room))
            # Its output goes elsewhere, where there is room.
            process = subprocess.run([self.upskill, *self.command.arguments(trial)], cwd=trial.work,
                                     env=trial.environment(None), capture_output=True, timeout=120, check=False)
            os.remove(filler)
            outcome = Outcome(process.returncode, process.stdout, process.stderr)
            require(outcome.code in (0, 2, 3), f"{self.name} with {room} bytes left: {outcome}")
            require(outcome.code == 0 or outcome.error, "a failure that says nothing")
            trial.require_no_temporary_files()
            self.command.check(trial, outcome, self.reference)
            self.command.complete(trial, self.reference)


OTHERWISE = {"clocks": Disturbed.under_a_wrong_clock, "pipes": Disturbed.with_a_slow_reader,
             "descriptors": Disturbed.with_closed_descriptors, "kills": Disturbed.killed_at_random}

__all__ = ["ARMS", "CELLS", "COMMANDS", "Disturbed", "FAULTS", "OTHERWISE"]
