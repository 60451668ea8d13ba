# SPDX-License-Identifier: Apache-2.0
"""The examples in the sources of gitleaks' rules."""
import json
import re

TOKEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|`[^`]*`|\"(?:[^\"\\\n]|\\.)*\"|[A-Za-z_][\w.]*|\d+|\.\.\.|[-+(){}\[\],:=&*]|.", re.S)


def go_string(token):
    if token[0] == "`":
        return token[1:-1]
    return json.loads(re.sub(r"\\x([0-9a-fA-F]{2})", r"\\u00\1", token).replace("\\a", "\\u0007"))


class Unknown(Exception):
    pass


class Sources:
    """Evaluates the expressions of Go that make up lists of examples."""

    def __init__(self, generator, folder):
        self.generator = generator
        self.templates = []
        text = (folder / "cmd/generate/config/utils/generate.go").read_text()
        self.templates = self.lists(re.search(r"(?ms)^\tsamples := map.*?^\t}", text)[0] + "\n", {})["samples"]

    def samples(self, identifier, secret):
        """The notations in which gitleaks embeds a generated secret."""
        replaced = {"{i}": identifier, "{I}": identifier.upper(), "{s}": secret}
        return [re.sub(r"\{[iIs]\}", lambda m: replaced[m[0]], template) for template in self.templates]

    def value(self, tokens, names):
        """The value of an expression: a string or a list of them."""
        result = self.term(tokens, names)
        while tokens and tokens[0] == "+":
            tokens.pop(0)
            result += self.term(tokens, names)
        return result

    def arguments(self, tokens, names):
        values = []
        assert tokens.pop(0) == "("
        while tokens[0] != ")":
            values.append(self.value(tokens, names))
            if tokens[0] == "...":
                tokens.pop(0)
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return values

    def term(self, tokens, names):
        token = tokens.pop(0)
        if token[0] in "`\"":
            return go_string(token)
        if token.isdigit():
            return token
        if token == "[" or token == "map":
            return self.literal([token, *tokens], names, tokens)
        if not tokens or tokens[0] != "(":
            if token in names:
                return names[token]
            raise Unknown(token)
        arguments = self.arguments(tokens, names)
        kind = token.rsplit(".", 1)[-1]
        sets = {"Numeric": "[0-9]", "Hex": "[a-f0-9]", "AlphaNumeric": "[a-z0-9]", "AlphaNumericExtendedShort": "[a-z0-9_-]",
                "AlphaNumericExtended": r"[a-z0-9=_\-]", "AlphaNumericExtendedLong": r"[a-z0-9\/=_\+\-]"}
        if kind in sets:
            return f"{sets[kind]}{{{arguments[0]}}}"
        if kind == "Hex8_4_4_4_12":
            return "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
        if kind in ("NewSecret", "NewSecretWithEntropy", "newPlausibleSecret"):
            return self.generator.text(arguments[0])
        if kind == "GenerateSampleSecret":
            return f'{arguments[0]}_api_token = "{arguments[1]}"'
        if kind == "GenerateSampleSecrets":
            return self.samples(*arguments)
        if kind == "append":
            more = [arguments[i] for i in range(1, len(arguments))]
            return list(arguments[0]) + [e for a in more for e in (a if isinstance(a, list) else [a])]
        if kind == "Sprintf":
            return arguments[0].replace("%s", "\0").replace("%d", "\0").replace("\0", "{}").format(*arguments[1:]) \
                if "{" not in arguments[0] else re.sub("%[sd]", lambda _, rest=iter(arguments[1:]): next(rest), arguments[0])
        if kind in ("ToUpper", "ToLower"):
            return arguments[0].upper() if kind == "ToUpper" else arguments[0].lower()
        if kind in ("Replace", "ReplaceAll"):
            return arguments[0].replace(arguments[1], arguments[2])
        if kind == "Repeat":
            return arguments[0] * int(arguments[1])
        if kind == "EncodeToString":
            raise Unknown(token)
        raise Unknown(token)

    def literal(self, all_tokens, names, tokens):
        """[]string{…} or map[string]string{…}, of which the values count."""
        del tokens[: tokens.index("{") + 1]
        values = []
        while tokens[0] != "}":
            try:
                value = self.value(tokens, names)
                if tokens[0] == ":":
                    tokens.pop(0)
                    value = self.value(tokens, names)
                values += value if isinstance(value, list) else [value]
            except Unknown:
                skip(tokens)
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return values

    def lists(self, body, names):
        """The names that a function's body assigns strings and lists to."""
        names = dict(names)
        for match in re.finditer(r"(?m)^\t+(?:var )?(\w+)(?: :?=|, *fps :?=) *", body):
            tokens = [t for t in TOKEN.findall(body[match.end():]) if not t.isspace() and not t.startswith(("//", "/*"))]
            try:
                names[match[1]] = self.value(tokens, names)
            except (Unknown, IndexError, AssertionError, TypeError, ValueError):
                pass
        return names


def skip(tokens):
    """Passes over the rest of an element that can't be evaluated."""
    depth = 0
    while tokens and not (depth == 0 and tokens[0] in (",", "}")):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(tokens.pop(0), 0)


def examples_of_sources(folder, sources):
    """Rule → (positive examples, negative examples)."""
    examples = {}
    for path in sorted((folder / "cmd/generate/config/rules").glob("*.go")):
        text = path.read_text(errors="replace")
        outside = sources.lists(re.sub(r"(?ms)^func .*?^}", "", text).replace("\nvar ", "\n\tvar "), {})
        for body in re.split(r"(?m)^(?=func )", text)[1:]:
            rule = re.search(r'RuleID:\s*"([^"]+)"', body)
            if not rule:
                continue
            names = sources.lists(body, outside)
            call = re.search(r"Validate(?:WithPaths)?\(\s*\*?\w+,\s*(.*?)\)\s*$", body, re.M)
            positive, negative = [], []
            if call:
                names_used = [n.strip() for n in call[1].split(",")]
                positive = names.get(names_used[0], [])
                negative = names.get(names_used[1], []) if len(names_used) > 1 else []
            as_list = lambda v: [v] if isinstance(v, str) else [e for e in v if isinstance(e, str)]
            examples[rule[1]] = (as_list(positive), as_list(negative))
    return examples
