// SPDX-License-Identifier: Apache-2.0
#include "cli/help_topics.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "check/check_makers.h"
#include "model/sim.h"
#include "report/style.h"
#include "skill/check_types.h"

namespace upskill {
namespace {

// Short versions of docs/: what they say there must hold here.
constexpr std::string_view kModelStrings = R"(A model string says which model to use:

  smollm2-135m, or no -m    the default model: in process, no key, no network
  llama:PATH.gguf           any GGUF chat model, in process
  llama:ORG/REPO:QUANT      a GGUF file of the Hugging Face Hub
  haiku, opus, kimi         a short name; `upskill models` lists them
  provider.model            as the provider calls it: openai.gpt-5-mini
  any name                  with --base-url URL, a model of that server
  'cmd:claude -p'           a command that reads a prompt and prints an answer
  agent:codex[:MODEL]       an agent program in a sandbox (help agents)
  desk:FOLDER               by hand: requests and answers are files in FOLDER
  sim:base=0.4,skill=0.85   a simulated student, for trying out the program

Models over the network take settings: [provider.]model[.effort][?key=value&...]

  opus.high                 reasoning effort: none, minimal, low, medium, high,
                            xhigh or max
  haiku?temperature=0       temperature, top_p, top_k, min_p, max_tokens, ...

Models in process take parallel, threads and context:

  'llama:model.gguf?threads=8&parallel=16'

Keys come from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, HF_TOKEN,
OPENROUTER_API_KEY, ...), from ~/.config/upskill/keys.toml or from .env in the
current folder. `upskill models` shows which were found, and `upskill models
--check` whether the servers answer.

Your own short names, providers and prices: ~/.config/upskill/models.toml
)";

constexpr std::string_view kAgents = R"(agent:PROGRAM[:MODEL] has a real agent program do each case, in a sandbox, with
the skill installed where it looks for skills (--load on-demand), or without:

  agent:claude-code         npm install -g @anthropic-ai/claude-code
  agent:codex               npm install -g @openai/codex
  agent:opencode            npm install -g opencode-ai; needs ripgrep
  agent:gemini              npm install -g @google/gemini-cli
  agent:pi                  npm install -g @mariozechner/pi-coding-agent

  upskill eval SKILL --mode workspace --load on-demand -m agent:codex
  upskill eval SKILL -m agent:pi:my-model --base-url http://localhost:8080

MODEL is a model string without effort and settings, of a provider whose API
the program speaks. The program has a home folder and a workspace of its own,
no key and no network: its requests go through upskill, which adds the key,
counts tokens and cost and keeps to the limits. Its session file tells turns,
tools and whether the skill was read.

`upskill doctor` shows which programs are installed. Your own:
~/.config/upskill/agents.toml. More: docs/agents.md
)";

constexpr std::string_view kVerdicts = R"(A skill is measured by asking every case with and without it (the arms), once
per round. The lift is the mean over cases of the pass rate with the skill minus
the pass rate without, in percentage points.

  helps       the student passes more often with the skill
              (by more than --min-lift)
  hurts       it passes less often
  no effect   the lift lies within --margin points of 0
  undecided   none of these is shown; the output says about how many more
              rounds would be needed

Each of `helps`, `hurts` and `no effect`, taken by itself, is given wrongly in
at most --alpha of runs (5 %), however often you look. --stop-when-decided may
therefore end a run as soon as the verdict is known. All models of a run share
this error rate.

Only complete rounds count. An error is never a failed answer; a case that
keeps an error is excluded from every round and named. Errors that may depend
on the answer, such as timeouts, can't produce a verdict: one that wouldn't hold
if they all counted against it becomes `undecided`.

The interval after the lift is about these cases. "new cases" is the interval
for other cases like these; more cases narrow it, more rounds hardly do.

  upskill plan SKILL -m MODEL    rounds, cost and time to see a lift
  upskill selftest               how often the verdicts are wrong
)";

constexpr std::string_view kConfig = R"(Settings are read from the first of these files that exists:
  $UPSKILL_CONFIG
  ./upskill.config.yaml
  ~/.config/upskill/config.yaml

  skill_generation_model: sonnet   # teacher of generate (also as `model`), and
                                   # student of eval if eval_model isn't set
  eval_model: haiku                # student of eval and generate
  test_gen_model: opus             # writes the tests of generate
  max_refine_attempts: 3
  ledger: true                     # count looks at tests (help verdicts)
  env_file: true                   # read API keys from ./.env
  skills_dir: skills
  runs_dir: runs

Command-line options override the file. Unknown keys are ignored.

./upskill.config.yaml comes with a project, so it may not name model files,
servers or folders outside the project unless you give --trust-config or list
it in your own ~/.config/upskill/config.yaml:
  trusted_configs: [/home/you/project/upskill.config.yaml]

API keys, and only these, are also read from ./.env, for providers without a key
elsewhere, unless --no-env-file, UPSKILL_NO_ENV_FILE=1 or env_file says no.

Environment variables:
  ANTHROPIC_API_KEY, OPENAI_API_KEY, HF_TOKEN, ...   keys of providers
  UPSKILL_ALLOW_INSECURE_HTTP
                            1: send keys to other machines over http://
  UPSKILL_MODELS            file with your own models and prices
                            [default: ~/.config/upskill/models.toml]
  UPSKILL_AGENTS            your own agent programs [default: agents.toml there]
  UPSKILL_CACHE             folder of the default model [default:
                            $XDG_CACHE_HOME/upskill, else ~/.cache/upskill]
  UPSKILL_EMBEDDED_MODEL    GGUF to use as the default model
  UPSKILL_ENGINE_TIMEOUT    seconds after which a model in process that shows
                            no sign of life is terminated [default: 120]
  UPSKILL_COMMAND_TIMEOUT   seconds for an answer of a cmd: model [default: 600]
  UPSKILL_COMMAND_ENV       variables that cmd: models get, by name: A,B
  NO_COLOR                  set: no colours
)";

constexpr std::string_view kExitCodes = R"(  0     success
  1     a gate, a threshold or a check failed (`validate`, `check`, `kernel`,
        `doctor`), traces could not be read or have too little for a skill,
        a folder to list is missing, or `update` skipped a skill
  2     usage or configuration error, a file that can't be used, or output
        that can't be written
  3     incomplete: unanswered cells, a limit reached, or the disk full;
        the message gives the command to resume
  130   interrupted; the answers so far are saved

After 3 or 130, --resume continues the run: nothing is sent or paid for twice.

`check` exits with 3 if no answer can be checked here. With --lint, a weakness
means 1; with --strict, so do an answer that can't be checked here, a case
without answers and a warning about the suite.

A gate turns a verdict into an exit code, for CI:

  upskill eval SKILL -m haiku --runs 10 --gate 'helps:*; tokens<+20%'

Its clauses are separated by semicolons, and all must hold:

  helps:haiku,glm           the verdict for these models; :* for every model;
                            also hurts, no-effect, undecided, not-helps, ...
  helps-in-general:*        it helps on cases like these, not only on these
  not-hurts:*               a loss of more than --margin is ruled out;
                            not-hurts:*:10: of more than 10 points
  lift>10  pass>80%         lift (points), pass rate with the skill
  tokens<+20%  cost<0       change per answer; also seconds
  lift:haiku>10             for these models only
  not-worse:haiku+skill vs opus:5
                            haiku with the skill loses at most 5 points
                            against opus without it; also better:... vs ...

A clause looks at every comparison of the run; ` vs baseline`, ` vs previous`
or ` vs placebo` names one: helps:haiku vs previous. It compares bounds at the
level that is printed beside them; with @estimate after it, the estimate alone.
Bounds of tokens, cost and seconds assume that there are no rare runaway
answers. A clause that can't hold with so few cases and rounds is an error
before any request is sent.
)";

constexpr std::string_view kFiles = R"(A skill is a folder:

  SKILL.md            name, description and text of the skill
  skill_meta.json     its cases ("tests"); else tests.json, evals/evals.json
  answers/            right and wrong answers that `check` tries (help answers)
  references/, scripts/

A case needs an input and a check:

  {"tests": [{"id": "colour", "input": "What colour is the button?",
              "expected": {"contains": ["teal"]}}]}

runs/<time>-<4 hex digits>/ is a run. The last 4 characters of its name, or
`latest`, name it:

  plan.json           all that is needed to repeat it
  samples.jsonl       one line for each answer or failed attempt, append-only
  run_N/, batch_summary.json, agentskills/      for other programs

runs/generations/<time>-<4 hex digits>/ is a generation: its material, every
answer of the teacher, and what a new skill has replaced (previous/).

~/.config/upskill/    config.yaml, models.toml, keys.toml,
                      installed.json: what `upskill install` has installed
~/.cache/upskill/     the default model, unless $UPSKILL_CACHE or
                      $XDG_CACHE_HOME names another folder
~/.cache/huggingface/hub/    GGUF files of `upskill models pull`
)";

constexpr std::string_view kAnswers =
    R"(`upskill check SUITE` tries the checks on answers that must pass or fail. In the
case, "reference" is an answer that passes, and "wrong" a list of answers that
fail: {"name": "red", "answer": "It is red.", "fails": "teal"}; "fails" is part
of the message expected. Longer ones are files beside the cases:

  answers/CASE/reference.md      right, as a model would write it
  answers/CASE/reference/        right, as the files that it delivers
  answers/CASE/wrong-NAME.md     wrong; <!-- fails: TEXT --> on its first line
  answers/CASE/wrong-NAME/       wrong: the files that differ from reference/,
                                 with "fails: TEXT" in wrong-NAME.txt
)";

std::string ChecksText() {
  std::string text = R"(A check is one assertion on an answer. A case passes if all of its checks pass.

  {"tests": [{"id": "colour", "input": "What colour is the button?",
              "expected": {"contains": ["teal"]},
              "checks": [{"type": "regex", "pattern": "#[0-9a-f]{6}"}]}]}

  type           keys             passes when
)";
  constexpr std::size_t kColumns = 80;
  constexpr std::size_t kMeaning = 46;
  std::string missing;
  for (const CheckType& type : kCheckTypes) {
    text += fmt::format("  {:<14} {:<16} {}\n", type.name, type.keys,
                        Wrapped(std::string(type.passes_when), kColumns, kColumns - kMeaning).text());
    if (FindCheckMaker(type.kind) == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", type.name);
  }
  if (!missing.empty()) text += fmt::format("\n{}:\n{}.\n", missing, kWingMissing);
  return text + R"(
`values`: a string or a list. Patterns: RE2 syntax, with case unless (?i).
A check with "file" looks at that file in the answer: the fenced block with its
name in the info string, on the line before, or in a first line that is a
comment; with "output_file", the others do. "fill" puts the answer into a file's
gap. A check that can't run here is skipped, with a warning; a case that can't
pass without it is left out. All keys: docs/suites.md. See also: help answers.
)";
}

std::string SimText() {
  std::string text = R"(`sim:SETTINGS` is a simulated student: no model answers, but whether an answer
passes is drawn from a pass rate. Use it to try out the program or to test
scripts that call it.

  upskill eval SKILL -m sim:base=0.4,skill=0.85

  setting     values            meaning
)";
  for (const SimSetting& setting : kSimSettings)
    text += fmt::format("  {:<11} {:<17} {}\n", setting.name, setting.values, setting.meaning);
  return text + R"(
The same settings give the same answers. A passing answer says what is in the
case's "reference"; without one, a request whose answer would pass fails.

With skill=body, the skill itself says how good it is: the largest P of its
marks [sim P], and of [sim P: WORDS] if the question contains WORDS.
)";
}

const std::vector<HelpTopic>& Topics() {
  static const std::string checks = ChecksText();
  static const std::string sim = SimText();
  static const std::vector<HelpTopic> topics = {
      {"model-strings", "How models are named, their settings and keys", kModelStrings},
      {"agents", "Agent programs as students", kAgents},
      {"sim", "Settings of simulated students", sim},
      {"checks", "The types of checks in a suite of cases", checks},
      {"answers", "Right and wrong answers to try the checks of a suite on", kAnswers},
      {"verdicts", "What helps, hurts, no effect and undecided mean", kVerdicts},
      {"config", "The configuration file and environment variables", kConfig},
      {"exit-codes", "Exit codes, and gates for CI", kExitCodes},
      {"files", "Skills, suites of cases, runs", kFiles},
  };
  return topics;
}

}  // namespace

std::span<const HelpTopic> HelpTopics() { return Topics(); }

std::span<const HelpPage> HelpPages() {
  constexpr std::string_view kEvalOn = "upskill eval SKILL --on SYSTEM --shards N  (upskill help eval: Jobs elsewhere)";
  static const std::vector<HelpPage> pages = {
      {"activation", "Whether models find a skill by its description", "workspaces.md",
       "upskill eval SKILL --activation  (upskill help eval)\n"
       "upskill improve-description SKILL  (upskill help improve-description)"},
      {"workspaces", "Cases in which a model acts in a folder", "workspaces.md",
       "upskill eval SKILL --mode workspace  (upskill help eval: Workspaces)"},
      {"slurm", "Shards of a run as Slurm jobs", "slurm.md", kEvalOn},
      {"kubernetes", "Shards of a run as Kubernetes Jobs", "kubernetes.md", kEvalOn},
      {"hf-jobs", "Shards of a run as Hugging Face Jobs", "hf-jobs.md", kEvalOn},
      {"matrix", "Many skills and models, and which verdicts hold for all of them", "matrix.md",
       "upskill eval skills/* -m A -m B -o table.html  (upskill help eval)\n"
       "upskill runs --matrix  (upskill help runs)"},
      {"judge", "Checks that ask a model", "judge.md", "upskill eval SKILL --judge-model MODEL  (upskill help eval)"},
      {"kernels", "CUDA programs without a GPU", "kernels.md", "upskill kernel check FILE.cu"},
      {"sandbox", "Where commands of suites and answers run", "sandbox.md", "upskill doctor"},
      {"traces", "Recordings of agents", "traces.md", "upskill trace find"},
      {"contrasts", "Comparing any two choices of model and skill", "contrasts.md",
       "upskill compare A B --choices X Y  (upskill help compare)"},
  };
  return pages;
}

}  // namespace upskill
