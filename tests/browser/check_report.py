#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens HTML reports in a headless Chromium and checks that hostile text stays text, that filters, search and keys work,
that nothing is requested from the network, and that 100,000 answers open fast.

usage: check_report.py MAKE_REPORTS UPSKILL   (the program that writes the test reports, and the shipped one)
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

from browser import Browser, find_chromium

MAX_GENERATION_SECONDS = 3.0
MAX_OPENING_SECONDS = 20.0  # usually a few; allows for a busy machine


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_equal(value, wanted, what):
    expect(value == wanted, f"{what}: {value!r} instead of {wanted!r}")


def expect_quiet(browser, path):
    expect_equal(browser.complaints, [], "messages on the console")
    foreign = [url for url in browser.requests if url != f"file://{path}" and not url.startswith("data:")]
    expect_equal(foreign, [], "the page made network requests")


def count(browser):
    return browser.run("document.querySelector('#count').textContent")


def search(browser, text, wanted):
    browser.key("/")
    browser.run("document.querySelector('#search').select()")
    browser.type(text)
    browser.wait(f"document.querySelector('#count').textContent.startsWith({json.dumps(wanted)})")


def check_hostile(browser, path):
    browser.size(1200, 900)
    browser.open(path)
    expect(browser.run("window.attacked === undefined"), "model text was executed")
    expect_equal(browser.run("document.querySelectorAll('img').length"), 0, "images in the page")
    expect_equal(browser.run("document.querySelectorAll('script:not([type])').length"), 1, "scripts in the page")
    expect_equal(browser.run("document.querySelectorAll('#items > li').length"), 10, "listed cases")
    expect_equal(browser.run("document.querySelectorAll('.card').length"), 2, "verdict cards")
    expect(browser.run("document.querySelector('h1').textContent.includes('<img src=x onerror=')"), "the skill's name is not shown as text")
    expect(browser.run("[...document.querySelectorAll('.card h3 bdi')].every((e) => getComputedStyle(e).unicodeBidi === 'isolate')"), "a name is not isolated")

    browser.click("#items > li:nth-child(1) summary")
    browser.wait("document.querySelector('#items details').open && document.querySelector('#items .arms .sample pre')")
    expect_equal(browser.run("document.querySelectorAll('#items .sample').length"), 2, "answers side by side")
    left = browser.run("[...document.querySelectorAll('#items .sample')].map((e) => e.getBoundingClientRect().x)")
    expect(left[0] < left[1], "the arms are not side by side")
    expect_equal(browser.run("document.querySelectorAll('#items .sample.failed .checks .missed').length"), 1, "marked failed checks")
    text = browser.run("document.querySelector('#items .sample pre').textContent")
    expect(text.startswith("</script><script>window.attacked=1</script><img"), f"the answer is not shown verbatim: {text[:80]}")
    expect("\\x1b[31m" in text and "[U+2028]" in text and "{{data}}" in text, f"control characters are not visible: {text}")

    search(browser, "before", "4 of 20")
    browser.key("Escape")
    browser.wait("document.querySelector('#count').textContent === '20 answers'")
    browser.run("document.querySelectorAll('#items summary').forEach((e) => e.click())")
    browser.wait("document.querySelectorAll('#items .sample').length === 20")
    shown = browser.run("document.querySelector('main').innerText")
    expect("before\\x00after" in shown, "NUL is not visible")
    expect("[U+202E] lanimret" in shown, "an override is not visible")
    for hidden in ("\x00", "\x1b", "\u202e", "\u2028"):
        expect(hidden not in shown, f"{hidden!r} is in the page")
    expect(browser.run("[...document.querySelectorAll('pre')].every((e) => e.dir === 'auto')"), "an answer has no text direction of its own")
    expect(browser.run("window.attacked === undefined"), "model text was executed later")
    expect_quiet(browser, path)


def check_large_answer(browser, path):
    browser.open(path)
    search(browser, "end-of-big", "4 of 20")
    browser.click("#items > li:nth-child(1) summary")
    browser.wait("document.querySelector('#items .sample pre')")
    expect(browser.run("document.querySelector('#items .sample pre').textContent.length") < 200000, "a large answer was added to the page at once")
    before = browser.run("document.querySelector('#items .sample pre').textContent.length")
    browser.click("#items .sample button")
    browser.wait(f"document.querySelector('#items .sample pre').textContent.length >= {before} + 90000")
    expect_quiet(browser, path)


def check_filters_and_keys(browser, path):
    browser.size(1200, 900)
    browser.open(path)
    total = count(browser)
    expect_equal(total, "600 cells", "cells of the newest run")

    def choose(select, value):
        browser.run(f"(() => {{ const e = document.querySelector('#{select}'); e.value = '{value}'; e.dispatchEvent(new Event('change')); }})()")

    def number():
        return int(count(browser).split()[0])

    choose("outcome", "failed")
    failed = number()
    choose("arm", "1")
    failed_with_skill = number()
    expect(0 < failed_with_skill < failed < 600, f"filters: {failed}, {failed_with_skill}")
    choose("student", "0")
    choose("case", "0")
    expect(number() <= 5, "more than the five rounds of one case of one model")
    browser.click("#clear")
    browser.wait(f"document.querySelector('#count').textContent === '{total}'")
    choose("outcome", "fixed")
    fixed = number()
    expect(0 < fixed < 600 and fixed % 2 == 0, f"fixed by the skill, which come in pairs: {fixed}")
    browser.run("document.activeElement.blur()")
    browser.key("Escape")
    browser.wait(f"document.querySelector('#count').textContent === '{total}'")

    browser.key("j")
    browser.key("j")
    expect_equal(browser.run("[...document.querySelectorAll('#items summary')].indexOf(document.activeElement)"), 1, "focus after j, j")
    browser.key("k")
    browser.key("Enter")
    browser.wait("document.querySelector('#items details').open")
    expect_equal(browser.run("getComputedStyle(document.activeElement).outlineStyle"), "solid", "outline of the focus")
    browser.key("Escape")
    browser.wait("!document.querySelector('#items details').open")
    browser.key("?")
    browser.wait("document.querySelector('#help').open")
    browser.key("Escape")
    browser.wait("!document.querySelector('#help').open")

    search(browser, "no such words anywhere", "0 of 600")
    browser.key("Escape")
    browser.wait(f"document.querySelector('#count').textContent === '{total}'")
    browser.click("#map tbody tr:nth-child(2) td:nth-child(3) button")
    browser.wait("document.querySelectorAll('#items > li').length === 1 && document.querySelector('#items details').open")
    expect_equal(browser.run("[document.querySelector('#student').value, document.querySelector('#case').value]"), ["1", "1"], "filters after a click on a cell of the table")

    browser.run("document.querySelector('#runs-table button').click()")
    browser.wait("document.querySelector('#count').textContent === '360 cells'")
    expect_quiet(browser, path)


def check_looks(browser, path):
    for width in (320, 390, 800, 1400):
        browser.size(width, 900)
        browser.open(path)
        browser.run("document.querySelector('#items summary').click()")
        browser.wait("document.querySelector('#items .sample')")
        expect(browser.run("document.documentElement.scrollWidth") <= width, f"the page is wider than {width} pixels")
        cut = browser.run("[...document.querySelectorAll('#lift-plot text, #scatter text')].filter((e) => { const r = e.getBoundingClientRect();"
                          " return r.left < 0 || r.right > innerWidth; }).map((e) => e.textContent)")
        expect_equal(cut, [], f"plot labels outside the page at {width} pixels")
    colors = []
    for dark in (False, True):
        browser.size(1200, 900, dark=dark)
        browser.open(path)
        colors.append(browser.run("getComputedStyle(document.body).backgroundColor"))
    browser.click("#theme")
    expect_equal(browser.run("getComputedStyle(document.body).backgroundColor"), colors[0], "background after switching from dark to light")
    expect(colors[0] != colors[1], "the dark theme looks like the light one")
    pdf = browser.call("Page.printToPDF", transferMode="ReturnAsBase64")["data"]
    expect(len(pdf) > 20000, "the printed page is almost empty")
    expect_quiet(browser, path)


def check_big(browser, path, made):
    expect_equal(made["samples"], 100000, "samples of big.html")
    if made["optimized"]:
        expect(made["cpu_seconds"] < MAX_GENERATION_SECONDS, f"writing big.html took {made['cpu_seconds']:.1f} s of CPU")
    browser.size(1200, 900)
    seconds = browser.open(path)
    expect(seconds < MAX_OPENING_SECONDS, f"big.html took {seconds:.1f} s to open")
    expect(made["bytes"] < 5_000_000, f"big.html has {made['bytes']} bytes")
    total = count(browser)
    shown = int(total.split()[0].replace(",", ""))
    expect(1000 < shown < 100_000, f"answers of big.html: {total}")
    remarks = browser.run("document.body.innerText")
    expect(f"{shown:,} of 100,000 answers are on this page" in remarks, "the page doesn't say that answers are left out")
    expect(browser.run("document.querySelectorAll('*').length") < 5000, "too many elements in the page at once")
    browser.run("document.querySelector('#more').scrollIntoView()")
    browser.wait("document.querySelectorAll('#items > li').length > 40")
    search(browser, "case-321", f"10 of {shown:,}")
    browser.key("Enter")
    browser.click("#items > li:nth-child(2) summary")
    browser.wait("document.querySelector('#items .sample pre')?.textContent.length > 100")
    expect_quiet(browser, path)
    print(f"big.html: {made['bytes'] / 1e6:.0f} MB, written in {made['cpu_seconds']:.2f} s of CPU, opened in {seconds:.1f} s")


def check_shipped_program(browser, upskill, folder):
    """100,000 answers of simulated students through `upskill report`, from the journal to the file."""
    skill = os.path.join(folder, "skill")
    os.mkdir(skill)
    with open(os.path.join(skill, "SKILL.md"), "w", encoding="utf-8") as file:
        file.write("---\nname: many\ndescription: d\n---\nBody.\n")
    with open(os.path.join(skill, "tests.json"), "w", encoding="utf-8") as file:
        json.dump([{"id": f"case-{i}", "input": f"question {i}", "expected": {"contains": f"answer {i}."}} for i in range(1000)], file)
    models = [word for seed in range(5) for word in ("-m", f"sim:base=0.4,skill=0.8,seed={seed}")]
    runs = os.path.join(folder, "runs")
    config = os.path.join(folder, "config.yaml")
    open(config, "w", encoding="utf-8").close()
    environment = {**os.environ, "HOME": folder, "UPSKILL_CONFIG": config}
    subprocess.run([upskill, "eval", skill, "--runs", "10", "--runs-dir", runs, "-q", *models], check=True, stdout=subprocess.DEVNULL, timeout=240, env=environment)
    html = os.path.join(folder, "shipped.html")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([upskill, "report", runs, "-o", html], check=True, stdout=subprocess.DEVNULL, timeout=120, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    expect(seconds < MAX_GENERATION_SECONDS, f"upskill report took {seconds:.1f} s of CPU for 100,000 answers")
    browser.open(html)
    expect(os.path.getsize(html) < 5_000_000, f"upskill's report has {os.path.getsize(html)} bytes")
    expect(count(browser).endswith(" answers"), "answers of upskill's report")
    expect_quiet(browser, html)
    print(f"upskill report: 100,000 answers in {seconds:.2f} s of CPU")


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    find_chromium()
    with tempfile.TemporaryDirectory(prefix="upskill-reports-") as folder:
        made = json.loads(subprocess.run([sys.argv[1], folder], check=True, capture_output=True, timeout=200).stdout)
        hostile, several, big = (os.path.join(folder, name) for name in ("hostile.html", "several.html", "big.html"))
        browser = Browser()
        try:
            check_hostile(browser, hostile)
            check_large_answer(browser, hostile)
            check_filters_and_keys(browser, several)
            check_looks(browser, several)
            check_big(browser, big, made["big.html"])
            check_shipped_program(browser, sys.argv[2], folder)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
