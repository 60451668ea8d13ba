# SPDX-License-Identifier: Apache-2.0
"""A package index on the loopback interface, for the tests of scripts/fetch."""
import contextlib
import hashlib
import http.server
import io
import json
import os
import random
import re
import tarfile
import tempfile
import threading
import time
import urllib.parse

FILE = "demo_package-1.0.tar.gz"
MARKER = os.path.join(tempfile.gettempdir(), f"upskill-fetch-test-{os.getpid()}")


def make_sdist():
    """A source package of a megabyte whose build would leave a marker."""
    run = f"open({MARKER!r}, 'w').write('ran')\n"
    members = {"setup.py": run + "from setuptools import setup; setup(name='demo-package', version='1.0')\n",
               "backend.py": run, "PKG-INFO": "Metadata-Version: 2.1\nName: demo-package\nVersion: 1.0\n",
               "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n",
               "ballast": random.Random(1).randbytes(1 << 20)}
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, text in members.items():
            data = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(f"demo_package-1.0/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


CONTENT = make_sdist()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
WRONG = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        index = self.server.index
        path = urllib.parse.urlparse(self.path).path
        index.requests.append((path, self.headers.get("Range"), self.headers.get("Authorization")))
        if index.authorization and self.headers.get("Authorization") != index.authorization:
            self.answer(401, b"", {"WWW-Authenticate": 'Basic realm="index"'})
        elif path == "/simple/demo-package/" and index.page:
            self.answer(200, index.page, {"Content-Type": "application/vnd.pypi.simple.v1+json"})
        elif path == "/simple/demo-package/":
            self.page(index)
        elif path == f"/inside/{FILE}":
            self.answer(302, b"", {"Location": "file:///etc/passwd"})
        elif path == f"/circle/{FILE}":
            self.answer(302, b"", {"Location": path})
        elif path == f"/moved/{FILE}":
            self.answer(302, b"", {"Location": f"/files/{FILE}?token=query-secret"})
        elif path.startswith("/files/"):
            self.file(index)
        else:
            self.answer(404, b"")

    def page(self, index):
        # Without a hash: fetch must not depend on what the page claims.
        if index.json:
            body = json.dumps({"meta": {"api-version": "1.0"}, "name": "demo-package",
                               "files": [{"filename": FILE, "url": index.link, "hashes": {}, "requires-python": ">=9"}]})
            self.answer(200, body.encode(), {"Content-Type": "application/vnd.pypi.simple.v1+json"})
        else:
            body = f'<!DOCTYPE html><html><body><a href="{index.link}">{FILE}</a></body></html>'
            self.answer(200, body.encode(), {"Content-Type": "text/html"})

    def file(self, index):
        body, status, headers = index.content, 200, dict(index.headers)
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if match and index.ranges == "right":
            status, start = 206, int(match[1])
            headers = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}
            body = body[start:]
        elif match and index.ranges == "misplaced":
            status, headers = 206, {"Content-Range": f"bytes 0-{len(body) - 1}/{len(body)}"}
        elif match and index.ranges == "416":
            return self.answer(416, b"")
        if index.statuses:
            return self.answer(index.statuses.pop(0), b"", headers)
        cut = index.cuts.pop(0) if index.cuts else None
        self.answer(status, body, headers, cut, index.delay)

    def answer(self, status, body, headers=(), cut=None, delay=0):
        self.send_response(status, self.server.index.reason)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if self.server.index.lengths:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body[:500_000][:cut])
            time.sleep(delay)
            self.wfile.write(body[500_000:cut])
        if cut is not None:
            self.close_connection = True
        if status == 200 and body is self.server.index.content or status == 206:
            self.server.index.sent.append(len(body[:cut]))

    def log_message(self, *_):
        pass


class Index:
    """A package index; its fields say how it behaves."""

    def __init__(self):
        self.content, self.json, self.lengths, self.ranges, self.delay = CONTENT, False, True, "right", 0
        self.cuts, self.statuses, self.authorization = [], [], None
        self.headers, self.reason, self.page = {}, None, b""
        self.link = f"/files/{FILE}"
        self.requests, self.sent = [], []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.index = self
        self.server.handle_error = lambda *_: None  # clients that hang up are part of the tests
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"http://{self.address}/simple"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def ranges_asked(self):
        return [r[1] for r in self.requests if r[0].startswith("/files/")]
