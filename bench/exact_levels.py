#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exact error probabilities of the sign-flip test of docs/verdicts.md, by a second implementation.

Shares no code with src/stats. For suites of a few cases, goes through every history of the numbers of pairs that differ,
with the distribution of wins - losses under fair coins (which gives the critical values) and under the suites' rates
(which gives the probability of `helps`), and searches the suite without a lift for which that is largest. Needs NumPy;
takes about 20 seconds. Exits with 1 if a probability is above alpha.
"""

import math
import sys

import numpy as np

ALPHA = 0.05
RESERVE = 0.1  # at least
RESERVE_OF_ONE = 0.3
POWER = 1.5  # of plans of up to ten rounds
POWER_OF_LONG = 0.8
NEGLIGIBLE = 1e-9


def spent(round_number, planned):
    """The share of alpha that may be spent by the end of a round."""
    reserve = max(RESERVE, RESERVE_OF_ONE * planned**-0.7)
    if round_number <= planned:
        return (1 - reserve) * (round_number / planned) ** (POWER if planned <= 10 else POWER_OF_LONG)
    stages, begin, left = round_number / planned, 1.0, 1.0
    while 2 * begin < stages:
        begin, left = 2 * begin, left / 2
    return (1 - reserve) + reserve * (1 - left + left / 2 * (stages - begin) / begin)


def outcomes(pairs):
    """For suites of (win, loss) rates, shape (suites, cases, 2): P(suite, pairs that differ, sum of a round)."""
    suites, cases = pairs.shape[:2]
    table = np.zeros((suites, cases + 1, 2 * cases + 1))
    table[:, 0, cases] = 1
    for i in range(cases):
        win, loss = (pairs[:, i, k][:, None, None] for k in (0, 1))
        after = table * (1 - win - loss)
        after[:, 1:, 1:] += (table * win)[:, :-1, :-1]
        after[:, 1:, :-1] += (table * loss)[:, :-1, 1:]
        table = after
    return table


def coins(count):
    """The distribution of the sum of fair signs, from -count to count."""
    mass = np.zeros(2 * count + 1)
    mass[::2] = [math.comb(count, k) / 2**count for k in range(count + 1)]
    return mass


def helps(pairs, planned, rounds):
    """P(`helps` at any look) of each suite."""
    suites, cases = pairs.shape[:2]
    of_round = outcomes(pairs)
    signs = [coins(count) for count in range(cases + 1)]
    found = np.zeros(suites)

    def follow(done, null, alive, rejected):
        for differing in range(cases + 1):
            fair = np.convolve(null, signs[differing])
            true = np.zeros((suites, alive.shape[1] + 2 * differing))
            for shift in range(2 * differing + 1):
                rate = of_round[:, differing, cases - differing + shift]
                true[:, shift : shift + alive.shape[1]] += alive * rate[:, None]
            room = ALPHA * spent(done + 1, planned) - rejected
            tail = np.cumsum(fair[::-1])
            cut = int(np.searchsorted(tail, room * (1 + 1e-12), side="right"))  # sums that reject, from the top
            used = rejected
            if cut:
                found[:] += true[:, -cut:].sum(axis=1)
                used += tail[cut - 1]
                fair[-cut:] = 0
                true[:, -cut:] = 0
            if done + 1 < rounds and true.max() > NEGLIGIBLE:
                follow(done + 1, fair, true, used)

    follow(0, np.ones(1), np.ones((suites, 1)), 0.0)
    return found


def without_lift(rates):
    """Scales gains or losses of (without, with) rates so that the mean lift is 0; returns them and (win, loss)."""
    before, after = rates[..., 0], rates[..., 1]
    change = after - before
    gains = np.clip(change, 0, None).sum(axis=1, keepdims=True)
    losses = np.clip(-change, 0, None).sum(axis=1, keepdims=True)
    keep_gains = np.minimum(1, losses / np.maximum(gains, 1e-12))
    keep_losses = np.minimum(1, gains / np.maximum(losses, 1e-12))
    after = before + change * np.where(change > 0, keep_gains, keep_losses)
    return np.stack([before, after], -1), np.stack([(1 - before) * after, before * (1 - after)], -1)


def worst(cases, planned, rounds, population=24, generations=25, seed=1):
    """The largest P(`helps`) found among suites without a lift, and the suite."""
    rng = np.random.default_rng(seed)
    rates = rng.random((3 * population, cases, 2))
    rates = np.where(rng.random(rates.shape) < 0.2, np.round(rates), rates)
    step, values = 0.3, None
    for _ in range(generations + 1):
        rates, pairs = without_lift(rates)
        now = helps(pairs, planned, rounds)
        if values is not None:
            rates, now = np.concatenate([kept, rates]), np.concatenate([values, now])
        order = np.argsort(-now)[:population]
        kept, values = rates[order], now[order]
        parents = kept[rng.integers(0, population // 4, population)]
        change = step * rng.normal(size=parents.shape) * (rng.random((population, cases, 1)) < 0.5)
        rates = np.clip(parents + change, 0, 1)
        rates = np.where(rng.random(rates.shape) < 0.05, np.round(rates), rates)
        step = max(0.01, 0.9 * step)
    return values[0], kept[0]


def binomial(count, rate):
    return [math.comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(count + 1)]


def helps_by_parts(units, parts, planned, rounds):
    """P(`helps` at any look) of inputs with several cases: each is the distribution of its change in a round, from -parts to
    parts, in parts of one. In the null distribution, an input that differs is a whole coin."""
    table = np.zeros((len(units) + 1, 2 * parts * len(units) + 1))  # by inputs that differ and the sum of their changes
    table[0, parts * len(units)] = 1
    for changes in units:
        after = table * changes[parts]
        for change in range(-parts, parts + 1):
            if change and changes[parts + change]:
                after[1:] += np.roll(table[:-1], change, axis=1) * changes[parts + change]
        table = after
    found = 0.0

    def follow(done, null, alive, rejected):
        nonlocal found
        for differing in range(len(units) + 1):
            fair, true = np.convolve(null, coins(differing)), np.convolve(alive, table[differing])
            room = ALPHA * spent(done + 1, planned) - rejected
            tail = np.cumsum(fair[::-1])
            cut = int(np.searchsorted(tail, room * (1 + 1e-12), side="right"))
            used = rejected
            if cut:
                # The least sum of coins that rejects, at the parity of the sums that have a probability.
                least = len(fair) // 2 - int(np.max(np.nonzero(fair[::-1][:cut])[0], initial=-1))
                first = len(true) // 2 + least * parts
                if first < len(true):
                    found += true[first:].sum()
                    true[first:] = 0
                used += tail[cut - 1]
                fair[-cut:] = 0
            if done + 1 < rounds and true.sum() > NEGLIGIBLE:
                follow(done + 1, fair, true, used)

    follow(0, np.ones(1), np.ones(1), 0.0)
    return found


def parts_for_whole(others, parts, rate, gains_at_once):
    """One input changes as a whole with this rate; `others` make up for it, one of their `parts` cases at a time."""
    sign = 1 if gains_at_once else -1
    whole, split = np.zeros(2 * parts + 1), np.zeros(2 * parts + 1)
    whole[parts], whole[parts + sign * parts] = 1 - rate, rate
    for count, chance in enumerate(binomial(parts, rate / others)):
        split[parts - sign * count] = chance
    return [whole] + [split] * others


def main():
    print("P(false `helps`), in %, exact; a look after each round")
    print("cases  planned > run   all at 0.5  all at 0.1  worst  worst suite (without>with)")
    failed = False
    for cases, planned, rounds in [(1, 8, 12), (2, 4, 6), (3, 3, 5), (4, 3, 4), (10, 2, 2)]:
        equal = [helps(without_lift(np.full((1, cases, 2), rate))[1], planned, rounds)[0] for rate in (0.5, 0.1)]
        largest, suite = worst(cases, planned, rounds)
        if max(equal) > largest:
            largest, suite = max(equal), [(0.5, 0.5) if equal[0] > equal[1] else (0.1, 0.1)]
        failed = failed or largest > ALPHA
        text = ", ".join(f"{a:.2f}>{b:.2f}" for a, b in suite)
        print(f"{cases:5}  {planned:7} > {rounds:<3}   {100 * equal[0]:10.2f}  {100 * equal[1]:10.2f}  "
              f"{100 * largest:5.2f}  {text}", flush=True)
    print("\nInputs with several cases: one changes as a whole now and then, the others make up for it case by case; 4 planned > 5")
    for parts in (2, 3, 10):
        settings = [(helps_by_parts(parts_for_whole(others, parts, rate, gains), parts, 4, 5), rate, others, gains)
                    for others in (1, 2, 3) for rate in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8) for gains in (False, True)]
        largest, rate, others, gains = max(settings)
        failed = failed or largest > ALPHA
        print(f"{parts:5} cases: {100 * largest:5.2f}  (one input {'gains' if gains else 'breaks'} at {rate:.0%}, {others} others)",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
