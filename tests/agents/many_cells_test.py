#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""many_cells_test.py UPSKILL: runs of 200 cells with tests/support/fake_agent at -j 8 leave nothing behind.

Neither at their end nor after Ctrl-C and SIGKILL is there a process, a mount or a temporary folder of theirs, and their
memory doesn't grow with the cells.
"""
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

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"
UPSKILL = pathlib.Path(sys.argv[1]).resolve()
CASES = 10
LINES = ["write out.txt hello", "run false", "done All is well."]


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)


def processes():
    """Command lines of sandboxes and agents, by process."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"UPSKILL_FAKE_BASE" in b" ".join(words) or b"UPSKILL_FAKE_BASE=" in environment:
            found[folder.name] = b" ".join(words)[:80]
    return found


def wait_until_none(what, seconds=10):
    end = time.monotonic() + seconds
    while processes() and time.monotonic() < end:
        time.sleep(0.05)
    if left := processes():
        fail("%s left processes: %s" % (what, left))


class Run:
    """One eval in a folder of its own."""

    def __init__(self, root, name, lines, rounds):
        self.folder, self.temporary = root / name, root / (name + "-tmp")
        self.temporary.mkdir()
        skill = self.folder / "skill"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: skill\ndescription: How to greet.\n---\n\nSay hello.\n")
        cases = [{"id": "c%d" % i, "input": "Greet number %d." % i, "mode": "workspace",
                  "checks": [{"type": "file_contains", "path": "out.txt", "values": ["hello"]}]} for i in range(CASES)]
        (skill / "skill_meta.json").write_text(json.dumps({"tests": cases}))
        programs = root / "programs"
        programs.mkdir(exist_ok=True)
        os.chmod(root, 0o755)
        shutil.copy(SUPPORT / "fake_agent", programs)
        script = self.folder / "script.json"
        script.write_text(json.dumps({"turns": [{"say": line} for line in lines]}))
        self.server = subprocess.Popen([sys.executable, SUPPORT / "scripted_model.py", script], stdout=subprocess.PIPE, text=True)
        url = self.server.stdout.readline().strip()
        self.environment = {"PATH": "%s:%s" % (programs, os.environ["PATH"]), "HOME": str(self.folder), "TMPDIR": str(self.temporary),
                            "UPSKILL_AGENTS": str(SUPPORT / "fake_agents.toml")}
        self.words = [UPSKILL, "eval", skill, "-m", "agent:fake:tiny", "--base-url", url, "--runs", str(rounds), "-j", "8",
                      "--load", "on-demand", "--json"]

    def start(self):
        self.process = subprocess.Popen(self.words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        return self.process

    def until_samples(self, count):
        while sum(1 for file in self.folder.glob("runs/*/samples.jsonl") for _ in file.open()) < count:
            if self.process.poll() is not None:
                fail("eval ended too early: " + "".join(self.process.communicate()))
            time.sleep(0.05)

    def peak_kilobytes(self):
        status = pathlib.Path("/proc/%d/status" % self.process.pid).read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1))

    def end(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()
        if left := list(self.temporary.iterdir()):
            fail("temporary files are left: %s" % left)


def mounts():
    return len(pathlib.Path("/proc/self/mounts").read_text().splitlines())


def main():
    if subprocess.run(["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True).returncode != 0:
        print("skipped: there is no sandbox here")
        return 77
    before = mounts()
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)

        run = Run(root, "whole", LINES, rounds=10)
        run.start()
        run.until_samples(40)
        early = run.peak_kilobytes()
        run.until_samples(190)
        late = run.peak_kilobytes()
        out, error = run.process.communicate(timeout=600)
        if run.process.returncode != 0:
            fail("eval: %d %s" % (run.process.returncode, error))
        student = json.loads(out)["students"][0]
        for arm in ("baseline", "with_skill"):
            if (student[arm]["passed"], student[arm]["errors"]) != (100, 0):
                fail("%s: %s" % (arm, student[arm]))
        if late > early * 1.25 + 4096:
            fail("memory grew from %d to %d kB" % (early, late))
        print("200 cells: peak memory %d kB after 40, %d kB after 190" % (early, late))
        wait_until_none("a whole run")
        run.end()

        run = Run(root, "interrupted", ["write out.txt hello", "hang"], rounds=1)
        run.start()
        while len(processes()) < 8:
            time.sleep(0.05)
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        run.process.send_signal(signal.SIGINT)
        if run.process.wait(timeout=60) != 130:
            fail("Ctrl-C: exit code %d" % run.process.returncode)
        run.process.communicate()
        wait_until_none("an interrupted run")
        run.end()

        run = Run(root, "killed", ["write out.txt hello", "hang"], rounds=1)
        run.start()
        while len(processes()) < 8:
            time.sleep(0.05)
        run.process.kill()
        run.process.communicate()
        wait_until_none("a killed run")
        run.end()

        if os.geteuid() == 0:  # who may make a small disk
            run = Run(root, "full", LINES, rounds=10)
            disk = run.folder / "runs"
            disk.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
            try:
                run.start()
                error = run.process.communicate(timeout=600)[1]
            finally:
                subprocess.run(["umount", "-l", disk], check=True)
            if run.process.returncode not in (2, 3):
                fail("a full disk: exit code %d, %s" % (run.process.returncode, error))
            wait_until_none("a run on a full disk")
            run.end()
    if mounts() != before:
        fail("mounts are left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
