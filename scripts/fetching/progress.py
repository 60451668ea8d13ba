# SPDX-License-Identifier: Apache-2.0
"""The download's progress on stderr."""
import collections
import contextlib
import os
import threading
import time

from fetching.failures import Failed
from fetching.messages import emit, megabytes, redact


class Progress:
    """One line on stderr, kept current by a thread: rewritten on a terminal, a new line about every 5 s elsewhere."""

    def __init__(self, name, size):
        self.name, self.size = name, size
        self.note = "asking the package index"  # shown until bytes arrive
        self.done = None
        self.samples = collections.deque(maxlen=25)  # (time, bytes), one every 0.2 s
        self.terminal = os.isatty(2)
        self.interval = 0.5 if self.terminal else self.seconds_between_lines()
        self.started = time.monotonic()
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.say(f"downloading {name} ({megabytes(size)})")
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    @staticmethod
    def seconds_between_lines():
        text = os.environ.get("UPSKILL_PROGRESS_SECONDS", "5")
        with contextlib.suppress(ValueError):
            if 0.01 <= float(text) <= 86400:
                return float(text)
        raise Failed(f"UPSKILL_PROGRESS_SECONDS is {text!r}, not a number of seconds from 0.01 to 86400")

    def say(self, text):
        with self.lock:
            clear = "\r\x1b[K" if self.terminal else ""
            emit(f"{clear}{redact(text)}\n")

    def at(self, done):
        now = time.monotonic()
        self.note, self.done = None, done
        if not self.samples or now - self.samples[-1][0] >= 0.2:
            self.samples.append((now, done))

    def waiting(self, note):
        self.note = note
        self.samples.clear()

    def line(self):
        seconds = int(time.monotonic() - self.started)
        if self.note is not None:
            return f"{self.name}: {self.note} ({seconds} s)"
        now, done, samples = time.monotonic(), self.done, list(self.samples)
        text = f"{self.name}: {done / 1e6:.1f} of {megabytes(self.size)}"
        if not samples:
            return text
        if now - samples[-1][0] > 5:
            return f"{text}, no data for {int(now - samples[-1][0])} s"
        rate = (done - samples[0][1]) / max(now - samples[0][0], 0.2)
        text += f", {rate / 1e6:.1f} MB/s"
        return text + (f", {int((self.size - done) / rate)} s left" if rate > 0 else "")

    def run(self):
        while not self.stop.wait(self.interval):
            line = redact(self.line())
            with self.lock:
                if self.stop.is_set():
                    return
                if self.terminal:
                    try:
                        columns = os.get_terminal_size(2).columns or 80
                    except OSError:
                        columns = 80
                    emit(f"\r\x1b[K{line[:columns - 1]}")
                else:
                    emit(line + "\n")

    def finished(self):
        self.end()
        self.say(f"downloaded {self.name} ({megabytes(self.size)} in {time.monotonic() - self.started:.0f} s)")

    def end(self):
        self.stop.set()
        with self.lock:
            if self.terminal:
                emit("\r\x1b[K")
