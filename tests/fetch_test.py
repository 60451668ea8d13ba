#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/fetch against package indexes of the test's own on the loopback interface; no network is used."""
import concurrent.futures
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(os.path.dirname(TESTS), "scripts")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TESTS, "support"), SCRIPTS]
from fetch_run import FETCH, Run
from fetching import messages
from package_index import CONTENT, FILE, MARKER, SHA256, WRONG, Index


class Fetch(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = os.path.join(temporary.name, "downloads")
        self.home = temporary.name
        self.target = os.path.join(self.folder, FILE)
        self.index = self.make_index()

    def tearDown(self):
        self.assertFalse(os.path.exists(MARKER), "the package's code was run")

    def make_index(self):
        index = Index()
        self.addCleanup(index.close)
        return index

    def start(self, size=len(CONTENT), sha256=SHA256, whole=False, stderr=subprocess.PIPE, file=FILE, **settings):
        """whole: as a user would start it, which takes longer."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("PIP_") and not name.lower().endswith("_proxy") and name != "NETRC"}
        environment.update({"PIP_CONFIG_FILE": "/dev/null", "HOME": self.home, "PIP_INDEX_URL": self.index.url,
                            "PIP_RETRIES": "0", "UPSKILL_PROGRESS_SECONDS": "0.1", **settings})
        arguments = ["demo-package==1.0", file, str(size), sha256, self.folder]
        if not whole:
            return Run(arguments, environment, self.home)
        return subprocess.Popen([sys.executable, FETCH, *arguments], env=environment, cwd=self.home, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr)

    def end(self, process, code=0):
        out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, error)
        self.assertEqual(out, "")
        self.assertNotIn("Traceback", error)
        return error

    def run_fetch(self, code=0, **settings):
        return self.end(self.start(**settings), code)

    def assert_complete(self):
        with open(self.target, "rb") as file:
            self.assertEqual(hashlib.sha256(file.read()).hexdigest(), SHA256)
        self.assertEqual(os.listdir(self.folder), [FILE])

    def assert_nothing(self):
        self.assertEqual(os.listdir(self.folder), [])

    def partial_size(self):
        return os.path.getsize(self.target + ".partial")

    def test_html_page(self):
        error = self.run_fetch(whole=True)
        self.assertIn(f"downloading {FILE} (1.0 MB)", error)
        self.assertIn(f"downloaded {FILE}", error)
        self.assert_complete()
        # Again: no request and no output; the same when the file was placed by hand.
        asked = len(self.index.requests)
        self.assertEqual(self.run_fetch(), "")
        self.assertEqual(len(self.index.requests), asked)

    def test_json_page(self):
        self.index.json = True
        self.run_fetch()
        self.assert_complete()

    def test_formats_allowed_by_pip_configuration_do_not_matter(self):
        self.run_fetch(PIP_ONLY_BINARY=":all:")
        self.assert_complete()

    def test_redirect(self):
        self.index.link = f"/moved/{FILE}"
        self.run_fetch()
        self.assert_complete()

    def test_find_links_folder(self):
        wheels = os.path.join(self.home, "wheels")
        os.mkdir(wheels)
        with open(os.path.join(wheels, FILE), "wb") as file:
            file.write(CONTENT)
        self.run_fetch(PIP_NO_INDEX="1", PIP_FIND_LINKS=wheels)
        self.assert_complete()
        self.assertEqual(self.index.requests, [])

    def test_index_of_files(self):
        page = os.path.join(self.home, "simple", "demo-package")
        os.makedirs(page)
        with open(os.path.join(page, FILE), "wb") as file:
            file.write(CONTENT)
        with open(os.path.join(page, "index.html"), "w") as file:
            file.write(f'<a href="{FILE}">{FILE}</a>')
        self.run_fetch(PIP_EXTRA_INDEX_URL=f"file://{self.home}/simple")
        self.assert_complete()
        self.assertEqual(self.index.ranges_asked(), [], "the local file is used")

    def test_cut_and_resumed(self):
        self.index.cuts = [400_000]
        error = self.run_fetch(code=1)
        self.assertIn("0.4 of 1.0 MB are kept; the next run resumes from there", error)
        self.assertIn("the connection ended after 0.4 of 1.0 MB", error)
        self.assertEqual(self.partial_size(), 400_000)
        self.run_fetch()
        self.assert_complete()
        self.assertEqual(self.index.ranges_asked(), [None, "bytes=400000-"])
        self.assertEqual(self.index.sent, [400_000, len(CONTENT) - 400_000])

    def test_cut_without_a_length_and_resumed_in_the_same_run(self):
        self.index.lengths, self.index.cuts = False, [300_000]
        error = self.run_fetch(PIP_RETRIES="1")
        self.assertIn("retrying in 1 s", error)
        self.assert_complete()
        self.assertEqual(self.index.ranges_asked(), [None, "bytes=300000-"])

    def test_interrupted_and_resumed(self):
        self.index.delay = 30
        process = self.start(whole=True)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (os.path.exists(self.target + ".partial") and self.partial_size() > 400_000):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        error = self.end(process, 130)
        kept, self.index.delay = self.partial_size(), 0
        self.assertIn(f"interrupted; {kept / 1e6:.1f} MB kept", error)
        self.run_fetch()
        self.assert_complete()
        self.assertEqual(self.index.ranges_asked(), [None, f"bytes={kept}-"])

    def leave_partial(self, content):
        os.makedirs(self.folder, exist_ok=True)
        with open(self.target + ".partial", "wb") as file:
            file.write(content)

    def test_server_without_ranges(self):
        for self.index.ranges in ("ignored", "misplaced", "416"):
            with self.subTest(self.index.ranges):
                self.leave_partial(CONTENT[:500_000])
                self.run_fetch()
                self.assert_complete()
                os.unlink(self.target)

    def test_damaged_partial_file_starts_again(self):
        self.leave_partial(b"x" * 500_000)
        error = self.run_fetch()
        self.assertIn("the resumed download has the wrong content", error)
        self.assert_complete()
        self.assertEqual(self.index.ranges_asked(), ["bytes=500000-", None])

    def test_partial_file_longer_than_the_file(self):
        self.leave_partial(CONTENT + b"more")
        self.run_fetch()
        self.assert_complete()

    def test_wrong_content(self):
        self.index.content = WRONG
        error = self.run_fetch(code=1)
        found = hashlib.sha256(WRONG).hexdigest()
        for words in (FILE, f"expected SHA-256 {SHA256}", f"found SHA-256 {found}", "wrong content", self.target):
            self.assertIn(words, error)
        self.assert_nothing()
        self.index.content = CONTENT
        self.run_fetch()
        self.assert_complete()

    def test_wrong_content_placed_by_hand(self):
        os.makedirs(self.folder)
        with open(self.target, "wb") as file:
            file.write(WRONG)
        # It stays until the right one is there.
        self.index.statuses = [403]
        self.run_fetch(code=1)
        self.assertEqual(os.listdir(self.folder), [FILE])
        error = self.run_fetch()
        self.assertIn(hashlib.sha256(WRONG).hexdigest(), error)
        self.assertIn(f"{self.target}.rejected", error)
        os.unlink(self.target + ".rejected")
        self.assert_complete()

    def test_more_than_announced(self):
        self.index.content, self.index.lengths = CONTENT + b"x" * 5_000_000, False
        error = self.run_fetch(code=1)
        self.assertIn(f"more than {len(CONTENT):,} bytes", error)
        self.assert_nothing()
        self.index.lengths = True
        self.assertIn(f"{len(self.index.content):,} bytes instead of", self.run_fetch(code=1))
        self.assert_nothing()

    def test_wheels_for_other_machines(self):
        """Nothing is installed, so a file for another Python or processor is as good as any."""
        for file in ("demo_package-1.0-cp312-cp312-manylinux_2_28_aarch64.whl",
                     "demo_package-1.0-cp39-abi3-macosx_11_0_arm64.whl"):
            page = {"meta": {"api-version": "1.0"}, "name": "demo-package",
                    "files": [{"filename": file, "url": f"/files/{file}", "hashes": {}}]}
            self.index.page = json.dumps(page).encode()
            self.run_fetch(file=file)
            with open(os.path.join(self.folder, file), "rb") as fetched:
                self.assertEqual(fetched.read(), CONTENT)

    def test_next_index_when_one_fails(self):
        bad = self.make_index()
        for bad.content, bad.statuses in ((WRONG, []), (CONTENT, [403])):
            self.run_fetch(PIP_INDEX_URL=bad.url, PIP_EXTRA_INDEX_URL=self.index.url)
            self.assert_complete()
            os.unlink(self.target)

    def test_server_error_is_tried_again(self):
        self.index.statuses = [500, 429]
        self.run_fetch(PIP_RETRIES="3")
        self.assert_complete()

    def test_unreachable_index(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))  # held and never listening, so no other test can get the port
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            error = self.run_fetch(code=1, PIP_INDEX_URL=f"http://user:pass-secret@{address}/simple")
        self.assertIn("Connection refused", error)
        self.assertIn(address, error)
        self.assertIn(SHA256, error)
        self.assertNotIn("secret", error)
        self.assert_nothing()

    def test_credentials_are_used_and_never_printed(self):
        self.index.authorization = "Basic dXNlcjpwYXNzLXNlY3JldA=="
        self.index.link = f"/moved/{FILE}"
        self.index.cuts = [100_000]
        settings = {"PIP_INDEX_URL": f"http://user:pass-secret@{self.index.address}/simple"}
        error = self.run_fetch(code=1, **settings)
        error += self.run_fetch(**settings)
        self.assert_complete()
        self.index.authorization = "Basic another"
        os.unlink(self.target)
        error += self.run_fetch(code=1, **settings)
        self.assertNotIn("secret", error)

    def test_two_processes(self):
        self.index.delay = 1.5
        processes = [self.start(), self.start()]
        errors = [self.end(process) for process in processes]
        self.assert_complete()
        self.assertEqual(len(self.index.ranges_asked()), 1, "the second waits for the first")
        self.assertTrue(any("another process is downloading it" in error for error in errors))

    def test_progress(self):
        self.index.delay = 1
        self.assertRegex(self.run_fetch(), rf"{FILE}: 0.[1-9] of 1.0 MB, ")

    def test_pages_that_cannot_be_parsed(self):
        for self.index.page, words in ((b"[]", "AttributeError"), (b'{"files":', "JSONDecodeError"),
                                       (b"[" * 100_000, "RecursionError"), (b'{"a": "\xff"}', "UnicodeDecodeError")):
            with self.subTest(words):
                error = self.run_fetch(code=1)
                self.assertIn(f"a page that can't be parsed, {self.index.url}/demo-package/ ({words}", error)
                self.assertIn("place the file yourself", error)
                self.assert_nothing()

    def test_hopeless_links_are_tried_once(self):
        for self.index.link, words in ((f"/inside/{FILE}", "redirects to a file: address"),
                                       (f"/circle/{FILE}", "Exceeded 30 redirects"),
                                       (f"http://127.0.0.1:99999/{FILE}", "Failed to parse"),
                                       (f"ftp://127.0.0.1/{FILE}", "No connection adapters"),
                                       (f"file:///etc/{FILE}", "lists this file")):
            with self.subTest(words):
                error = self.run_fetch(code=1, PIP_RETRIES="3")
                self.assertIn(words, error)
                self.assertNotIn("retrying", error)
                self.assert_nothing()

    def test_compressed_by_the_server(self):
        self.index.content, self.index.headers = CONTENT[:1000], {"Content-Encoding": "gzip"}
        for self.index.lengths in (True, False):
            error = self.run_fetch(code=1)
            self.assertIn("1,000 bytes instead of", error)
            self.assertIn("the server sent it compressed, gzip", error)
            self.assert_nothing()

    def test_server_cannot_demand_a_long_wait_or_control_the_terminal(self):
        self.index.statuses, self.index.headers = [503, 503], {"Retry-After": "86400"}
        self.index.reason = "\x1b[31mred"
        started = time.monotonic()
        error = self.run_fetch(code=1, PIP_RETRIES="1")
        self.assertLess(time.monotonic() - started, 10)
        self.assertIn("HTTP status 503 \\x1b[31mred", error)
        self.assertNotIn("\x1b", error)
        self.assert_nothing()

    def test_server_that_hangs(self):
        self.index.delay = 20
        error = self.run_fetch(code=1, PIP_DEFAULT_TIMEOUT="0.5")
        self.assertIn("Read timed out", error)
        self.assertIn("0.5 of 1.0 MB are kept", error)

    def test_invalid_settings(self):
        for settings, words in (({"PIP_DEFAULT_TIMEOUT": "-1"}, "pip's timeout is -1"),
                                ({"PIP_RETRIES": "some-secret"}, "pip rejects its configuration"),
                                ({"PIP_INDEX_URL": "http://[::1/"}, "the package index failed: Invalid IPv6 URL"),
                                ({"PIP_NO_INDEX": "1"}, "pip is told to ask no package index"),
                                ({"UPSKILL_PROGRESS_SECONDS": "abc"}, "UPSKILL_PROGRESS_SECONDS is 'abc'")):
            with self.subTest(words):
                error = self.run_fetch(code=1, **settings)
                self.assertIn(words, error)
                self.assertNotIn("secret", error)
                self.assert_nothing()

    def test_broken_configuration_file(self):
        path = os.path.join(self.home, "pip.conf")
        with open(path, "w") as file:
            file.write("[global]\nindex-url = http://user:pass-secret@127.0.0.1:9/simple\nanother-secret\n")
        error = self.run_fetch(code=1, PIP_CONFIG_FILE=path)
        self.assertIn(f"pip rejects its configuration {path}, line 3", error)
        self.assertNotIn("secret", error)

    def test_passwords_with_slashes_and_in_a_proxy(self):
        for settings in ({"PIP_INDEX_URL": "http://user:my/sec@ret?x@127.0.0.1:9/simple"},
                         {"PIP_PROXY": "user:sec%20ret@127.0.0.1:9"}, {"PIP_PROXY": "http://user:sec/ret@127.0.0.1:9"}):
            with self.subTest(settings):
                self.assertNotRegex(self.run_fetch(code=1, **settings), r"sec\b|\bret\b|sec%20|/sec|my/")

    def test_redaction(self):
        for url in ("https://user:pa/ss@host/simple", "to:ken word@proxy:8080", "https://tok3n-only@host/", "u:ab@host"):
            messages.learn_secrets(url)
        for text in ("pa/ss", "'pa'", "pa%2Fss", "ken word", "ken%20word", "tok3n-only", "user:pa/ss", "(ab)"):
            shown = messages.redact(f"before {text} after")
            self.assertRegex(shown, r"^before ['(]?\*\*\*['):/*]* after$", text)
        self.assertEqual(messages.redact("about\x1b[2J\x9b\udc80 http://h:80/x@1"), "about\\x1b[2J\\x9b\\udc80 http://***@1")
        before = set(messages.SECRETS)
        messages.learn_secrets("https://host/simple/@scope/x")
        self.assertEqual(messages.SECRETS, before)

    def test_not_a_regular_file(self):
        precious = os.path.join(self.home, "precious")
        with open(precious, "w") as file:
            file.write("precious")
        os.mkdir(self.folder)
        for suffix in ("", ".partial"):
            for make, words in ((os.mkfifo, "a FIFO"), (os.mkdir, "a folder"),
                                (lambda path: os.symlink(precious, path), "a symbolic link"),
                                (lambda path: os.link(precious, path), "hard link")):
                if not suffix and "link" in words:
                    continue  # a file placed by hand may be one
                with self.subTest(words + suffix):
                    make(self.target + suffix)
                    error = self.run_fetch(code=1)
                    self.assertIn(f"{self.target}{suffix} ", error)
                    self.assertIn(words, error)
                    self.assertIn(f"remove {self.target}{suffix}", error)
                    (os.rmdir if words == "a folder" else os.unlink)(self.target + suffix)
        with open(precious) as file:
            self.assertEqual(file.read(), "precious")

    def test_folder_that_cannot_be_created(self):
        with open(self.folder, "w"):
            error = self.run_fetch(code=1)
        self.assertIn(f"can't create the folder {self.folder}", error)

    def test_ended_before_the_first_byte(self):
        self.index.cuts, self.index.delay = [0], 20
        process = self.start()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not self.index.ranges_asked():
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        self.assertIn("interrupted; 0.0 MB kept", self.end(process, 143))
        self.assert_nothing()

    def test_nobody_reads_the_messages(self):
        reader, writer = os.pipe()
        os.close(reader)
        process = self.start(whole=True, stderr=writer)
        os.close(writer)
        self.assertEqual((process.communicate(timeout=60)[0], process.returncode), ("", 0))
        self.assert_complete()

    def test_no_pip(self):
        command = [sys.executable, "-S", FETCH, "demo-package==1.0", FILE, "5", SHA256, self.folder]
        outcome = subprocess.run(command, text=True, capture_output=True, env={"PATH": "/usr/bin:/bin"}, timeout=60)
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("no pip", outcome.stderr)
        self.assertIn(f"place the file yourself as {self.target} (SHA-256 {SHA256})", outcome.stderr)

    def test_usage(self):
        self.assertEqual(subprocess.run([sys.executable, FETCH, "x"], capture_output=True, timeout=60).returncode, 2)


def run_one(test):
    result = unittest.TestResult()
    test.run(result)
    return [text for _, text in result.failures + result.errors]


if __name__ == "__main__":
    if sys.argv[1:]:
        unittest.main()
    # Most of the time is spent waiting: four at a time.
    tests = list(unittest.defaultTestLoader.loadTestsFromTestCase(Fetch))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        failures = [text for texts in pool.map(run_one, tests) for text in texts]
    print("\n".join(failures + [f"{len(tests)} tests, {len(failures)} failures"]))
    sys.exit(1 if failures else 0)
