# SPDX-License-Identifier: Apache-2.0
"""What happens to commands from outside: kills, full disks, descriptors, pipes, clocks, other processes, links."""
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time

from trial import ARMS, CELLS, Trial, Wrong, content, figures, parsed, require, write

SLOW = "sim:base=0.4,skill=0.85,latency-ms=3"


def kill_at_random(new_trial, random, reference):
    """kill -9 again and again, until it gets through."""
    with new_trial() as trial:
        command = trial.new("--no-cache", model=SLOW)
        saved, kills = [], 0
        for _ in range(random.randint(1, 4)):
            process = trial.start(command, subprocess.DEVNULL, subprocess.DEVNULL)
            time.sleep(random.uniform(0.0, 0.05))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
            folders = trial.run_folders()
            if folders:
                command = ["eval", "adding", "--resume", "--json"]
                lines = trial.journal_lines(folders[0])
                require(lines[:len(saved)] == saved, "an answer that was saved is gone")
                saved = lines
        result = trial.require_complete(trial.run(command), trial.run_folders()[0])
        require(trial.journal_lines(trial.run_folders()[0])[:len(saved)] == saved, "an answer that was saved is gone")
        require([s["cases"] for s in result["students"]] == [s[3] for s in reference], "other results")


def full_disk(new_trial, random, reference):
    """No file may grow beyond a limit: like a full disk, also without the right to mount one."""
    def limit():
        size = random.choice([200, 500, 1000, 2000, 4000, 8000])
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    with new_trial() as trial:
        with open(trial.path("out"), "wb") as out, open(trial.path("error"), "wb") as error:
            code = trial.start(trial.new(), out, error, preexec_fn=limit).wait()
        require(code != 0 or json.loads(content(trial.path("out")))["complete"], "exit code 0 without its output")
        require(code in (0, 2, 3), f"exit code {code} on a full disk: {content(trial.path('error'))}")
        trial.require_no_temporary_files()
        finish(trial, reference)


def finish(trial, reference):
    """Completes the run without a disturbance."""
    saved = trial.journal_lines(trial.run_folders()[0]) if trial.run_folders() else []
    outcome = trial.run(trial.resume_or_new())
    folder = trial.run_folders()[0]
    require(figures(trial.require_complete(outcome, folder)) == reference, "other results than without a disturbance")
    require(trial.journal_lines(folder)[:len(saved)] == saved, "an answer that was saved is gone")


def mounted_disk(upskill, faults):
    """On a real file system that fills up and then gets room. Only in a name space of its own: it mounts one."""
    place = "/mnt" if os.path.isdir("/mnt") else "/tmp"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "chaos", place], check=True)
    with Trial(upskill, faults, place) as trial:
        reference = figures(parsed(trial.run(trial.new("--no-log-runs"))))
        filler = os.path.join(place, "filler")
        for room in (0, 4096, 8192, 16384, 32768, 65536, 131072):
            with open(filler, "wb") as file:
                free = os.statvfs(place)
                os.posix_fallocate(file.fileno(), 0, max(1, free.f_bavail * free.f_frsize - room))
            # Its output goes elsewhere, where there is room.
            process = subprocess.run([upskill, *trial.resume_or_new()], cwd=trial.work, env=trial.environment(None),
                                     capture_output=True, timeout=60, check=False)
            require(process.returncode in (0, 2, 3), f"exit code {process.returncode}: {process.stderr}")
            require(process.returncode != 0 or json.loads(process.stdout)["complete"], "exit code 0 without its output")
            require(process.returncode == 0 or process.stderr, "a failure that says nothing")
            trial.require_no_temporary_files()
            os.remove(filler)
        finish(trial, reference)
    return place


def try_mounted_disk(script, upskill, faults):
    """The same in a name space of its own. Returns why it can't be tried here."""
    probe = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        return "user name spaces are not allowed here"
    process = subprocess.run(["unshare", "-rm", sys.executable, script, upskill, faults, "--in-name-space"],
                             capture_output=True, check=False)
    require(process.returncode == 0, process.stderr.decode() + process.stdout.decode())
    return ""


def closed_descriptors(new_trial, _random, reference):
    for closed in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        with new_trial() as trial:
            def close(descriptors=tuple(closed)):
                for descriptor in descriptors:
                    os.close(descriptor)
            # Not --json: what is printed on the way would go into the files that are open then.
            command = [word for word in trial.new() if word != "--json"]
            code = trial.start(command, subprocess.DEVNULL, subprocess.DEVNULL, preexec_fn=close).wait(timeout=60)
            require((code != 0) == (1 in closed), f"exit code {code} with closed descriptors {closed}")
            folder = trial.run_folders()[0]
            require(len(trial.require_sound_journal(folder)) == CELLS, "answers are missing")
            require(content(os.path.join(folder, "plan.json")).startswith(b"{"), "text went into plan.json")
            finish(trial, reference)


def full_standard_output(new_trial, _random, _reference):
    with new_trial() as trial:
        require(trial.run(trial.new()).code == 0, "eval")
        write(trial.path("session.jsonl"), SESSION)
        for command in (["runs", "--json"], ["runs", "--csv", "-"], ["runs"], ["report", "latest", "--json"], ["list", "-d", "."],
                        ["report", "latest"], ["help"], ["--version"], ["eval", "--help"], ["models"], trial.new(),
                        ["merge", "latest", "-o", "runs/joined", "--json"], ["trace", "show", "session.jsonl"],
                        ["trace", "digest", "session.jsonl"], ["runs", "--csv", "/dev/full"],
                        ["report", "latest", "-o", "/dev/full", "--format", "json"]):
            to_file = "/dev/full" in command
            with open("/dev/null" if to_file else "/dev/full", "wb") as out, open(trial.path("error"), "wb") as error:
                code = trial.start(command, out, error).wait(timeout=60)
            said = content(trial.path("error")).decode()
            where = "/dev/full" if to_file else "standard output"
            require(code == 2, f"{command} to /dev/full: exit code {code}, {said}")
            require(f"error: writing {where}: No space left on device" in said, f"{command}: {said}")


def pipes(new_trial, _random, _reference):
    """A pipe that doesn't block gets everything, however slowly it is read; a reader that goes away is no error."""
    with new_trial() as trial:
        require(trial.run(trial.new(rounds=40)).code == 0, "eval")
        whole = trial.run(["report", "latest", "--format", "html"])
        require(whole.code == 0 and len(whole.out) > 50_000, f"{len(whole.out)} bytes: {whole}")
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        process = trial.start(["report", "latest", "--format", "html"], writer, subprocess.PIPE)
        os.close(writer)
        read = b""
        while block := os.read(reader, 5000):
            read += block
            time.sleep(0.0002)
        os.close(reader)
        error = process.communicate(timeout=60)[1]
        require(process.returncode == 0, f"exit code {process.returncode}: {error}")
        require(read == whole.out, f"{len(read)} of {len(whole.out)} bytes arrived")
        reader, writer = os.pipe()
        process = trial.start(["report", "latest", "--format", "html"], writer, subprocess.PIPE)
        os.close(writer)
        os.close(reader)
        error = process.communicate(timeout=60)[1]
        require(process.returncode == 0 and not error, f"a closed pipe: exit code {process.returncode}, {error}")


def together(new_trial, _random, reference, runs=12):
    """Runs that end together: every row arrives, and nobody warns."""
    with new_trial() as trial:
        processes = [trial.start(trial.new("--no-cache"), subprocess.PIPE, subprocess.PIPE) for _ in range(runs)]
        results = [None] * runs

        def wait(i):
            results[i] = processes[i].communicate(timeout=120)
        waiting = [threading.Thread(target=wait, args=(i,)) for i in range(runs)]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join()
        for process, (out, error) in zip(processes, results):
            require(process.returncode == 0 and b"warning" not in error, f"exit code {process.returncode}: {error}")
            require(figures(json.loads(out)) == reference, "other results")
        table = content(os.path.join(trial.runs, "results.csv")).decode()
        require(table.count("\r\n") == 1 + ARMS * runs, f"{table.count(chr(10)) - 1} of {ARMS * runs} rows in results.csv")
        trial.require_no_temporary_files()


def links(new_trial, _random, reference):
    """Links in a runs folder that came from elsewhere: what they lead to stays as it is."""
    names = [".results.csv.new", ".results.csv.tmp", "results.csv"]
    for chaos in (None, {"no_openat2": 1}):
        with new_trial() as trial:
            victim = os.path.join(trial.folder, "victim")
            write(victim, "kept")
            outside = os.path.join(trial.folder, "outside")
            os.mkdir(outside)
            os.mkdir(trial.runs)
            for name in names:
                os.symlink(victim, os.path.join(trial.runs, name))
            outcome = trial.run(trial.new(), chaos)
            folder = trial.run_folders()[0]
            require(figures(trial.require_complete(outcome, folder)) == reference, "other results")
            for name in ("run_1", "agentskills"):
                subprocess.run(["rm", "-r", os.path.join(folder, name)], check=True)
                os.symlink(outside, os.path.join(folder, name))
                outcome = trial.run(trial.resume_or_new(), chaos)
                require(outcome.code == 3 and b"symbolic link" in outcome.error, f"{name} is a link: {outcome}")
                os.remove(os.path.join(folder, name))
            os.rename(os.path.join(folder, "samples.jsonl"), victim + ".jsonl")
            os.symlink(victim + ".jsonl", os.path.join(folder, "samples.jsonl"))
            require(trial.run(trial.resume_or_new(), chaos).code == 2, "the journal is a link")
            require(content(victim) == b"kept" and not os.listdir(outside), "written through a link")


def clocks(new_trial, random, reference):
    """The wall clock jumps by up to a day in either direction, all the time."""
    with new_trial() as trial:
        outcome = trial.run(trial.new(), {"clock": random.randint(1, 1_000_000)})
        require(figures(trial.require_complete(outcome, trial.run_folders()[0])) == reference, "other results")
    with new_trial() as trial:
        at = random.randint(1, 40)
        trial.run(trial.new(), {"clock": random.randint(1, 1_000_000), "at": at, "fault": "kill"})
        finish(trial, reference)


SESSION = "\n".join(json.dumps(line) for line in (
    {"type": "user", "sessionId": "s", "uuid": "u1", "cwd": "/w", "timestamp": "2026-01-12T14:02:00.000Z",
     "message": {"role": "user", "content": "add 1 and 2"}},
    {"type": "assistant", "sessionId": "s", "uuid": "u2", "timestamp": "2026-01-12T14:03:00.000Z",
     "message": {"role": "assistant", "id": "m1", "model": "claude", "content": [{"type": "text", "text": "3"}]}})) + "\n"

__all__ = ["Wrong", "clocks", "closed_descriptors", "full_disk", "full_standard_output", "kill_at_random", "links",
           "mounted_disk", "pipes", "together", "try_mounted_disk"]
