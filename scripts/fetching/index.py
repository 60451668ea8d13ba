# SPDX-License-Identifier: Apache-2.0
"""The package index as pip sees it, and the links it lists."""
import collections
import contextlib
import io
import logging
import os
import re
import signal
import sys
import urllib.parse
import warnings

from fetching.failures import Failed, Hopeless, TooSlow, Unreachable, WrongContent, reason
from fetching.files import open_regular
from fetching.messages import learn_secrets, megabytes

CHUNK = 1 << 14
MAX_RETRIES = 3  # of a connection that broke without progress; pip's own `retries` can lower it
MAX_TIMEOUT = 60  # seconds without a byte; pip's own `timeout` can lower it
MAX_LINKS = 10  # an index may list the file any number of times
MAX_PAGE_BYTES = 64_000_000
MAX_PAGE_SECONDS = 120  # for all index pages together, and for a server's answer before the file's first byte


@contextlib.contextmanager
def at_most(seconds, what):
    """Limits the total time; a timeout is between two bytes, and a server that sends one now and then never reaches it."""
    def expired(*_):
        raise TooSlow(f"{what} took longer than {seconds} s")

    previous = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


class Complaints(logging.Handler):
    """What pip logs about pages and connections that failed; pip itself would continue silently."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        text = record.getMessage().split("\n")[0]
        page = re.match(r"Could not fetch URL (\S+): (?:connection error: )?(.*?)(?: - skipping)?$", text)
        if page:
            text = f"{page[1]}: {reason(page[2])}"
        elif record.levelno < logging.WARNING or text.startswith("Retrying"):
            return
        if text not in self.lines:
            self.lines.append(text)


class Index:
    """The package index as pip sees it. All use of pip's internals is in this class."""

    def __init__(self):
        try:
            import pip
        except ImportError:
            raise Failed(f"{sys.executable} has no pip, which is needed to find the package index (Debian: apt-get install python3-pip; uv: uv tool install --with pip …)")
        self.complaints = Complaints()
        logger = logging.getLogger("pip")
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        logger.addHandler(self.complaints)
        warnings.simplefilter("ignore")  # they would be printed unredacted
        said = io.StringIO()  # pip quotes the faulty line of a configuration file, which may contain a password
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                self.configure()
        except (ImportError, AttributeError, TypeError) as error:
            raise Failed(f"pip {pip.__version__} is organized in a way this program doesn't know ({error})")
        except SystemExit:
            raise Failed(rejected_configuration(said.getvalue()))
        except Failed:
            raise
        except Exception as error:  # a configuration that pip rejects
            raise Failed(f"pip rejects its configuration ({type(error).__name__}: {error}); `pip config list` shows it")

    def configure(self):
        from pip._internal.commands.download import DownloadCommand
        from pip._internal.exceptions import PipError
        from pip._vendor import requests, urllib3
        failures = requests.exceptions
        self.requests, self.urllib3 = requests, urllib3
        self.pip_error = PipError
        self.broken = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, EOFError, ValueError, TooSlow)
        self.hopeless = (failures.InvalidURL, failures.InvalidSchema, failures.MissingSchema, failures.TooManyRedirects,
                         failures.InvalidHeader, urllib3.exceptions.LocationValueError, ValueError)
        self.command = DownloadCommand("download", "")
        self.context = self.command.main_context()
        self.context.__enter__()
        # The formats that pip.conf allows for installing don't matter: nothing is installed.
        self.options, _ = self.command.parse_args(
            ["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--no-binary", ":none:",
             "--only-binary", ":none:"])
        self.learn_secrets()
        self.retries = max(0, min(int(self.options.retries), MAX_RETRIES))
        self.options.retries = 0
        if not 0 <= self.options.timeout < float("inf"):
            raise Failed(f"pip's timeout is {self.options.timeout:g}; set PIP_DEFAULT_TIMEOUT (or timeout in pip.conf) to "
                         "a number of seconds above 0")
        self.options.timeout = min(self.options.timeout or MAX_TIMEOUT, MAX_TIMEOUT)
        self.session = self.command.get_default_session(self.options)
        self.limit_session()

    def learn_secrets(self):
        options = self.options
        for url in (options.index_url, options.proxy, *options.extra_index_urls, *options.find_links):
            learn_secrets(url or "")

    def limit_session(self):
        """Limits the size of pages, and keeps servers from redirecting to this machine's files."""
        for adapter in self.session.adapters.values():
            adapter.send = self.with_limited_content(adapter.send)
        follow = self.session.get_redirect_target

        def checked(response):
            target = follow(response)
            scheme = urllib.parse.urlsplit(urllib.parse.urljoin(response.url, target or "")).scheme
            if target and scheme not in ("http", "https"):
                raise self.requests.exceptions.InvalidSchema(f"rejected: the server redirects to a {scheme}: address")
            return target

        self.session.get_redirect_target = checked

    def with_limited_content(self, send):
        def limited(*arguments, **settings):
            response = send(*arguments, **settings)
            response.iter_content = self.limit(response.iter_content)
            return response

        return limited

    def limit(self, pieces):
        """For pages and the bodies of redirects; the file itself isn't read this way."""
        def limited(*arguments, **settings):
            read = 0
            for piece in pieces(*arguments, **settings):
                read += len(piece)
                if read > MAX_PAGE_BYTES:
                    raise self.requests.ConnectionError(f"the page is larger than {megabytes(MAX_PAGE_BYTES)}")
                yield piece

        return limited

    def set_retries(self, count):
        """Sets pip's own retries, which would multiply with this program's, and would obey a Retry-After of a day."""
        retry = self.urllib3.Retry(total=count, backoff_factor=0.25, respect_retry_after_header=False,
                                   status_forcelist=(500, 502, 503, 504) if count else ())
        for adapter in self.session.adapters.values():
            adapter.max_retries = retry

    def finder(self, file):
        """Finds files of this kind: those of another Python or processor too, because nothing is installed."""
        from pip._internal.models.target_python import TargetPython
        target = None
        if tags := re.fullmatch(r".+-(cp)(\d)(\d+)-(\w+)-([\w.]+)\.whl", file):
            implementation, major, minor, abi, platforms = tags.groups()
            target = TargetPython(platforms=platforms.split("."), py_version_info=(int(major), int(minor)), abis=[abi],
                                  implementation=implementation)
        return self.command._build_package_finder(self.options, self.session, target_python=target,
                                                  ignore_requires_python=True)

    def links(self, package, file, sha256):
        """The links to this file, the most promising first."""
        self.set_retries(self.retries)
        try:
            with at_most(MAX_PAGE_SECONDS, "reading the index pages"):
                candidates = self.finder(file).find_all_candidates(package)
        except Exception as error:
            page = page_being_read(error)
            if page and not isinstance(error, TooSlow):
                raise Failed(f"the package index sent a page that can't be parsed, {page} "
                             f"({type(error).__name__}: {error})")
            if isinstance(error, (self.pip_error, *self.broken)):
                raise Failed(f"the package index failed: {reason(error)}")
            if isinstance(error, (AttributeError, TypeError)):
                raise Failed(f"pip is organized in a way this program doesn't know ({error})")
            raise
        self.set_retries(0)
        links = {c.link.url_without_fragment: c.link for c in candidates
                 if c.link.filename == file and not self.leads_inside(c.link)}
        ordered = sorted(links.values(), key=lambda link: (self.listed(link) not in (None, sha256), not link.is_file))
        return ordered[:MAX_LINKS]

    @staticmethod
    def leads_inside(link):
        """Whether a page from the network refers to a file on this machine."""
        return link.is_file and str(getattr(link.comes_from, "url", link.comes_from)).startswith(("http:", "https:"))

    def listed(self, link):
        """The SHA-256 that the index gives for this link, or None."""
        return link.hash if getattr(link, "hash_name", None) == "sha256" else None

    def open(self, link, start, size):
        """The bytes of the link from `start`, or from 0 when the server can't resume."""
        if link.is_file:
            return Body(start, self.read_file(link.file_path, start), "")
        with at_most(MAX_PAGE_SECONDS, "waiting for the server's answer"):
            return self.ask(link.url_without_fragment, start, size)

    def ask(self, url, start, size):
        response = self.get(url, start)
        status = response.status_code
        if start and (status == 416 or status == 206 and not self.range_fits(response, start, size)):
            response.close()
            start, response = 0, self.get(url, 0)
            status = response.status_code
        if status == 200:
            start = 0
        elif status != 206 or not start:
            response.close()
            passing = status in (408, 425, 429) or status >= 500
            raise (Unreachable if passing else Hopeless)(f"HTTP status {status} {response.reason or ''}".rstrip())
        encoding = response.headers.get("Content-Encoding", "identity")
        # Some servers call a .tar.gz a gzip-encoded tar: the SHA-256 decides, this note only explains a mismatch.
        note = "" if encoding == "identity" else f" (the server sent it compressed, {encoding}, although asked not to)"
        length = response.headers.get("Content-Length", "")
        if re.fullmatch("[0-9]{1,18}", length):
            if start + int(length) != size:
                response.close()
                raise WrongContent(f"{start + int(length):,} bytes instead of {size:,}{note}")
            note = ""
        # Undecoded, as pip downloads files.
        return Body(start, response.raw.stream(CHUNK, decode_content=False), note)

    def get(self, url, start):
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
        return self.session.get(url, stream=True, headers=headers)

    @staticmethod
    def range_fits(response, start, size):
        match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", response.headers.get("Content-Range", ""))
        return bool(match) and int(match[1]) == start and match[3] in ("*", str(size))

    @staticmethod
    def read_file(path, start):
        with open(open_regular(path, os.O_RDONLY), "rb") as source:
            source.seek(start)
            while chunk := source.read(CHUNK):
                yield chunk


Body = collections.namedtuple("Body", "first chunks note")  # note: why the content may be wrong, or ""


def page_being_read(error):
    """The address of the index page that pip failed to parse, or None."""
    step, address = error.__traceback__, None
    while step:
        page = step.tb_frame.f_locals.get("page")
        if step.tb_frame.f_code.co_name == "parse_links" and page is not None:
            address = getattr(page, "url", "of unknown address")
        step = step.tb_next
    return address


def rejected_configuration(said):
    """What pip said about its configuration, without the lines and values that it quotes."""
    option = re.search(r"option (--[\w-]+)|for ([\w-]+) option", said)
    if option:
        return f"pip rejects the value of its option {option[1] or option[2]}; correct it in pip.conf or the PIP_* variables"
    path = next((path for path in re.findall(r"(/[^'\"\n]*?)(?=['\"\n]|\.?$| \[line)", said) if os.path.isfile(path)), None)
    line = re.search(r"\bline:?\s+(\d+)", said)
    where = f" {path}" + (f", line {line[1]}" if line else "") if path else ""
    return (f"pip rejects its configuration{where or ' (pip.conf or PIP_* variables)'}; correct it "
            "(pip config debug lists the files)")


def origin(link):
    return "this machine" if link.is_file else re.sub(r"^\w+://([^/@]*@)?([^/]*).*", r"\2", link.url)
