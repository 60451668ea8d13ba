#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The links of the documents: files and headings that they name exist. Of links to other sites, only the form is checked."""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*(<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]^][^\]]*\]:\s*(\S+)", re.M)
ATTRIBUTE = re.compile(r"<(?:a|img)\s[^>]*?(?:href|src)=\"([^\"]*)\"")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")


def documents(root):
    """Everything that people read; not the documents of examples, fixtures and prompts."""
    for pattern in ("*.md", "docs/*.md", "bench/*.md", "fuzz/*.md", "tests/*.md", "examples/*.md", "examples/*/*/README.md"):
        yield from sorted(root.glob(pattern))


def without_fences(text):
    """The lines outside of fenced code; the others are empty."""
    fence, lines = None, []
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
            lines.append("")
        elif fence is not None:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip().strip(fence[0]):
                fence = None
            lines.append("")
        else:
            lines.append(line)
    return "\n".join(lines)


def anchors(text):
    """The anchors of a document's headings, as GitHub makes them."""
    found = set()
    for line in without_fences(text).splitlines():
        heading = HEADING.match(line)
        if not heading:
            continue
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number, unique = 0, slug
        while unique in found:
            number += 1
            unique = f"{slug}-{number}"
        found.add(unique)
    return found | set(re.findall(r"<a\s[^>]*?(?:id|name)=\"([^\"]+)\"", text))


def links(text):
    """(line number, target) of each link."""
    # Code keeps its length and its lines.
    text = CODE.sub(lambda code: re.sub(r"[^\n]", "x", code[0]), without_fences(text))
    for pattern in (LINK, DEFINITION, ATTRIBUTE):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[1].strip("<>")


def problem(root, document, target):
    """What is wrong with a link, or None."""
    parts = urllib.parse.urlsplit(target)
    if parts.scheme in ("http", "https"):
        return None if re.fullmatch(r"[A-Za-z0-9.-]+\.[A-Za-z]{2,}(:\d+)?", parts.netloc) and parts.scheme == "https" else "isn't an https address"
    if parts.scheme == "mailto":
        return None if "@" in parts.path else "isn't an address"
    if parts.scheme or parts.netloc:
        return "has an unknown scheme"
    if not target or target.startswith("/"):
        return "isn't relative"
    file = (document.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else document
    if not file.is_relative_to(root):
        return "leaves the project"
    if not file.exists():
        return "names a file that doesn't exist"
    if parts.fragment and file.suffix == ".md":
        if urllib.parse.unquote(parts.fragment) not in anchors(file.read_text(encoding="utf-8")):
            return f"names a heading that {file.relative_to(root)} doesn't have"
    return None


def problems(root):
    for document in documents(root):
        for line, target in links(document.read_text(encoding="utf-8")):
            if wrong := problem(root, document, target):
                yield f"{document.relative_to(root)}:{line}: the link {target} {wrong}"


class Links(unittest.TestCase):
    def test_of_the_project(self):
        self.assertEqual(list(problems(ROOT)), [])
        counted = sum(1 for document in documents(ROOT) for _ in links(document.read_text(encoding="utf-8")))
        self.assertGreater(counted, 100)

    def problems_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "docs").mkdir()
            (root / "docs/there.md").write_text("# One `--two`\n\n## A (b), c & d\n\n## Same\n\n## Same\n\n```\n# no heading\n```\n")
            (root / "docs/page.md").write_text(text)
            return list(problems(root))

    def test_good_links(self):
        self.assertEqual(self.problems_of(
            "# Top\n[a](there.md) [b](../docs/there.md#one---two) [c](there.md#a-b-c--d) [d](there.md#same-1) [e](#top) [f](../docs)\n"
            "`[code](nowhere.md)` [x](https://example.org/a_(b)#c) <a href=\"there.md\">y</a> [`v[0]`](there.md \"title\")\n"
            "```\n[fenced](nowhere.md)\n```\n[reference]: there.md#same\n"), [])

    def test_bad_links(self):
        for text, words in (("[a](nowhere.md)", "doesn't exist"), ("[a](there.md#same-2)", "names a heading that docs/there.md doesn't have"),
                            ("[a](there.md#no-heading)", "names a heading"), ("[a](#same)", "names a heading that docs/page.md"),
                            ("[a\nb](There.md)", "doesn't exist"), ("![image](there.png)", "doesn't exist"), ("[r]: gone.md", "doesn't exist"),
                            ("<a href=\"gone.md\">y</a>", "doesn't exist"), ("[a](/docs/there.md)", "isn't relative"), ("[a]()", "isn't relative"),
                            ("[a](../../other)", "leaves the project"), ("[a](http://example.org)", "isn't an https address"),
                            ("[a](https://localhost)", "isn't an https address"), ("[a](javascript:x)", "unknown scheme"),
                            ("````\n```\n````\n[a](gone.md)", "page.md:4: the link gone.md")):
            with self.subTest(text):
                found = self.problems_of(text)
                self.assertEqual(len(found), 1)
                self.assertIn(words, found[0])


class Site(unittest.TestCase):
    def test_every_page_is_in_the_navigation(self):
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader("site_builder", str(ROOT / "scripts/site"))
        site = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(site)
        listed = list(site.pages(site.navigation()))
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual([page for page in listed if not (ROOT / page).is_file()], [])
        self.assertEqual({f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")} - set(listed), set())


if __name__ == "__main__":
    unittest.main()
