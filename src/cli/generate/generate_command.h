// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "model/chat.h"
#include "teach/choice.h"
#include "teach/generate.h"

namespace CLI {
class App;
}

namespace upskill {

struct GenerateCommandOptions {
  GenerateOptions how;
  std::string task;
  std::vector<std::string> from;         // traces, folders of traces, `latest`, runs, or one skill folder to improve
  std::vector<std::string> examples;     // "input -> output"
  std::vector<std::string> tools;        // FILE#NAME, mcp:COMMAND#NAME or mcp:URL#NAME
  std::vector<std::string> mcp_env;      // NAME or NAME=VALUE, for the servers of `tools`; never stored
  std::vector<std::string> mcp_headers;  // NAME: VALUE, for those at URLs; never stored
  double mcp_timeout_seconds = 120.0;    // for one of them to list its tools: npx and uvx fetch it first
  std::vector<std::string> docs;
  std::string model;
  std::string test_gen_model;
  std::string prompts;  // folder with prompts in place of built-in ones; may be empty
  std::vector<std::string> eval_models;
  std::vector<std::string> base_urls;       // for the teacher
  std::vector<std::string> eval_base_urls;  // for the students
  std::string tests;
  std::string output;
  std::string skills_dir;      // of the configuration: where the skill goes without `output`
  bool overwrite = false;      // another skill may be replaced
  std::size_t max_parts = 16;  // in which a teacher reads traces that don't fit into one request
  bool no_eval = false;
  bool no_critique = false;
  std::optional<int> max_attempts;         // absent: the configuration's
  int max_tokens = Sampling().max_tokens;  // of a student's answer
  std::optional<double> temperature;
  std::string accept = "not-worse";
  double accept_margin_points = 100.0 * kAcceptMargin;
  std::string runs_dir;
  std::string resume;
  bool log_runs = true;
  bool no_ledger = false;
  bool dry_run = false;
  bool no_redact = false;
  bool strict = false;
  bool keep_emails = false;  // of traces and documents
  bool hide_home = false;
  bool json = false;
  bool quiet = false;
  int parallel = 0;
  ColorMode color = ColorMode::kAuto;
  std::set<std::string> given;  // names of the options that this command line has: "--runs", "TASK"
};

void AddGenerateCommand(CLI::App& app, GenerateCommandOptions& options);

}  // namespace upskill
