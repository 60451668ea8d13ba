# SPDX-License-Identifier: Apache-2.0
"""Where the time of a model in process goes (bench/run --only student)."""
import contextlib
import http.client
import json
import re
import socket
import subprocess
import time

PARALLEL = 32


def batched_row(tools, model, prompt, answer, *options):
    """The columns of llama-batched-bench for 32 sequences of these lengths."""
    command = [tools / "llama-batched-bench", "-m", model, "-c", str(PARALLEL * (prompt + answer + 32)), "-b", "512", "-ub", "512",
               "-npp", str(prompt), "-ntg", str(answer), "-npl", str(PARALLEL), *options]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    row = [line for line in text.splitlines() if re.match(r"\| +\d+ \|", line)][-1]
    return [cell.strip() for cell in row.strip("|").split("|")]


@contextlib.contextmanager
def server(tools, model, parallel, *options):
    """The port of a llama-server that has loaded the model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([tools / "llama-server", "-m", model, "-np", str(parallel), "--port", str(port), *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not healthy(port):
            assert process.poll() is None, "llama-server ended"
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def healthy(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False


def figures(bench, skill, model):
    """Prints the parts of the wall time; yields the ratio to llama-batched-bench for the same tokens."""
    log, runs = bench.folder / "student.log", bench.folder / "student"
    program, *arguments = bench.eval(skill, runs, "--runs", "2", "--max-tokens", "512", "-m", f"llama:{model}")
    start = time.monotonic()
    out = subprocess.run([program, "--log", log, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
    wall = time.monotonic() - start
    result = json.loads(out)["students"][0]
    parts = [json.loads(table) for table in re.findall(r" engine: (.*)", log.read_text())]
    seconds = 0.0
    for name in sorted({name for table in parts for name in table}):
        part = {key: sum(table.get(name, {}).get(key, 0) for table in parts) for key in ("batches", "tokens", "seconds")}
        seconds += part["seconds"]
        print(f"{part['seconds']:8.2f}  s: {name}, {part['tokens']:,} tokens in {part['batches']:,} batches")
    print(f"{wall - seconds:8.2f}  s: the rest (start, loading, checks, end)")
    ideal = 0.0
    for arm in ("baseline", "with_skill"):
        tokens, answers = result["tokens"][arm], result[arm]["total"]
        ideal += float(batched_row(bench.tools, model, tokens["prompt"] // answers, tokens["output"] // answers, "--no-repack",
                                   *(["-pps"] if arm == "with_skill" else []))[8])
    yield (f"student  {result['model']}: llama-batched-bench without repacking, one run for each arm ({ideal:.1f} s), "
           f"against eval ({wall:.1f} s)", ideal / wall, ">=", 1.5)
    for label, options in (("upstream's kernels", ["--no-repack"]), ("our kernels", [])):
        start = time.monotonic()
        with server(bench.tools, model, PARALLEL, "-c", str(PARALLEL * 1280), *options) as port:
            subprocess.run([program, *bench.eval(skill, bench.folder / label, "--runs", "2", "--max-tokens", "512", "-j", str(PARALLEL), "-m",
                                                 "generic.student", "--base-url", f"http://127.0.0.1:{port}/v1")[1:]],
                           check=True, stdout=subprocess.DEVNULL)
        served = time.monotonic() - start
        yield f"student  llama-server -np {PARALLEL} with {label} ({served:.1f} s) against eval ({wall:.1f} s)", served / wall, ">=", None
