# SPDX-License-Identifier: Apache-2.0
"""A toolchain for `upskill kernel check --toolchain` whose nvcc has NVRTC compile the device code (nvrtc_cicc.py)."""

import json
import os
import pathlib
import re
import shutil
import site
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def find_nvrtc(given=None):
    """The folder with libnvrtc: the given one, that of the package nvidia-cuda-nvrtc, or nvcc's; or None."""
    folders = [pathlib.Path(given)] if given else []
    for packages in [*site.getsitepackages(), site.getusersitepackages()]:
        folders += pathlib.Path(packages).glob("nvidia/*/lib")
    folders.append(pathlib.Path(nvcc_variables()["TOP"]) / "lib")
    return next((folder for folder in folders if any(folder.glob("libnvrtc.so.*"))), None)


def nvcc_variables():
    """What nvcc says of itself: TOP, CICC_PATH, INCLUDES …"""
    said = subprocess.run(["nvcc", "--dryrun", "-x", "cu", "-c", os.devnull, "-o", os.devnull], capture_output=True,
                          text=True, check=False).stderr
    return dict(re.findall(r"^#\$ (\w+)= *(.*)$", said, re.M))


def make_toolchain(folder, nvrtc):
    """Fills the folder, which anybody must be able to read, and returns it."""
    variables = nvcc_variables()
    here = pathlib.Path(variables["_HERE_"]).resolve()
    top = pathlib.Path(variables["TOP"]).resolve()
    binaries = folder / "bin"
    compiler = folder / "cicc"
    libraries = folder / "lib"
    for each in (binaries, compiler, libraries):
        each.mkdir()
    shutil.copy(here / "nvcc", binaries / "nvcc")  # a link would look beside its target
    for tool in here.iterdir():
        if tool.name not in ("nvcc", "nvcc.profile"):
            (binaries / tool.name).symlink_to(tool)
    profile = (here / "nvcc.profile").read_text()
    profile = re.sub(r"(?m)^TOP\s*=.*$", lambda _: f"TOP = {top}", profile)
    profile = re.sub(r"(?m)^CICC_PATH\s*=.*$", lambda _: f"CICC_PATH = {compiler}", profile)
    (binaries / "nvcc.profile").write_text(profile)
    for library in nvrtc.glob("libnvrtc*.so.*"):
        if ".alt." not in library.name:
            shutil.copy(library, libraries / library.name)
    shutil.copy(HERE / "nvrtc_cicc.py", compiler / "cicc")
    (compiler / "cicc").chmod(0o755)
    include = re.findall(r'"(?:-I)?([^"]+)"', variables["INCLUDES"] + variables.get("SYSTEM_INCLUDES", ""))
    include = [str(pathlib.Path(each).resolve()) for each in include if each != "-isystem"]
    settings = {"cicc": str(pathlib.Path(variables["CICC_PATH"]).resolve() / "cicc"), "nvrtc": str(libraries),
                "include": include}
    (compiler / "settings.json").write_text(json.dumps(settings))
    for each in (folder, binaries, compiler, libraries):
        each.chmod(0o755)
    return folder


if __name__ == "__main__":
    sys.exit("This is a part of run_kernels.py.")
