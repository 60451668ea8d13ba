# SPDX-License-Identifier: Apache-2.0
"""A wheel of scripts/make_wheel.py whose program passes everything on to a program that is built already."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PIP_CONFIG_FILE": "/dev/null", "PIP_ROOT_USER_ACTION": "ignore"}


def make_wheel(folder, program):
    """Writes the wheel into folder/dist and returns its path."""
    stage = folder / "stage"
    for file, text in (("bin/upskill", f'#!/bin/sh\nexec {program} "$@"\n'), ("share/doc/upskill/LICENSE", "Apache-2.0\n"),
                       ("share/doc/upskill/upskill.spdx.json", "{}\n"), ("lib/upskill/plugin.so", "plug-in\n")):
        (stage / file).parent.mkdir(parents=True, exist_ok=True)
        (stage / file).write_text(text)
    (stage / "bin/upskill").chmod(0o755)
    (folder / "dist").mkdir()
    subprocess.run([ROOT / "scripts/make_wheel.py", "upskill", "1.2.3", stage, folder / "dist", "--tag", "any"], check=True, env=ENVIRONMENT)
    return folder / "dist/upskill-1.2.3-py3-none-any.whl"
