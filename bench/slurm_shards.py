#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of a run in 1, 2 and 4 shards on a real Slurm / the time that its answers take, divided by the shards.

usage: bench/slurm_shards.py UPSKILL [CELLS [SECONDS]]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/slurm"))
import one_machine


def measure(upskill, folder, shards, cells, seconds):
    """Each answer takes so many seconds, and one is asked for at a time, so that the work is known."""
    started = time.monotonic()
    subprocess.run([upskill, "eval", "adding", "-m", f"sim:base=0,skill=1,latency-ms={int(seconds * 1000)},seed={shards}",
                    "-j", "1", "--no-ledger", "-q", "--on", "slurm", "--shards", str(shards)],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = time.monotonic() - started
    ideal = cells * seconds / shards
    print(f"{shards} shards: {took:.1f} s, ideal {ideal:.1f} s, ratio {took / ideal:.2f}", flush=True)


def main():
    reason = one_machine.missing()
    if reason:
        print(f"SKIPPED: slurm_shards: {reason}")
        return
    upskill = os.path.abspath(sys.argv[1])
    cells = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.5
    with tempfile.TemporaryDirectory(prefix="upskill-slurm-") as held:
        skill = pathlib.Path(held) / "adding"
        skill.mkdir()
        (skill / "SKILL.md").write_text("---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n")
        (skill / "tests.json").write_text(json.dumps(
            [{"id": f"c{i}", "input": f"{i} and {i}", "expected": {"contains": "number"}} for i in range(cells // 2)]))
        (pathlib.Path(held) / "cluster").mkdir()
        cluster = one_machine.Cluster(pathlib.Path(held) / "cluster")
        try:
            for shards in (1, 2, 4):
                measure(upskill, held, shards, cells, seconds)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
