# SPDX-License-Identifier: Apache-2.0
"""Runs scripts/fetch in a process of its own."""
import multiprocessing
import os
import runpy
import sys
import tempfile

FETCH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts", "fetch")

# Most of a run's time is Python's start and the import of pip: a process that has done both is forked.
RUNS = multiprocessing.get_context("forkserver")
RUNS.set_forkserver_preload([__name__, "pip._internal.commands.download", "pip._internal.index.package_finder",
                             "pip._internal.network.session"])


def run_script(arguments, environment, folder, output):
    """In the forked process: scripts/fetch as a program, its output in files."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for name, descriptor in ((os.devnull, 0), (output + ".out", 1), (output + ".err", 2)):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), descriptor)
    sys.argv = [FETCH, *arguments]
    try:
        runpy.run_path(FETCH, run_name="__main__")
    except SystemExit as end:
        with open(output + ".code", "w") as file:
            file.write(str(end.code))
        raise


class Run:
    """A run of scripts/fetch with the methods of subprocess.Popen that are needed here."""

    def __init__(self, arguments, environment, folder):
        self.output = tempfile.mktemp(dir=folder)
        self.process = RUNS.Process(target=run_script, args=(arguments, environment, folder, self.output), daemon=True)
        self.process.start()

    def send_signal(self, number):
        os.kill(self.process.pid, number)

    def communicate(self, timeout):
        self.process.join(timeout)
        texts = []
        for ending in (".out", ".err"):
            with open(self.output + ending) as file:
                texts.append(file.read())
        return texts

    # The script's own code: multiprocessing's fork server can miss the end of a process and report 255.
    @property
    def returncode(self):
        try:
            with open(self.output + ".code") as file:
                return int(file.read())
        except FileNotFoundError:  # ended by a signal
            return self.process.exitcode
