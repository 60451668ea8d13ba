# SPDX-License-Identifier: Apache-2.0
"""Opens regular files only; computes their SHA-256."""
import contextlib
import hashlib
import os
import stat

from fetching.failures import Failed


def kind_of(mode):
    names = {stat.S_ISDIR: "a folder", stat.S_ISLNK: "a symbolic link", stat.S_ISFIFO: "a FIFO", stat.S_ISSOCK: "a socket"}
    return next((name for test, name in names.items() if test(mode)), "a device")


def open_regular(path, flags, look=os.stat):
    """Like os.open, but for regular files only: anything else could block, or write somewhere else."""
    advice = f"; remove {path} (or give another folder)"
    try:
        with contextlib.suppress(FileNotFoundError):
            mode = look(path).st_mode
            if not stat.S_ISREG(mode):
                raise Failed(f"{path} is {kind_of(mode)}, not a regular file{advice}")
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Failed(f"can't open {path} ({error.strerror}){advice}")
    found = os.fstat(descriptor)
    # Writing to a hard link would change its other name too, as with a symbolic link.
    if stat.S_ISREG(found.st_mode) and not (found.st_nlink > 1 and flags & os.O_RDWR):
        return descriptor
    os.close(descriptor)
    is_what = "has a second name (hard link)" if stat.S_ISREG(found.st_mode) else f"is {kind_of(found.st_mode)}"
    raise Failed(f"{path} {is_what}{advice}")


def sha256_of(file):
    digest = hashlib.sha256()
    file.seek(0)
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest


def sha256_of_path(path):
    """None when there is no such file."""
    try:
        with open(open_regular(path, os.O_RDONLY), "rb") as file:
            return sha256_of(file).hexdigest()
    except FileNotFoundError:
        return None


def make_folder(folder):
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Failed(f"can't create the folder {folder} ({error.strerror}); correct that, or give another one")
