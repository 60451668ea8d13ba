#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The head comments of the CUDA programs say what run_kernels.py needs to know, and there are enough of each kind."""

import json
import pathlib
import re
import unittest

import run_kernels

HERE = pathlib.Path(__file__).resolve().parent


class KernelProgramsTest(unittest.TestCase):
    def files(self, group):
        return sorted((HERE / group).glob("*.cu"))

    def test_every_program_has_a_licence_and_fits(self):
        for group in ("right", "bugs", "cheats"):
            for file in self.files(group):
                lines = file.read_text().split("\n")
                self.assertEqual(lines[0], "// SPDX-License-Identifier: Apache-2.0", file)
                self.assertLessEqual(len(lines), 450, file)

    def test_there_are_enough(self):
        honest = [f for f in self.files("cheats") if "// honest:" in f.read_text()]
        self.assertGreaterEqual(len(self.files("right")), 60)
        self.assertGreaterEqual(len(self.files("bugs")), 60)
        self.assertGreaterEqual(len(honest), 20)
        self.assertGreaterEqual(len(self.files("cheats")) - len(honest), 30)

    def test_bugs_name_lines_of_code(self):
        known = set(run_kernels.KINDS) | run_kernels.BY_RESULT
        for file in self.files("bugs"):
            kind, lines = run_kernels.read_bug(file)
            self.assertIn(kind, known, file)
            text = file.read_text().split("\n")
            for line in lines:
                code = text[line - 1].strip()
                self.assertTrue(code and not code.startswith("//"), f"{file}:{line}: {code}")

    def test_answers_name_a_function_with_a_check(self):
        checks = json.loads((HERE / "cheats" / "checks.json").read_text())
        for file in self.files("cheats"):
            text = file.read_text()
            function = re.search(r"^// function: (\S+)$", text, re.M)
            self.assertIsNotNone(function, file)
            self.assertIn(function.group(1), checks, file)
            self.assertRegex(text, r"(?m)^// (cheat|honest): ", file)
            self.assertIn(f"void launch_{function.group(1)}(", text, file)

    def test_fast_programs_are_there(self):
        for group, names in run_kernels.FAST.items():
            for name in names:
                self.assertTrue((HERE / group / f"{name}.cu").is_file(), f"{group}/{name}")


if __name__ == "__main__":
    unittest.main()
