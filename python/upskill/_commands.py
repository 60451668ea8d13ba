# SPDX-License-Identifier: Apache-2.0
"""A function for each command with a result as JSON. Its keywords are the command's options (docs/commands.md)."""
import json
import os
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from upskill import comparisons, results
from upskill._program import DEFAULT_PROCESS, Outcome, PathLike, Process, failure, options, run_program

Number = Union[int, float]
Names = Union[str, Iterable[str]]


def _json(arguments: Sequence[str], process: Process) -> Outcome[Any]:
    outcome = run_program(arguments, process)
    try:
        return Outcome(json.loads(outcome.data), outcome.exit_code, outcome.messages)
    except ValueError:
        raise failure(outcome.exit_code, outcome.messages, arguments) from None


def _places(*paths: PathLike) -> List[str]:
    return ["--", *(os.fspath(path) for path in paths)]


def eval(skill: PathLike, *, models: Names = (), base_url: Names = (), jobs: Optional[int] = None, batch: bool = False,
         tests: Optional[PathLike] = None, test_gen_model: Optional[str] = None, runs: Optional[int] = None, no_baseline: bool = False,
         placebo: bool = False, against: Optional[PathLike] = None, judge_model: Optional[str] = None, no_sandbox: bool = False,
         toolchain: Union[PathLike, Iterable[PathLike]] = (), shard: Optional[str] = None, max_tokens: Optional[int] = None,
         temperature: Optional[Number] = None, seed: Optional[int] = None, stop_when_decided: bool = False,
         alpha: Optional[Number] = None, min_lift: Optional[Number] = None, margin: Optional[Number] = None,
         gate: Optional[str] = None, max_cost: Optional[Number] = None, max_tokens_total: Optional[int] = None,
         timeout: Union[None, str, Number] = None, resume: Union[None, bool, str] = None, refresh: bool = False,
         no_cache: bool = False, no_log_runs: bool = False, no_ledger: bool = False, runs_dir: Optional[PathLike] = None,
         mode: Optional[str] = None, load: Optional[str] = None, max_turns: Optional[int] = None,
         case_timeout: Union[None, str, Number] = None, case_tokens: Optional[int] = None, activation: bool = False,
         among: Union[PathLike, Iterable[PathLike]] = (), cache_from: Union[PathLike, Iterable[PathLike]] = (),
         on: Optional[str] = None, shards: Optional[int] = None, job_option: Names = (), mcp_url: Names = (), mcp_env: Names = (),
         process: Process = DEFAULT_PROCESS) -> Outcome[results.EvalResult]:
    """Measures a skill: asks its cases with and without it.

    timeout: seconds, or a text such as "10m", after which the run stops and can be resumed
    mode: "answer" or "workspace", for all cases; load: "body" or "on-demand", how a student in a workspace gets the skill
    case_timeout: like timeout, for a case in a workspace
    activation: measure whether students find the skill; among: other skills to choose from
    mcp_url, mcp_env: URLs of MCP servers and environment variables that the suite may use
    on: an engine for jobs, such as "slurm", with shards and job_option ("NAME=VALUE")
    resume: the name of a run, or True for the latest one
    exit_code: 0; 1 the gate failed; 3 the run is incomplete
    """
    arguments = options(model=models, base_url=base_url, jobs=jobs, batch=batch, tests=tests, test_gen_model=test_gen_model, runs=runs,
                        no_baseline=no_baseline, placebo=placebo, against=against, judge_model=judge_model, no_sandbox=no_sandbox,
                        toolchain=toolchain, shard=shard, max_tokens=max_tokens, temperature=temperature, seed=seed,
                        stop_when_decided=stop_when_decided, alpha=alpha, min_lift=min_lift, margin=margin, gate=gate,
                        max_cost=max_cost, max_tokens_total=max_tokens_total, timeout=_time(timeout),
                        resume="latest" if resume is True else resume, refresh=refresh, no_cache=no_cache, no_log_runs=no_log_runs,
                        no_ledger=no_ledger, runs_dir=runs_dir, mode=mode, load=load, max_turns=max_turns,
                        case_timeout=_time(case_timeout), case_tokens=case_tokens, activation=activation, among=among,
                        cache_from=cache_from, on=on, shards=shards, job_option=job_option, mcp_url=mcp_url, mcp_env=mcp_env,
                        json=True)
    return _json(["eval", *arguments, *_places(skill)], process)


def _time(value: Union[None, str, Number]) -> Optional[str]:
    return value if value is None or isinstance(value, str) else f"{value}s"


def validate(*paths: PathLike, recursive: bool = False, strict: bool = False,
             process: Process = DEFAULT_PROCESS) -> Outcome[List[results.Validation]]:
    """Checks skills against the Agent Skills specification. exit_code: 0; 1 a skill isn't valid, or with strict there is advice."""
    arguments = options(recursive=recursive, strict=strict, json=True)
    outcome = run_program(["validate", *arguments, *_places(*paths)], process)
    return Outcome([json.loads(line) for line in outcome.data.splitlines()], outcome.exit_code, outcome.messages)


def check(suite: PathLike, *, answers: Optional[PathLike] = None, case: Names = (), lint: bool = False, strict: bool = False,
          output: Optional[PathLike] = None, jobs: Optional[int] = None, no_sandbox: bool = False,
          toolchain: Union[PathLike, Iterable[PathLike]] = (), judge_model: Optional[str] = None, base_url: Optional[str] = None,
          max_cost: Optional[Number] = None, runs_dir: Optional[PathLike] = None,
          process: Process = DEFAULT_PROCESS) -> Outcome[results.SuiteCheck]:
    """Tries a suite's checks on right and wrong answers, without a model, or with one that judges what only a judge can.

    base_url, max_cost and runs_dir are for a judge. max_cost: in US dollars
    exit_code: 0; 1 an answer isn't judged as it should be, or lint or strict found something; 3 no answer could be checked here
    """
    arguments = options(answers=answers, case=case, lint=lint, strict=strict, output=output, jobs=jobs, no_sandbox=no_sandbox,
                        toolchain=toolchain, judge_model=judge_model, base_url=base_url, max_cost=max_cost, runs_dir=runs_dir, json=True)
    return _json(["check", *arguments, *_places(suite)], process)


def plan(skill: PathLike, *, models: Names = (), base_url: Names = (), tests: Optional[PathLike] = None, runs: Optional[int] = None,
         max_tokens: Optional[int] = None, jobs: Optional[int] = None, judge_model: Optional[str] = None,
         baseline: Union[None, str, Number] = None, alpha: Optional[Number] = None, margin: Optional[Number] = None,
         runs_dir: Optional[PathLike] = None, process: Process = DEFAULT_PROCESS) -> Outcome[results.PlanResult]:
    """Says what a run could detect and what it would cost. baseline: the pass rate without the skill, such as 0.4 or "40%"."""
    arguments = options(model=models, base_url=base_url, tests=tests, runs=runs, max_tokens=max_tokens, jobs=jobs, judge_model=judge_model,
                        baseline=baseline, alpha=alpha, margin=margin, runs_dir=runs_dir, json=True)
    return _json(["plan", *arguments, *_places(skill)], process)


def runs(*, skill: Names = (), model: Names = (), all: bool = False, runs_dir: Optional[PathLike] = None,
         process: Process = DEFAULT_PROCESS) -> Outcome[List[results.EvalResult]]:
    """The results of earlier runs. all: trials of generations too. Raises UpskillError if there is no runs folder."""
    return _json(["runs", *options(skill=skill, model=model, all=all, runs_dir=runs_dir, json=True)], process)


def matrix(*, skill: Names = (), model: Names = (), within: Optional[Number] = None, runs_dir: Optional[PathLike] = None,
           process: Process = DEFAULT_PROCESS) -> Outcome[comparisons.Matrix]:
    """Skills by models: verdicts, and the cheapest model that is shown to be good enough (runs --matrix)."""
    return _json(["runs", *options(matrix=True, skill=skill, model=model, within=within, runs_dir=runs_dir, json=True)], process)


def ledger(*, runs_dir: Optional[PathLike] = None, process: Process = DEFAULT_PROCESS) -> Outcome[List[comparisons.Look]]:
    """Every counted look at a verdict, oldest first (runs --ledger)."""
    return _json(["runs", *options(ledger=True, runs_dir=runs_dir, json=True)], process)


def compare(a: PathLike, b: PathLike, *, choices: Optional[Tuple[str, str]] = None, margin: Optional[Number] = None,
            runs_dir: Optional[PathLike] = None, process: Process = DEFAULT_PROCESS) -> Outcome[comparisons.Comparison]:
    """Two runs of the same cases: folders, names, the last 4 characters of names, or latest.

    choices: a choice of each run, such as ("opus", "haiku+skill")
    """
    arguments = options(margin=margin, runs_dir=runs_dir, json=True) + (["--choices", *choices] if choices else [])
    return _json(["compare", *arguments, *_places(a, b)], process)


def merge(*shards: PathLike, output: PathLike, runs_dir: Optional[PathLike] = None,
          process: Process = DEFAULT_PROCESS) -> Outcome[results.EvalResult]:
    """Merges the shards of a run (eval with shard) into the run folder `output`."""
    return _json(["merge", *options(output=output, runs_dir=runs_dir, json=True), *_places(*shards)], process)


def recheck(run: PathLike = "latest", *, tests: Optional[PathLike] = None, judge_model: Optional[str] = None, no_sandbox: bool = False,
            toolchain: Union[PathLike, Iterable[PathLike]] = (), runs_dir: Optional[PathLike] = None,
            process: Process = DEFAULT_PROCESS) -> Outcome[results.EvalResult]:
    """Judges the answers of a run by the checks that its suite has now."""
    arguments = options(tests=tests, judge_model=judge_model, no_sandbox=no_sandbox, toolchain=toolchain, runs_dir=runs_dir, json=True)
    return _json(["recheck", *arguments, *_places(run)], process)


def run(*arguments: PathLike, process: Process = DEFAULT_PROCESS) -> Outcome[str]:
    """Any command, with its standard output as text: upskill.run("report", "latest", "--format", "md")."""
    return run_program([os.fspath(argument) for argument in arguments], process)
