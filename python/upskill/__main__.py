# SPDX-License-Identifier: Apache-2.0
"""python3 -m upskill ARGUMENTS: the program itself."""
import os
import sys

from upskill._program import UpskillError, program_path

try:
    program = program_path()
except UpskillError as error:
    sys.exit(f"error: {error}")
os.execv(program, [program, *sys.argv[1:]])
