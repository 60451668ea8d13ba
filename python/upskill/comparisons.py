# SPDX-License-Identifier: Apache-2.0
"""The JSON of commands that look at several earlier runs: compare, runs --matrix, runs --ledger (see upskill.results)."""
from typing import List, Optional, TypedDict

from upskill.results import Interval


class Side(TypedDict):
    verdict: Optional[str]
    reference_rate: Optional[float]
    skill_rate: Optional[float]
    lift: Optional[float]
    tokens: Optional[float]
    cost_usd: Optional[float]


class CaseChange(TypedDict):
    case: str
    a: float
    b: float


class StudentComparison(TypedDict):
    model: str
    a: Optional[Side]
    b: Optional[Side]
    changed_cases: List[CaseChange]


class Choice(TypedDict):
    run: str
    model: str
    arm: str


class Ratio(TypedDict):
    a: float
    b: float
    change_low: Optional[float]
    change_high: Optional[float]
    ratio: Optional[float]
    ratio_low: Optional[float]
    ratio_high: Optional[float]


class _Contrast(TypedDict):
    a: Choice
    b: Choice
    margin: float
    problem: Optional[str]


class Contrast(_Contrast, total=False):
    """B compared with A (docs/contrasts.md). The keys below are missing if there is a problem."""

    result: str  # "better", "not worse", "worse", "not shown"
    difference: Optional[float]
    low: Optional[float]
    high: Optional[float]
    p_better: Optional[float]
    p_not_worse: Optional[float]
    p_worse: Optional[float]
    cases: int
    complete_rounds: int
    excluded_cases: List[str]
    answers_repeat: bool
    valid_at_every_look: bool
    more_rounds: Optional[int]
    more_cases: Optional[int]
    tokens: Optional[Ratio]
    output_tokens: Optional[Ratio]
    cost_usd: Optional[Ratio]
    seconds: Optional[Ratio]


class Comparison(TypedDict):
    a: str
    b: str
    students: List[StudentComparison]
    contrasts: List[Contrast]


# --- runs --matrix, runs --ledger ------------------------------------------------------------------------------------


class MatrixArm(TypedDict):
    rate: Optional[float]
    tokens: Optional[float]
    cost_usd: Optional[float]


class MatrixCell(TypedDict):
    skill: str
    model: str
    name: str
    run: str
    verdict: Optional[str]
    stands: bool  # whether the verdict holds for the table as a whole
    p_table: Optional[float]
    p_value: Optional[float]
    e_value: Optional[float]
    e_value_hurts: Optional[float]
    lift: Optional[float]
    lift_low: Optional[float]
    lift_high: Optional[float]
    baseline: MatrixArm
    with_skill: MatrixArm
    worth_its_tokens: str  # "yes", "no", "costs more", "not shown", "unknown"


class MatrixChoice(MatrixArm):
    model: str
    with_skill: bool


class Difference(Interval):
    estimate: float


class PriceShare(TypedDict):
    ratio: float
    range: Optional[Interval]


class SweetSpot(TypedDict):
    """The cheapest choice that is shown to be good enough (docs/reports.md)."""

    skill: str
    margin: float
    best: Optional[MatrixChoice]
    sweet_spot: Optional[MatrixChoice]
    shown: List[MatrixChoice]
    candidate: Optional[MatrixChoice]
    difference_to_best: Optional[Difference]
    price_of_best: Optional[PriceShare]
    more_rounds: Optional[float]
    more_cases: Optional[float]
    problem: Optional[str]
    by: str  # "cost", "tokens"
    pareto: List[MatrixChoice]
    not_compared: List[MatrixChoice]


class MatrixTable(TypedDict):
    """How it is decided which verdicts stand (docs/verdicts.md)."""

    procedure: str  # "holm"
    alpha: float
    verdicts: int


class Matrix(TypedDict):
    skills: List[str]
    models: List[str]
    table: MatrixTable
    cells: List[MatrixCell]
    sweet_spots: List[SweetSpot]


class LookStudent(TypedDict):
    identity: str
    verdict: Optional[str]
    complete_rounds: int
    e_value: Optional[float]
    e_value_hurts: Optional[float]


class Look(TypedDict):
    time: str
    run: str
    skill: str
    lineage: Optional[str]
    version: str
    compared_with: str
    distinct_inputs: int
    rounds: int
    seed: int
    look: Optional[int]
    spends: bool
    alpha: float
    alpha_used: float
    students: List[LookStudent]
