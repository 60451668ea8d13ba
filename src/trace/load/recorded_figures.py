#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of the recorded sessions in the test recorded_traces_test.cpp, worked out without the readers.

usage: src/trace/load/recorded_figures.py FOLDER [UPSKILL]
Prints one line of JSON a file. With the program given, compares them with `trace show --json` and exits 1 on a difference.
A file whose format this script doesn't know is an error. What no rule can tell (which texts of a stress file a person
typed) is in USER, read by eye.
"""
import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys
import zipfile

# Texts of user records that no person typed, by their beginnings.
INJECTED = ("<local-command", "<command-name>/clear", "<command-name>/mcp", "<command-name>/exit", "[Request interrupted", "Caveat:",
            "<environment_context>", "<user_instructions>", "# AGENTS.md", "<system-reminder>", "<permissions")
# Sessions whose user records need a reader's judgement: trimmed or made-up files.
USER = {"claude-code/daaain-edge_cases.jsonl": 4, "codex-rollout/agent-sessions-codex_small.jsonl": 1,
          "specstory/2026-02-10_21-49-42Z-command-message-insights-command.md": 1}


def figures(**more):
    base = dict(human_turns=0, assistant_messages=0, tool_calls_by_name={}, tool_errors=0, models=[], first=None, last=None,
                tokens=[None] * 4)
    base.update(more)
    return base


def in_order(values):
    return list(dict.fromkeys(value for value in values if value))


def total(rows, key):
    values = [row[key] for row in rows if isinstance(row.get(key), int)]
    return sum(values) if values else None


def stamp(text):
    """'2026-01-02T03:04:05.6Z' with exactly three digits of a second; None for anything else."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00:00)?", text or "")
    return f"{found[1]}T{found[2]}.{(found[3] or '0').ljust(3, '0')[:3]}Z" if found else None


def span(texts):
    times = sorted(filter(None, map(stamp, texts)))
    return dict(first=times[0], last=times[-1]) if times else {}


def from_ms(value):
    return datetime.datetime.fromtimestamp(value / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def texts_of(content):
    if isinstance(content, str):
        return [content]
    return [b if isinstance(b, str) else b.get("text", "") for b in content or [] if isinstance(b, str) or b.get("type") in ("text", "input_text")]


def typed(content):
    return any(text.strip() and not text.lstrip().startswith(INJECTED) for text in texts_of(content))


def claude_code(path, name):
    records = lines(path) if path.suffix == ".jsonl" else json.loads(path.read_text())
    seen, usage, calls, models, people, errors = set(), collections.defaultdict(dict), {}, [], 0, 0
    for record in records:
        if not isinstance(record, dict) or not isinstance(record.get("message"), dict) or record.get("type") not in ("user", "assistant"):
            continue
        message = record["message"]
        key = (record.get("uuid"), json.dumps(message, sort_keys=True))
        if record.get("uuid") and key in seen:
            continue
        seen.add(key)
        blocks = [b for b in message.get("content") or [] if isinstance(b, dict)] if isinstance(message.get("content"), list) else []
        if record["type"] == "assistant":
            models.append(message.get("model"))
            for field, value in (message.get("usage") or {}).items():
                if isinstance(value, int):
                    usage[message["id"]][field] = max(value, usage[message["id"]].get(field, 0))
            usage[message["id"]]
            calls.update({b["id"]: b["name"] for b in blocks if b.get("type") == "tool_use"})
        else:
            errors += sum(b.get("is_error") is True for b in blocks if b.get("type") == "tool_result")
            if not record.get("isMeta") and not record.get("isCompactSummary") and not any(b.get("type") == "tool_result" for b in blocks):
                people += typed(message.get("content"))
    rows = list(usage.values())
    return figures(human_turns=people, assistant_messages=len(rows), tool_calls_by_name=collections.Counter(calls.values()),
                   tool_errors=errors, models=in_order(models),
                   tokens=[total(rows, k) for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")],
                   **span([r.get("timestamp") for r in records if isinstance(r, dict)]))


def codex_rollout(path, name):
    records = lines(path)
    items = [r["payload"] for r in records if r["type"] == "response_item"]
    calls = [i.get("name") or {"web_search_call": "web_search", "tool_search_call": "tool_search", "local_shell_call": "local_shell",
                               "image_generation_call": "image_generation"}[i["type"]] for i in items if re.fullmatch(r".*_call", i["type"])]
    usage, before = [], None
    for record in records:
        info = record["payload"].get("info") if record["type"] == "event_msg" and record["payload"].get("type") == "token_count" else None
        if info and info["total_token_usage"] != before:
            before = info["total_token_usage"]
            usage.append(info["last_token_usage"])
    def failed(item):
        output = item.get("output")
        if isinstance(output, str) and output.startswith("{"):
            return json.loads(output)["metadata"]["exit_code"] != 0
        return isinstance(output, str) and output.startswith("failed in sandbox")
    def person(item):
        if item["type"] != "message" or item["role"] != "user":
            return False
        return any("## My request for Codex:" in t or not t.lstrip().startswith(INJECTED) for t in texts_of(item["content"]) if t.strip())
    cached, written = total(usage, "cached_input_tokens"), total(usage, "cache_write_input_tokens")
    return figures(human_turns=sum(map(person, items)),
                   assistant_messages=sum(i["type"] == "message" and i["role"] == "assistant" for i in items),
                   tool_calls_by_name=collections.Counter(calls), tool_errors=sum(failed(i) for i in items if i["type"].endswith("_output")),
                   models=in_order(r["payload"].get("model") for r in records if r["type"] == "turn_context"),
                   tokens=[total(usage, "input_tokens") - cached - (written or 0), cached, written, total(usage, "output_tokens")],
                   **span(r["timestamp"] for r in records))


def codex_exec(path, name):
    records = lines(path)
    last = {r["item"]["id"]: r["item"] for r in records if "item" in r}
    usage = [r["usage"] for r in records if r["type"] == "turn.completed"]
    commands = [i for i in last.values() if i["type"] == "command_execution"]
    return figures(assistant_messages=1, tool_calls_by_name={"command_execution": len(commands)} if commands else {},
                   tool_errors=sum(i["exit_code"] != 0 for i in commands),
                   tokens=[total(usage, "input_tokens") - total(usage, "cached_input_tokens"), total(usage, "cached_input_tokens"), None,
                           total(usage, "output_tokens")])


def gemini(path, name):
    if path.suffix == ".json":
        document = json.loads(path.read_text())
        head, messages = document, document["messages"]
    else:
        records = lines(path)
        head = records[0]
        messages = list({r["id"]: r for r in records if r.get("type") in ("user", "gemini")}.values())
    answers = [m for m in messages if m["type"] == "gemini"]
    calls = [c for m in answers for c in m.get("toolCalls") or []]
    tokens = [m["tokens"] for m in answers if m.get("tokens")]
    cached = total(tokens, "cached")
    return figures(human_turns=sum(m["type"] == "user" for m in messages), assistant_messages=len(answers),
                   tool_calls_by_name=collections.Counter(c["name"] for c in calls), tool_errors=sum(c["status"] != "success" for c in calls),
                   models=in_order(m.get("model") for m in answers),
                   tokens=[total(tokens, "input") - cached, cached, None, total(tokens, "output") + total(tokens, "thoughts")],
                   **span([head["startTime"]] + [m["timestamp"] for m in messages]))


def opencode(path, name):
    events = json.loads(path.read_text()) if path.suffix == ".json" else [r["event"] for r in lines(path)]
    infos, parts = {}, {}
    for event in events:
        if event["type"] == "message.updated":
            infos[event["properties"]["info"]["id"]] = event["properties"]["info"]
        elif event["type"] == "message.part.updated":
            parts[event["properties"]["part"]["id"]] = event["properties"]["part"]
    answers = [i for i in infos.values() if i["role"] == "assistant"]
    tools = [p for p in parts.values() if p["type"] == "tool"]
    tokens = [dict(i["tokens"], **{"cache_" + k: v for k, v in i["tokens"]["cache"].items()}) for i in answers]
    times = [t for i in infos.values() for t in i["time"].values()]
    times += [t for p in tools for t in (p["state"].get("time") or {}).values()]
    return figures(human_turns=sum(i["role"] == "user" for i in infos.values()), assistant_messages=len(answers),
                   tool_calls_by_name=collections.Counter(p["tool"] for p in tools),
                   tool_errors=sum(p["state"]["status"] == "error" for p in tools), models=in_order(i["modelID"] for i in answers),
                   tokens=[total(tokens, "input"), total(tokens, "cache_read"), total(tokens, "cache_write"),
                           total(tokens, "output") + total(tokens, "reasoning")], first=from_ms(min(times)), last=from_ms(max(times)))


def pi(path, name):
    records = lines(path)
    messages = [r["message"] for r in records if r["type"] == "message"]
    answers = [m for m in messages if m["role"] == "assistant"]
    usage = [m["usage"] for m in answers]
    return figures(human_turns=sum(m["role"] == "user" for m in messages), assistant_messages=len(answers),
                   models=in_order([r.get("modelId") for r in records] + [m["model"] for m in answers]),
                   tokens=[total(usage, k) for k in ("input", "cacheRead", "cacheWrite", "output")], **span(r["timestamp"] for r in records))


def copilot(path, name):
    records = lines(path)
    answers = [r["data"] for r in records if r["type"] == "assistant.message" and not r["data"].get("parentToolCallId")]
    calls = [call["name"] for answer in answers for call in answer["toolRequests"]]
    results = [r["data"] for r in records if r["type"] == "tool.execution_complete" and not r["data"].get("parentToolCallId")]
    ends = [r["data"] for r in records if r["type"] == "session.shutdown"]
    details = {k: v["tokenCount"] for k, v in ends[-1]["tokenDetails"].items()}
    return figures(human_turns=sum(r["type"] == "user.message" for r in records), assistant_messages=len(answers),
                   tool_calls_by_name=collections.Counter(calls), tool_errors=sum(not result["success"] for result in results),
                   models=in_order(a.get("model") for a in answers),
                   tokens=[details.get(k) for k in ("input", "cache_read", "cache_write", "output")], **span(r["timestamp"] for r in records))


def atif(path, name):
    log = json.loads(path.read_text())
    final, steps = log["final_metrics"], log["steps"]
    return figures(human_turns=sum(s["source"] == "user" for s in steps), assistant_messages=sum(s["source"] == "agent" for s in steps),
                   tool_calls_by_name=collections.Counter(c["function_name"] for s in steps for c in s.get("tool_calls") or []),
                   models=in_order([s.get("model_name") for s in steps] + [log["agent"].get("model_name")]),
                   tokens=[final["total_prompt_tokens"] - final["total_cached_tokens"], final["total_cached_tokens"], None,
                           final["total_completion_tokens"]], **span(s["timestamp"] for s in steps))


def inspect(path, name):
    archive = zipfile.ZipFile(path)
    sample = json.loads(archive.read(next(n for n in archive.namelist() if n.startswith("samples/"))))
    model, usage = next(iter(sample["model_usage"].items()))
    times = sorted(e["timestamp"] for e in sample["events"])
    shown = [from_ms(int(datetime.datetime.fromisoformat(t).timestamp() * 1e6) // 1000) for t in (times[0], times[-1])]
    roles = collections.Counter(m["role"] for m in sample["messages"])
    return figures(human_turns=roles["user"], assistant_messages=roles["assistant"], models=[model], first=shown[0], last=shown[1],
                   tokens=[usage["input_tokens"], usage.get("input_tokens_cache_read"), usage.get("input_tokens_cache_write"), usage["output_tokens"]])


def swe_agent(path, name):
    history = [m for m in json.loads(path.read_text())["history"] if not m.get("is_demo")]
    calls = [c["function"]["name"] for m in history for c in m.get("tool_calls") or []]
    return figures(human_turns=sum(m["role"] == "user" for m in history), assistant_messages=sum(m["role"] == "assistant" for m in history),
                   tool_calls_by_name=collections.Counter(calls))


def mini_swe_agent(path, name):
    messages = json.loads(path.read_text())
    answers = [m for m in messages if m["role"] == "assistant"]
    results = [m["content"] for m in messages if m["role"] == "user" and m["content"].startswith("<returncode>")]
    people = [m for m in messages if m["role"] == "user" and m["content"].strip() and not m["content"].startswith("<returncode>")]
    return figures(human_turns=len(people), assistant_messages=len(answers),
                   tool_calls_by_name={"bash": sum(len(re.findall(r"```(?:mswea_bash_command|bash)\n", m["content"])) for m in answers)},
                   tool_errors=sum(not r.startswith("<returncode>0<") for r in results))


def hf_sts(path, name):
    messages = [r["message"] for r in lines(path) if r["type"] == "message"]
    return figures(human_turns=sum(m["role"] == "user" for m in messages), assistant_messages=sum(m["role"] == "assistant" for m in messages),
                   tool_calls_by_name=collections.Counter(c["function"]["name"] for m in messages for c in m.get("toolCalls") or []))


def specstory(path, name):
    heads = re.findall(r"(?m)^_\*\*(User|Agent) \(([^)]*)\)\*\*_$", path.read_text())
    times = [re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", head)[0] for _, head in heads]
    return figures(human_turns=sum(role == "User" for role, _ in heads), assistant_messages=sum(role == "Agent" for role, _ in heads),
                   models=in_order(head.split()[0] for role, head in heads if role == "Agent"), **span(times))


READERS = {"claude-code": claude_code, "claude-code-result": claude_code, "codex-rollout": codex_rollout, "codex-exec": codex_exec,
           "gemini-cli": gemini, "opencode": opencode, "pi": pi, "copilot": copilot, "atif": atif, "inspect": inspect, "swe-agent": swe_agent,
           "mini-swe-agent": mini_swe_agent, "hf-sts": hf_sts, "specstory": specstory}


def main(folder, program=None):
    folder, differences = pathlib.Path(folder), 0
    for path in sorted(p for p in folder.glob("*/*") if p.parent.name != "LICENSES"):
        name = str(path.relative_to(folder))
        ours = READERS[path.parent.name](path, name)
        ours["human_turns"] = USER.get(name, ours["human_turns"])
        ours["tool_calls_by_name"] = dict(sorted(ours["tool_calls_by_name"].items()))
        print(json.dumps({"file": name, **ours}))
        if not program:
            continue
        shown = json.loads(subprocess.run([program, "trace", "show", "--json", path], check=True, capture_output=True, text=True).stdout)
        theirs = dict(shown, first=shown["first_timestamp"], last=shown["last_timestamp"], tokens=list(shown["tokens"].values()))
        for key, value in ours.items():
            if theirs[key] != value:
                differences += 1
                print(f"  DIFFERENT {key}: here {value}, trace show {theirs[key]}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
