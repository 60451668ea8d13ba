# SPDX-License-Identifier: Apache-2.0
"""Finds and runs the native program."""
import os
import pathlib
import signal
import subprocess
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Dict, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

PathLike = Union[str, "os.PathLike[str]"]
T = TypeVar("T")

# Exit codes with a result (docs/output.md): success, a gate or threshold failed, incomplete.
_WITH_RESULT = (0, 1, 3)
_MESSAGE_CHARACTERS = 10_000  # of an error
_GRACE_SECONDS = 10.0         # to end after each signal


class UpskillError(Exception):
    """The program had no result.

    exit_code is the program's (2: usage or configuration, 130: interrupted, docs/output.md), negative if a signal ended it, and
    None if it couldn't be started. messages is its standard error, empty with Process(progress=True).
    """

    def __init__(self, message: str, exit_code: Optional[int] = None, messages: str = "", command: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.messages = messages
        self.command = list(command)


class TimedOut(UpskillError, TimeoutError):
    """Process(timeout=…) was reached. The program was stopped; a run keeps the answers that it has."""


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What the program printed (data), its exit code, and its notes and warnings (messages).

    exit_code: 0 success; 1 a gate or threshold failed; 3 incomplete. A run that is incomplete can be resumed.
    """

    data: T
    exit_code: int
    messages: str

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0


@dataclass(frozen=True)
class Process:
    """How the program is run.

    cwd: its working directory, where ./runs and ./upskill.config.yaml are
    env: variables added to this process's environment; None removes one
    timeout: seconds after which it is stopped, and TimedOut raised
    progress: whether its progress and messages go to standard error instead of Outcome.messages
    """

    cwd: Optional[PathLike] = None
    env: Optional[Mapping[str, Optional[str]]] = None
    timeout: Optional[float] = None
    progress: bool = False


DEFAULT_PROCESS = Process()


def program_path() -> str:
    """The program: $UPSKILL_PROGRAM, else the one installed together with this package.

    A program of the same name in PATH isn't used: it may be another one. Raises UpskillError if there is none.
    """
    named = os.environ.get("UPSKILL_PROGRAM")
    if named:
        if not _is_program(pathlib.Path(named)):
            raise UpskillError(f"UPSKILL_PROGRAM names {named}, which isn't a program")
        return os.path.abspath(named)
    for place in _installed_places():
        if _is_program(place):
            return str(place)
    raise UpskillError("the program upskill isn't installed beside this package: install the wheel again, or name the program in "
                       "UPSKILL_PROGRAM")


def _installed_places() -> List[pathlib.Path]:
    package = pathlib.Path(__file__).resolve().parent
    places = []
    try:
        distribution = metadata.distribution("upskill")
        recorded = [pathlib.Path(str(distribution.locate_file(file))) for file in distribution.files or ()]
        # Another distribution of this name may be in another folder of sys.path.
        if any(place.resolve() == package / "__init__.py" for place in recorded if place.name == "__init__.py"):
            places += [place.resolve() for place in recorded if place.parts[-2:] == ("bin", "upskill")]
    except metadata.PackageNotFoundError:
        pass
    # PREFIX/lib/python3.N/site-packages/upskill, and `pip install --target FOLDER`.
    return places + [package.parents[index] / "bin" / "upskill" for index in (3, 0) if len(package.parents) > index]


def _is_program(path: pathlib.Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _environment(changes: Optional[Mapping[str, Optional[str]]]) -> Optional[Dict[str, str]]:
    if changes is None:
        return None
    environment = dict(os.environ)
    for name, value in changes.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


class _Child:
    """The running program. It stays in our process group, so that the terminal's Ctrl-C, Ctrl-Z and hang-up reach it."""

    def __init__(self, command: Sequence[str], process: Process) -> None:
        self.command = command
        self.process = process
        try:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=None if process.progress else subprocess.PIPE, cwd=process.cwd,
                                          env=_environment(process.env))
        except OSError as error:
            raise UpskillError(f"{error.filename or command[0]}: {error.strerror}", command=command) from error
        self.out = b""
        self.error = b""

    def communicate(self, timeout: Optional[float]) -> None:
        out, error = self.child.communicate(timeout=timeout)
        self.out, self.error = out or b"", error or b""

    def wait(self) -> None:
        """Until the program has ended. If we are interrupted, it is stopped first."""
        try:
            self.communicate(self.process.timeout)
        except subprocess.TimeoutExpired:
            self.stop([signal.SIGTERM, signal.SIGTERM, signal.SIGKILL])
            raise TimedOut(f"stopped after {self.process.timeout:g} s\n{_text(self.error)}".rstrip(), self.child.returncode,
                           _text(self.error), self.command) from None
        except BaseException:  # KeyboardInterrupt, or what another signal handler raises
            self.drain()
            raise

    def drain(self) -> None:
        """Has the program finish the requests in flight, and waits for it as long as that takes; again: at once."""
        # The terminal may have sent it Ctrl-C too, and a second one would drop those requests. SIGHUP never does.
        polite = signal.SIGHUP if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else signal.SIGINT
        try:
            self.send(polite)
            self.communicate(None)
        except BaseException:
            self.stop([signal.SIGTERM, signal.SIGTERM, signal.SIGKILL])
            raise

    def stop(self, signals: Sequence[signal.Signals]) -> None:
        for number in signals:
            self.send(number)
            try:
                return self.communicate(None if number == signal.SIGKILL else _GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                continue

    def send(self, number: signal.Signals) -> None:
        if self.child.poll() is None:
            self.child.send_signal(number)


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def failure(code: int, messages: str, command: Sequence[str]) -> UpskillError:
    """The error for a program that ended without a result: what it said from its last "error:" on."""
    lines = messages.rstrip().splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    said = "\n".join(lines[starts[-1]:] if starts else lines)[-_MESSAGE_CHARACTERS:]
    if said.startswith("error: "):
        said = said[len("error: "):]
    if not said:
        said = f"upskill was ended by signal {-code}" if code < 0 else f"upskill ended with exit code {code} and without a result"
    return UpskillError(said, code, messages, command)


def run_program(arguments: Sequence[str], process: Process) -> "Outcome[str]":
    """The program's standard output. Raises UpskillError on an exit code without a result."""
    child = _Child([program_path(), *arguments], process)
    child.wait()
    if child.child.returncode not in _WITH_RESULT:
        raise failure(child.child.returncode, _text(child.error), child.command)
    return Outcome(_text(child.out), child.child.returncode, _text(child.error))


def option(name: str, value: Any) -> List[str]:
    """--name=value, so that a value that starts with a hyphen stays one; nothing for None and False, --name for True."""
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, (str, os.PathLike)):
        return [f"--{name}={os.fspath(value)}"]
    if isinstance(value, (int, float)):
        return [f"--{name}={value}"]
    return [argument for item in value for argument in option(name, item)]


def options(**values: Any) -> List[str]:
    """Options named by keywords: max_cost=2 is --max-cost=2."""
    return [argument for name, value in values.items() for argument in option(name.replace("_", "-"), value)]
