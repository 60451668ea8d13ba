# SPDX-License-Identifier: Apache-2.0
"""Downloads the file into FOLDER/FILE.partial, then renames it."""
import contextlib
import fcntl
import hashlib
import os
import time

from fetching.failures import Failed, Hopeless, Unreachable, WrongContent, reason
from fetching.files import open_regular, sha256_of, sha256_of_path
from fetching.messages import megabytes


class Download:
    """One download: owns FOLDER/FILE.partial, locked against a second process."""

    def __init__(self, file, size, sha256, folder, progress):
        self.file, self.size, self.sha256, self.progress = file, size, sha256, progress
        self.target = os.path.join(folder, file)
        self.partial = self.target + ".partial"
        self.output = None
        self.wrong_file = False  # FOLDER/FILE exists with other content

    def lock(self):
        """Waits for another process that fetches the same file; True when it has completed it."""
        while True:
            descriptor = open_regular(self.partial, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, os.lstat)
            self.output = open(descriptor, "r+b", buffering=0)
            try:
                fcntl.flock(self.output, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.progress.waiting("another process is downloading it; waiting")
                fcntl.flock(self.output, fcntl.LOCK_EX)
            # The other process may have given the file its final name, or removed it, while this one waited.
            complete = self.accepted()
            if self.current() and not complete:
                return False
            self.close()
            if complete:
                return True

    def current(self):
        """Whether the open file is still FOLDER/FILE.partial."""
        try:
            return os.path.samestat(os.fstat(self.output.fileno()), os.lstat(self.partial))
        except FileNotFoundError:
            return False

    def close(self):
        """Removes an empty partial file, unless another process has it."""
        if self.output is None or self.output.closed:
            return
        with contextlib.suppress(OSError):
            fcntl.flock(self.output, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self.kept() and self.current():
                os.unlink(self.partial)
        self.output.close()

    def kept(self):
        return 0 if self.output is None or self.output.closed else os.fstat(self.output.fileno()).st_size

    def accepted(self):
        """Whether FOLDER/FILE exists with the right content."""
        found = sha256_of_path(self.target)
        self.wrong_file = found not in (None, self.sha256)
        if self.wrong_file:
            self.progress.say(f"{self.target} has the wrong content (SHA-256 expected {self.sha256}, found {found}); "
                              "downloading the right one, which will replace it")
        return found == self.sha256

    def take(self, index, link):
        """Completes the partial file from this link, in one attempt."""
        start = self.kept()
        digest = sha256_of(self.output) if start < self.size else None
        if start < self.size:
            body = index.open(link, start, self.size)
            if body.first != start:
                start, digest = body.first, hashlib.sha256()
                self.output.truncate(0)
            self.output.seek(start)
            done = start
            for chunk in body.chunks:
                if done + len(chunk) > self.size:
                    raise WrongContent(f"more than {self.size:,} bytes")
                self.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                self.progress.at(done)
            if done < self.size and (link.is_file or body.note):
                raise WrongContent(f"{done:,} bytes instead of {self.size:,}{body.note}")
            if done < self.size:
                raise Unreachable(f"the connection ended after {done / 1e6:.1f} of {megabytes(self.size)}")
        else:
            digest = sha256_of(self.output)
        if digest.hexdigest() != self.sha256:
            raise WrongContent(f"SHA-256 {digest.hexdigest()}")

    def write(self, chunk):
        try:
            view = memoryview(chunk)
            while view:
                view = view[self.output.write(view):]
        except OSError as error:
            raise Failed(f"writing {self.partial}: {error.strerror}")

    def from_link(self, index, link):
        """take() with retries when the connection breaks, and once from zero when a resumed file is wrong."""
        listed = index.listed(link)
        if listed not in (None, self.sha256):
            raise WrongContent(f"SHA-256 {listed} on the index page")
        attempt, may_restart = 0, True
        while True:
            before = self.kept()
            try:
                self.take(index, link)
                return
            except WrongContent as error:
                self.output.truncate(0)
                if not before or not may_restart:
                    raise
                self.progress.say(f"{self.file}: the resumed download has the wrong content ({error}); "
                                  "starting over")
                may_restart = False
            except (Unreachable, index.pip_error, *index.broken) as error:
                permanent = isinstance(error, (Hopeless, *index.hopeless))
                attempt = 1 if self.kept() > before + (1 << 20) else attempt + 1
                if permanent or link.is_file or attempt > index.retries:
                    raise Unreachable(reason(error))
                pause = min(2 ** (attempt - 1), 8)
                self.progress.say(f"{self.file}: {reason(error)}; retrying in {pause} s")
                self.progress.waiting(f"retrying, {self.kept() / 1e6:.1f} of {megabytes(self.size)} so far")
                time.sleep(pause)

    def finish(self):
        if self.wrong_file:
            os.rename(self.target, self.target + ".rejected")
            self.progress.say(f"the file with the wrong content is now {self.target}.rejected")
        os.rename(self.partial, self.target)
        self.output.close()
