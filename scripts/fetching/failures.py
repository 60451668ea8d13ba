# SPDX-License-Identifier: Apache-2.0
"""The ways a download can fail, and what a network error says."""
import re


class Failed(Exception):
    """The file can't be downloaded; the text says why and what to do."""


class Unreachable(Exception):
    """This link failed for now (network, server); another link or a later run may succeed."""


class Hopeless(Unreachable):
    """This link would fail the same way each time: it isn't retried."""


class WrongContent(Exception):
    """This link serves something other than the pinned file."""


class TooSlow(Exception):
    """A server took longer than its total limit, whatever it sent."""


class Stopped(BaseException):
    """A signal asked this program to end."""


def reason(error):
    """The innermost reason of a network error, without Python's object names."""
    text = str(error) or type(error).__name__
    inner = re.search(r"\(Caused by \w+\((.*)\)\)$", text, re.DOTALL)
    text = inner[1] if inner else text
    return re.sub(r"^['\"]?(<[^>]*>: )?|^\w+\(.*\), '|['\"]$", "", text)
