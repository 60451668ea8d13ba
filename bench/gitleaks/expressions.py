# SPDX-License-Identifier: Apache-2.0
"""Texts that match an expression."""
import random
import re
import re._constants as codes
import re._parser as parser

ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def python_expression(expression):
    """An expression of Go's in Python's notation."""
    expression = expression.replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\z", r"\Z")
    # `(?i)` within an expression holds up to the end of its group.
    while match := re.search(r"(?<!\\)\(\?i\)", expression):
        end, depth, in_class = match.end(), 0, False
        while end < len(expression):
            c = expression[end]
            if c == "\\":
                end += 1
            elif in_class:
                in_class = c != "]"
            elif c == "[":
                in_class = True
            elif c == "(":
                depth += 1
            elif c == ")":
                depth -= 1
                if depth < 0:
                    break
            end += 1
        expression = f"{expression[:match.start()]}(?i:{expression[match.end():end]}){expression[end:]}"
    return expression


class Generator:
    """Random texts that an expression matches. Letters of words stay as written; those of sets may change case."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self, expression):
        self.repeated = 0
        return self.of_items(parser.parse(python_expression(expression)), False)

    def of_items(self, items, fold):
        return "".join(self.of_item(code, value, fold) for code, value in items)

    def of_set(self, items, fold):
        if items[0][0] is codes.NEGATE:
            excluded = set(self.members(items[1:], fold))
            return [c for c in ALNUM if c not in excluded] or [c for c in "-_ " if c not in excluded]
        return self.members(items, fold)

    def members(self, items, fold):
        characters = []
        for code, value in items:
            if code is codes.LITERAL:
                characters.append(chr(value))
            elif code is codes.RANGE:
                characters += [chr(c) for c in range(value[0], value[1] + 1)]
            elif code is codes.CATEGORY:
                characters += {
                    codes.CATEGORY_DIGIT: "0123456789",
                    codes.CATEGORY_WORD: ALNUM + "_",
                    codes.CATEGORY_SPACE: " ",
                    codes.CATEGORY_NOT_SPACE: ALNUM + "+/",
                    codes.CATEGORY_NOT_WORD: " ",
                    codes.CATEGORY_NOT_DIGIT: ALNUM[:52],
                }[value]
        if codes.CATEGORY_SPACE in [v for _, v in items] and codes.CATEGORY_NOT_SPACE in [v for _, v in items]:
            return list(ALNUM + "+/")  # any character
        if fold:
            characters += [c.swapcase() for c in characters if c.isalpha()]
        return characters

    def of_item(self, code, value, fold):
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.NOT_LITERAL:
            return self.random.choice([c for c in ALNUM if ord(c) != value])
        if code is codes.ANY:
            return "." if not self.repeated else self.random.choice(ALNUM)
        if code is codes.IN:
            return self.random.choice(self.of_set(value, fold))
        if code is codes.BRANCH:
            return self.of_items(self.random.choice(value[1]), fold)
        if code is codes.SUBPATTERN:
            group, added, removed, items = value
            fold = (fold or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            return self.of_items(items, fold)
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            low, high, items = value
            high = low + 12 if high is codes.MAXREPEAT else high
            # What may be left out around a secret, mostly is.
            count = self.random.randint(low, min(high, low + 80)) if low > 0 else self.random.choice([0, 0, min(high, 3)])
            self.repeated += 1
            text = "".join(self.of_items(items, fold) for _ in range(count))
            self.repeated -= 1
            return text
        if code is codes.AT:
            return ""
        raise ValueError(f"can't generate {code}")
