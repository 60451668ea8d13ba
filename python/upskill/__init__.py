# SPDX-License-Identifier: Apache-2.0
"""upskill from Python: each function runs the native program beside this package and returns what it prints as JSON.

    import upskill

    outcome = upskill.eval("skills/pdf-tools", models=["haiku"], runs=5, gate="helps:*", max_cost=2)
    print(outcome.data["students"][0]["verdict"], outcome.ok)

An Outcome has the exit code: a gate that fails and an incomplete run are results. Everything else raises UpskillError.
`upskill.results` and `upskill.comparisons` describe the data; docs/python.md and docs/output.md say what it means.
"""
from upskill import comparisons, results
from upskill._commands import check, compare, eval, ledger, matrix, merge, plan, recheck, run, runs, validate
from upskill._program import Outcome, Process, TimedOut, UpskillError, program_path

__all__ = ["Outcome", "Process", "TimedOut", "UpskillError", "check", "compare", "comparisons", "eval", "ledger", "matrix", "merge",
           "plan", "program_path", "recheck", "results", "run", "runs", "validate"]
