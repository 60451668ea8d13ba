# SPDX-License-Identifier: Apache-2.0
"""What is written to stderr: without secrets, and without control characters."""
import contextlib
import os
import re
import sys
import urllib.parse

SECRETS = set()  # passwords, user names with passwords, and tokens from pip's configuration, in every spelling


def learn_secrets(url):
    """Collects the parts of a URL, with or without a scheme, that must not be shown.

    A password may contain '/', '?' and '@', although it shouldn't; the error for such a URL shows parts of it.
    """
    rest = url.partition("://")[2] if "://" in url else url
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        note_secret(authority.rpartition("@")[0], in_parts=True)
    if "@" in rest and ":" in authority:
        # A number before the first slash is more likely a port, and the '@' part of the path.
        note_secret(rest.rpartition("@")[0], in_parts="@" not in authority and not re.search(r":\d*$", authority))


def note_secret(user_info, in_parts):
    user, colon, password = user_info.partition(":")
    secret = password if colon else user
    texts = {user_info, secret, *(re.split(r"[/?#@:]", secret) if in_parts else ())}
    texts |= {urllib.parse.unquote(text) for text in texts}
    texts |= {urllib.parse.quote(text, safe=safe) for text in list(texts) for safe in ("", ":", "!#$%&'()*+,/:;=?@[]~")}
    SECRETS.update(texts - {"", ":"})


def learn_secrets_of_environment():
    for name, value in os.environ.items():
        if name.upper().startswith("PIP_") or name.lower().endswith("_proxy"):
            for word in value.split():
                learn_secrets(word)


def redact(text):
    """Removes the user names, passwords and query strings of URLs, and escapes control characters."""
    text = str(text)
    for secret in sorted(SECRETS, key=len, reverse=True):
        # A password of a few letters is also part of ordinary words.
        pattern = re.escape(secret) if len(secret) > 3 else rf"(?<!\w){re.escape(secret)}(?!\w)"
        text = re.sub(pattern, "***", text)
    text = re.sub(r"(\w+:)//[^\s'\"]*@", r"\1//***@", text)
    text = re.sub(r"(?<=[\w/.-])\?[^\s'\")>]+", "?***", text)
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def emit(text):
    """Writes to stderr directly, whatever pip or Python do with sys.stderr; a reader that has gone away isn't an error."""
    data = text.encode(getattr(sys.__stderr__, "encoding", None) or "utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(2, data):]
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def megabytes(count):
    return f"{count / 1e6:.1f} MB"
