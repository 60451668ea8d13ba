// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_teacher.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/env/catalog_file.h"
#include "cli/generate/generate_plan.h"
#include "cli/models/models_by_key.h"
#include "model/catalog.h"
#include "model/model_spec.h"
#include "teach/taught_code.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {

void ChooseTeacher(GenerateSession& session, const Env& env) {
  GenerateCommandOptions& options = session.options;
  if (!options.model.empty() || !session.config.skill_generation_model.empty()) return;
  if (!options.how.max_cost_usd && !options.dry_run) return;
  const std::optional<ModelsByKey> by_key = FindModelsByKey(env);
  if (!by_key) return;
  options.model = by_key->teacher;
  session.sources.told.push_back(fmt::format("teacher  using {}, with the key from {}; a chat window: -m desk:desk",
                                             by_key->teacher, by_key->source));
}

void ChooseStudents(GenerateSession& session, const Env& env) {
  GenerateCommandOptions& options = session.options;
  if (options.given.contains("--eval-model") || !session.config.eval_model.empty() || options.no_eval) return;
  const auto say = [&](const std::string& what) { session.sources.told.push_back("student  " + what); };
  const Result<Catalog> catalog = LoadCatalogOf(env);
  const Result<ModelSpec> teacher = catalog ? ParseModelSpec(options.model, {&*catalog, !options.base_urls.empty()})
                                            : Result<ModelSpec>(catalog.error());
  if (!teacher || teacher->provider == "cmd" || teacher->provider == "desk") {
    say(fmt::format(
        "{}, a very small model, because no --eval-model was given{}; name the model that will use the skill",
        options.eval_models.front(), teacher ? " and the teacher would have to answer hundreds of requests" : ""));
    return;
  }
  const Provider* provider = catalog->FindProvider(teacher->provider);
  if (provider != nullptr && !provider->student.empty()) {
    const Result<ModelSpec> sibling = ParseModelSpec(provider->student, {&*catalog});
    const std::optional<Price> price = catalog->PriceOf(teacher->provider, teacher->model);
    const std::optional<Price> less =
        sibling ? catalog->PriceOf(sibling->provider, sibling->model) : std::optional<Price>();
    if (price && less && less->output < price->output) {
      options.eval_models = {provider->student};
      return say(fmt::format("{}, a cheaper model of the teacher's provider, because no --eval-model was given",
                             provider->student));
    }
  }
  options.eval_models = {options.model};
  if (options.eval_base_urls.empty()) options.eval_base_urls = options.base_urls;
  say(fmt::format("{}, the teacher itself, because no --eval-model was given", options.model));
}

void PrepareForTeacher(GenerateSession& session) {
  constexpr std::size_t kRules = 500;    // tokens of all but the files
  constexpr std::size_t kLargest = 300;  // of a file to show whole
  constexpr std::size_t kMost = 1000;    // of the target
  GenerateCommandOptions& options = session.options;
  if (const std::size_t rejected = MarkRejectedFiles(DefaultSandbox(), session.sources.material); rejected > 0)
    session.sources.told.push_back(fmt::format(
        "files    {} as recorded can't be parsed or built; the teacher is told why", Counted(rejected, "file")));
  if (options.given.contains("--skill-tokens")) return;
  const Material& material = session.sources.material;
  std::map<std::string, std::size_t> smallest;  // tokens, by kind of file
  for (const MaterialItem& item : material.items) {
    const FileDetail* const file = WholeFileOf(item);
    if (file == nullptr) continue;
    const std::size_t tokens = EstimateTokens(file->content);
    const std::string kind = std::filesystem::path(file->path).extension().string();
    if (kind.empty() || tokens > kLargest) continue;
    const auto [place, is_new] = smallest.emplace(kind, tokens);
    if (!is_new) place->second = std::min(place->second, tokens);
  }
  std::size_t files = 0;
  for (const auto& [kind, tokens] : smallest) files += tokens;
  std::size_t& target = options.how.target.tokens;
  const std::size_t before = target;
  target = std::max({target, std::min(kRules + files, kMost), EstimateTokens(material.existing.body)});
  if (target > before)
    session.sources.told.push_back(fmt::format(
        "length   the skill may have about {} tokens, {} (--skill-tokens sets it)", target,
        target > kMost || files == 0 ? "like the one to improve" : "so that the smallest complete files fit"));
}

void AdviseOnTeacher(GenerateSession& session) {
  const GenerateCommandOptions& options = session.options;
  if (session.teacher_model->info().in_process)
    session.sources.warnings.push_back(fmt::format(
        "the teacher, {}, runs in process: models that small rarely write a skill that helps, and a request can take "
        "minutes; a stronger one is named with -m, for example -m opus, -m 'cmd:claude -p' or -m desk:desk",
        session.teacher_model->info().name));
  if (options.model.starts_with(kDeskPrefix) && options.test_gen_model == options.model && !session.given &&
      !options.no_eval && options.resume.empty())
    session.sources.told.emplace_back(
        "desk     add --test-gen-model desk:tests and answer its requests in a second chat: a chat that "
        "also writes the tests can put their answers into the skill, and the measured lift would then mean nothing");
}

std::string TeacherOffers(const GenerateCommandOptions& options, const Env& env) {
  const std::optional<ModelsByKey> by_key = FindModelsByKey(env);
  const std::string command = CommandWithoutTeacher(options);
  std::string offers = "; each of these works:";
  const auto offer = [&](const std::string& arguments, const std::string& what) {
    offers += fmt::format("\n{} {}\n    {}", command, arguments, what);
  };
  offer("-m desk:desk", "in a chat window, for free: requests and answers are files in ./desk (`upskill desk desk`)");
  offer("-m 'cmd:claude -p'", "with an agent program, or any command that answers a prompt");
  if (by_key && by_key->teacher != options.model) {
    offer(fmt::format("-m {}{}", by_key->teacher, options.how.max_cost_usd ? "" : " --max-cost 5"),
          fmt::format("with the key from {}", by_key->source));
  } else if (!by_key) {
    offer("-m opus", "with a key in ANTHROPIC_API_KEY; `upskill models` lists other models");
  }
  offer("-m MODEL --base-url http://localhost:8080/v1", "with a server on this machine, such as llama-server");
  return offers;
}

Status CheckStart(const GenerateCommandOptions& options, const Env& env) {
  if (options.task.empty() && options.from.empty() && options.tools.empty() && options.docs.empty())
    return NothingToStartFrom();
  return options.model.empty() ? InputError("writing a skill needs a teacher model" + TeacherOffers(options, env))
                               : Status();
}

Status ResumePrompts(std::optional<Prompts> stored, GenerateSession& session) {
  std::vector<std::string>& told = session.sources.told;
  if (!stored) {
    told.emplace_back("prompts  the generation is from a version that didn't store them: its teacher is asked again");
  } else if (stored->Hash() != BuiltInPrompts().Hash()) {
    told.push_back(
        fmt::format("prompts  those that the generation was started with (SHA-256 {}), not the built-in ones",
                    stored->Hash().substr(0, 12)));
  }
  if (stored) session.prompts = *std::move(stored);
  if (session.options.prompts.empty()) return {};
  ASSIGN_OR_RETURN(const Prompts given, Prompts::FromFolder(session.options.prompts));
  if (given.Hash() == session.prompts.Hash()) return {};
  return InputError("the generation was started with other prompts: leave --prompts out, or start a new generation");
}

}  // namespace upskill
