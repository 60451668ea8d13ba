# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium driven by the DevTools protocol over a pipe (no port, only the Python standard library)."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    raise SystemExit("error: no Chromium found for the test of the HTML report; scripts/setup --check installs it (Debian package chromium)")


class Browser:
    """One browser with one page. Records what the page logs and every URL it requests."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="upskill-browser-")
        to_child, self.write_fd = os.pipe()
        self.read_fd, from_child = os.pipe()
        child_in, child_out = (fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_child, from_child))

        def place_pipes():  # Chromium reads commands from 3 and writes to 4
            os.dup2(child_in, 3)
            os.dup2(child_out, 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
             f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4), preexec_fn=place_pipes,
            env={**os.environ, "HOME": self.profile})
        for fd in (to_child, from_child, child_in, child_out):
            os.close(fd)
        self.buffer = b""
        self.next_id = 1
        self.session = None
        self.loaded = False
        self.complaints = []  # console errors and warnings, exceptions, the browser's log
        self.requests = []    # every requested URL
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for fd in (self.read_fd, self.write_fd):
            os.close(fd)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, timeout=60, **params):
        number = self.next_id
        self.next_id += 1
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        deadline = time.monotonic() + timeout
        while True:
            answer = self._receive(deadline)
            if answer is None:
                raise RuntimeError(f"no answer to {method} within {timeout} s")
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return None
            data = os.read(self.read_fd, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended unexpectedly")
            self.buffer += data
        raw, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(raw)
        self._note(message)
        return message

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append("exception: " + str(details.get("exception", {}).get("description", details.get("text"))))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console {params['type']}: {params['args']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, path, timeout=60):
        """Opens a file; returns the seconds until the page has loaded and responds."""
        self.loaded = False
        self.complaints.clear()
        self.requests.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=f"file://{path}", timeout=timeout)
        while not self.loaded:
            if self._receive(start + timeout) is None:
                raise RuntimeError(f"{path} did not load within {timeout} s")
        self.run("1")
        return time.monotonic() - start

    def run(self, expression, timeout=60):
        """Returns the value of a JavaScript expression, awaiting promises."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, timeout=timeout)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait(self, expression, timeout=20):
        """Waits until the expression is true in the page, checking every 20 ms."""
        found = self.run(
            f"new Promise((resolve) => {{ const end = performance.now() + {timeout * 1000};"
            f" const look = () => {{ if ({expression}) resolve(true); else if (performance.now() > end) resolve(false); else setTimeout(look, 20); }}; look(); }})",
            timeout=timeout + 30)
        if not found:
            raise AssertionError(f"never became true: {expression}")

    def key(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "Tab": 9}
        code = {"windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        text = text if text is not None else {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **code, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """Clicks in the middle of the first element that matches, with real mouse events."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center', behavior: 'instant'}});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=False)["data"]))
