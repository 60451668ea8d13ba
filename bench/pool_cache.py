#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a pool of three llama-servers, of which one is stopped half of the time and one is killed after a third of the
answers:
the seconds of the run, and the share of the prompts' tokens that came from the servers' caches.

usage: pool_cache.py LLAMA_SERVER MODEL.gguf SKILL UPSKILL… [--calm]    each UPSKILL is measured with servers of its own
--calm: nothing is stopped or killed
"""
import contextlib
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

RUNS, SLOTS = 4, 4


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def server(program, model, folder):
    port = free_port()
    with open(os.path.join(folder, f"{port}.log"), "wb") as log:
        process = subprocess.Popen([program, "-m", model, "--host", "127.0.0.1", "--port", str(port), "--jinja", "-t", "1",
                                    "-np", str(SLOTS),
                                    "-c", "8192"], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"pool_cache: {program} did not start")
                time.sleep(0.2)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def samples(folder):
    found = []
    for journal in glob.glob(f"{folder}/runs/*/samples.jsonl"):
        with open(journal, encoding="utf-8") as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    found.append(json.loads(line))
    return found


def disturb(slow, killed, folder, total, over):
    alive = True
    while not over.wait(0.2):
        slow.send_signal(signal.SIGSTOP)
        if over.wait(0.2):
            break
        slow.send_signal(signal.SIGCONT)
        if alive and len(samples(folder)) >= total / 3:
            killed.kill()
            alive = False


def measure(upskill, llama_server, model, skill, calm):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        servers = [stack.enter_context(server(llama_server, model, folder)) for _ in range(3)]
        over = threading.Event()
        with open(os.path.join(skill, "skill_meta.json"), encoding="utf-8") as meta:
            total = 2 * RUNS * len(json.load(meta)["tests"])
        thread = threading.Thread(target=disturb, args=(servers[0][0], servers[1][0], folder, total, over))
        if not calm:
            thread.start()
        words = [upskill, "eval", skill, "-m", "pool", "--runs", str(RUNS), "-j", str(3 * SLOTS), "--max-tokens",
                 "16", "--no-cache",
                 "--no-ledger", "--quiet", "--runs-dir", f"{folder}/runs"]
        for _, url in servers:
            words += ["--base-url", url]
        config = os.path.join(folder, "config.yaml")
        with open(config, "w", encoding="utf-8"):
            pass  # the user's own settings don't count
        start = time.monotonic()
        environment = {**os.environ, "UPSKILL_CONFIG": config}
        code = subprocess.run(words, stdout=subprocess.DEVNULL, env=environment, check=False).returncode
        seconds = time.monotonic() - start
        over.set()
        if not calm:
            thread.join()
        usage = [sample["usage"] for sample in samples(folder) if "usage" in sample and not sample.get("error")]
        cached = sum(one.get("cache_read", 0) for one in usage)
        prompt = cached + sum(one.get("input", 0) for one in usage)
        print(f"{upskill}: exit code {code}, {len(usage)} of {total} answers, {seconds:.0f} s, "
              f"{cached / max(prompt, 1):.2f} of {prompt} prompt "
              "tokens from caches", flush=True)


def main(arguments):
    calm = "--calm" in arguments
    arguments = [argument for argument in arguments if argument != "--calm"]
    if len(arguments) < 4:
        sys.exit(__doc__)
    for upskill in arguments[3:]:
        measure(upskill, *arguments[:3], calm)


if __name__ == "__main__":
    main(sys.argv[1:])
