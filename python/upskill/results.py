# SPDX-License-Identifier: Apache-2.0
"""The JSON that the program prints, as types; docs/output.md says what the keys mean. upskill.comparisons has the others.

Rates and lifts are fractions, and None stands for what is unknown. Later versions of the program may add keys.
"""
from typing import Dict, List, Optional, TypedDict


class Interval(TypedDict):
    low: Optional[float]
    high: Optional[float]


# --- eval, runs, merge, recheck --------------------------------------------------------------------------------------


class Verdict(TypedDict):
    """One comparison of the skill: with the baseline, or with another arm (than_placebo, than_previous)."""

    verdict: Optional[str]  # "helps", "hurts", "no effect", "undecided"
    general: Optional[str]
    p_value: Optional[float]
    p_value_hurts: Optional[float]
    p_general: Optional[float]
    p_general_hurts: Optional[float]
    e_value: Optional[float]
    e_value_hurts: Optional[float]
    p_anytime: Optional[float]
    p_anytime_hurts: Optional[float]
    lift: Optional[float]
    lift_low: Optional[float]
    lift_high: Optional[float]
    lift_interval: Optional[str]  # "fixed", "sequence"
    lift_estimate: Optional[float]
    lift_new_cases: Optional[Interval]
    lift_sequence: Optional[Interval]
    complete_rounds: int
    more_rounds: Optional[int]
    more_rounds_above: Optional[int]
    settled_by: Optional[str]  # "decided", "repeats", "futile"
    distinct_inputs: int
    answers_repeat: bool
    excluded_cases: List[str]
    undecided_because: Optional[str]  # "errors", "excluded_cases", "later_answers"
    verdict_without_errors: Optional[str]
    lift_with_errors: Optional[Interval]


class Arm(TypedDict):
    passed: int
    total: int
    rate: Optional[float]
    errors: int
    attempts: int
    errors_by_kind: Dict[str, int]
    unanswered: int
    checks_passed: int
    checks_total: int
    time_limits: int
    truncated: int
    cut: int
    empty: int
    refusals: int


class Change(TypedDict):
    baseline: float
    with_skill: float
    change: float
    change_low: Optional[float]
    change_high: Optional[float]
    ratio: Optional[float]


class CostChange(Change):
    per_pass_baseline: Optional[float]
    per_pass_with_skill: Optional[float]


class ArmTokens(TypedDict):
    prompt: Optional[int]
    prompt_evaluated: Optional[int]
    output: Optional[int]
    output_mean: Optional[float]


class Tokens(TypedDict):
    baseline: Optional[ArmTokens]
    with_skill: Optional[ArmTokens]
    output_per_answer: Optional[Change]
    per_answer: Optional[Change]


class Tally(TypedDict):
    passed: int
    total: int


class _Case(TypedDict):
    id: str


class Case(_Case, total=False):
    """The arms that the run has."""

    baseline: Tally
    with_skill: Tally
    placebo: Tally
    previous: Tally


class Group(TypedDict):
    cases: int
    lift: Optional[float]
    lift_low: Optional[float]
    lift_high: Optional[float]
    lift_new_cases: Optional[Interval]


class TagGroup(Group):
    tag: str


class CheckGroup(Group):
    ground: str


class MeanOfCases(TypedDict):
    rate: float
    low: Optional[float]
    high: Optional[float]


class PassOfK(TypedDict):
    k: int
    any_of_k: MeanOfCases
    all_of_k: MeanOfCases


class _Drift(TypedDict):
    p: float
    significant: bool


class Drift(_Drift, total=False):
    """p-values, one for each arm that the run has."""

    baseline: Optional[float]
    with_skill: Optional[float]
    placebo: Optional[float]
    previous: Optional[float]


class TrainCases(TypedDict):
    cases: int
    others: Group


class CorrectedLift(TypedDict):
    lift: float
    lift_low: float
    lift_high: float


class _Student(Verdict):
    model: str
    name: str
    combined_e_value: Optional[float]
    combined_e_value_hurts: Optional[float]
    compared_with: str
    baseline: Optional[Arm]
    with_skill: Optional[Arm]
    tokens: Tokens
    seconds: Optional[Change]
    cost_usd: Optional[CostChange]
    cells_skipped: int
    cells_from_cache: int
    ceiling_cases: List[str]
    floor_cases: List[str]
    cases: List[Case]
    fixed_cases: List[str]
    broken_cases: List[str]
    tags: List[TagGroup]
    checks: List[CheckGroup]
    pass_at_k: Dict[str, List[PassOfK]]
    drift: Optional[Drift]
    train_cases: Optional[TrainCases]


class Student(_Student, total=False):
    """A model of the run. The keys below are there only if the run has that arm, or a judge."""

    placebo: Optional[Arm]
    than_placebo: Verdict
    previous: Optional[Arm]
    than_previous: Verdict
    judge_corrected: Optional[CorrectedLift]


class Alpha(TypedDict):
    asked: float
    used: float
    look: Optional[int]
    versions: Optional[int]
    comparisons: int
    combined_with: List[str]


class Clause(TypedDict):
    clause: str
    model: Optional[str]
    against: Optional[str]
    holds: bool
    found: str


class Gate(TypedDict):
    holds: Optional[bool]
    clauses: List[Clause]


class JudgeCheck(TypedDict):
    both_pass: int
    judge_only: int
    people_only: int
    both_fail: int
    rubrics: int
    time: str


class Judge(TypedDict):
    model: str
    name: str
    rubrics: int
    checked: Optional[JudgeCheck]
    answers: int
    requests: int
    cost_usd: Optional[float]


class ChangedCase(TypedDict):
    now_pass: int
    now_fail: int


class _EvalResult(TypedDict):
    run: Optional[str]
    rechecked_from: Optional[str]
    left_out: List[str]
    judge: Optional[Judge]
    result: str  # sentences for people
    skill: str
    cases: int
    rounds: int
    judged_rounds: int
    alpha: Alpha
    students: List[Student]
    complete: bool


class EvalResult(_EvalResult, total=False):
    """gate is only in results of eval, changed only in those of recheck."""

    gate: Optional[Gate]
    changed: Dict[str, ChangedCase]


# --- validate, check -------------------------------------------------------------------------------------------------


class Finding(TypedDict):
    message: str
    line: Optional[int]
    column: Optional[int]


class Validation(TypedDict):
    path: str
    valid: bool
    errors: List[Finding]
    advice: List[Finding]


class CheckOutcome(TypedDict):
    name: str
    outcome: str  # "pass", "fail", "skip"
    detail: str


class AnswerCheck(TypedDict):
    name: str
    right: bool
    result: str  # "as expected", "not as expected", "not checked"
    problem: str
    seconds: float
    checks: List[CheckOutcome]


class CaseCheck(TypedDict):
    id: str
    answers: List[AnswerCheck]
    skipped: List[str]
    weaknesses: List[str]
    seconds: float


class CheckJudge(TypedDict):
    """known: verdicts that were kept from before."""
    model: str
    name: str
    answers: int
    known: int
    cost_usd: float


class SuiteCheck(TypedDict):
    cases: List[CaseCheck]
    interrupted: bool
    warnings: List[str]
    judge: Optional[CheckJudge]


# --- plan ------------------------------------------------------------------------------------------------------------


class Spending(TypedDict):
    rounds: float
    requests: int
    tokens: int
    cost_usd: Optional[float]
    seconds: Optional[float]


class Need(TypedDict):
    lift: float
    impossible: bool
    for_power: Optional[Spending]
    when_stopped_on_average: Optional[Spending]
    cases_in_general: Optional[int]


class NoEffectNeed(TypedDict):
    margin: float
    for_power: Optional[Spending]


class StudentPlan(TypedDict):
    model: str
    baseline: float
    baseline_source: str
    to_see: List[Need]
    no_effect: NoEffectNeed
    detectable_lift: Optional[float]
    time_source: str
    look: int
    continues_rounds: Optional[int]


class PlanResult(TypedDict):
    skill: str
    cases: int
    distinct_inputs: int
    alpha: float
    students: List[StudentPlan]
