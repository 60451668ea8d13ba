// SPDX-License-Identifier: Apache-2.0
#include "model/sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "util/fences.h"
#include "util/rng.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

using SteadyClock = std::chrono::steady_clock;

Result<double> ParseNumber(std::string_view key, std::string_view text, double low, double high) {
  double number = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool in_range = number >= low && number <= high;  // false for NaN, too
  if (code != std::errc() || end != text.data() + text.size() || !in_range) {
    return InputError(fmt::format("sim: {}={} is not a number from {} to {}", key, text, low, high));
  }
  return number;
}

Result<double> WholeSetting(std::string_view key, std::string_view text, double high) {
  ASSIGN_OR_RETURN(const double number, ParseNumber(key, text, 0.0, high));
  if (number != std::floor(number)) {
    return InputError(fmt::format("sim: {}={} is not a whole number from 0 to {}", key, text, high));
  }
  return number;
}

// The pass rate that a skill's text claims for a request (SimSettings::skill_in_body).
double ChanceInBody(std::string_view system, std::string_view request, double base) {
  constexpr std::string_view kMark = "[sim ";
  double best = -1.0;
  std::size_t at = system.find("<skill ");
  while (at != std::string_view::npos && (at = system.find(kMark, at)) != std::string_view::npos) {
    at += kMark.size();
    const std::size_t end = system.find(']', at);
    if (end == std::string_view::npos) break;
    const std::string_view mark = system.substr(at, end - at);
    const std::size_t colon = mark.find(':');
    const std::string_view words = colon == std::string_view::npos ? std::string_view() : Trim(mark.substr(colon + 1));
    const Result<double> chance = ParseNumber("skill", Trim(mark.substr(0, colon)), 0.0, 1.0);
    if (chance && request.find(words) != std::string_view::npos) best = std::max(best, *chance);
  }
  return best < 0 ? base : best;
}

// The student's settings with those that a case's message contains.
Result<SimSettings> SettingsForCase(const SimSettings& settings, std::string_view message) {
  constexpr std::string_view kMark = "[sim ";
  const std::size_t at = message.find(kMark);
  if (at == std::string_view::npos) return settings;
  const std::string_view rest = message.substr(at + kMark.size());
  const std::string_view mark = Trim(rest.substr(0, rest.find(']')));
  return mark.find('=') == std::string_view::npos ? settings : ParseSimSettings(mark, settings);
}

// The probability that an answer in this arm and round passes.
double ChanceIn(const SimSettings& settings, const std::string& arm, const ChatRequest& request,
                std::string_view message) {
  double chance = settings.base;
  if (arm == "skill" || arm == "previous") {
    chance = settings.skill_in_body ? ChanceInBody(request.system, message, settings.base)
             : arm == "skill"       ? settings.skill
                                    : settings.base;
  }
  if (request.system.find(fmt::format("<skill name=\"{}\">", kReferenceSkill)) != std::string::npos)
    chance = settings.reference;
  if (arm == "placebo" && settings.placebo >= 0) chance = settings.placebo;
  if (arm == "previous" && settings.previous >= 0) chance = settings.previous;
  const auto round = JsonGet<std::int64_t>(request.simulation, "round", 0);
  return std::clamp(chance + settings.drift * static_cast<double>(round), 0.0, 1.0);
}

// The text of the first element of this name at or after `at`, which moves behind it; nothing if there is none.
std::optional<std::string> NextElement(const std::string& text, std::string_view name, std::size_t& at) {
  const std::string tag = fmt::format("<{}>", name);
  const std::size_t begin = text.find(tag, at);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t from = begin + tag.size();
  const std::size_t end = std::min(text.find(fmt::format("</{}>", name), from), text.size());
  at = end;
  return text.substr(from, end - from);
}

// The words of a text that say what it is about, in lowercase and without the plural's s.
std::set<std::string> WordsOf(std::string_view text) {
  constexpr std::size_t kShortest = 4;
  std::set<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + ' ') {
    if (c >= 'a' && c <= 'z') {
      word += c;
      continue;
    }
    if (word.ends_with('s')) word.pop_back();
    if (word.size() >= kShortest) words.insert(word);
    word.clear();
  }
  return words;
}

// Where the system prompt says that a skill can be read; empty: nowhere. Of several skills, the one that has the most
// words in common with the request, and none that has fewer than two.
std::string SkillLocation(const ChatRequest& request) {
  constexpr std::size_t kFewest = 2;
  std::vector<std::pair<std::size_t, std::string>> found;  // words in common, location
  const std::set<std::string> asked =
      WordsOf(request.messages.empty() ? std::string_view() : std::string_view(request.messages.front().text));
  std::size_t at = 0;
  while (const std::optional<std::string> description = NextElement(request.system, "description", at)) {
    const std::set<std::string> words = WordsOf(*description);
    const auto common =
        std::count_if(words.begin(), words.end(), [&](const auto& word) { return asked.contains(word); });
    found.emplace_back(common, NextElement(request.system, "location", at).value_or(""));
  }
  if (found.empty()) return "";
  if (found.size() == 1 && !JsonGet(request.simulation, "chooses", false)) return found.front().second;
  const auto best =
      std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return best->first < kFewest ? "" : best->second;
}

void AddSimCall(ChatResponse& response, const std::string& name, const Json& arguments) {
  response.tool_calls.push_back(
      {fmt::format("call-{}", response.tool_calls.size() + 1), name, arguments, DumpJson(arguments)});
  response.stop = StopReason::kToolUse;
}

// Calls to write the blocks of an answer that come with a file's name.
void AddWrites(const std::string& answer, ChatResponse& response) {
  for (const FencedBlock& block : FindFencedBlocks(answer)) {
    const std::string_view name = block.info.substr(block.info.rfind(' ') + 1);
    if (name.find('.') != std::string_view::npos)
      AddSimCall(response, "write_file", {{"path", std::string(name)}, {"content", block.content}});
  }
}

// The next turn in a workspace.
Result<ChatResponse> Act(const SimSettings& settings, const ChatRequest& request, bool passes, bool reads) {
  std::size_t turn = static_cast<std::size_t>(std::count_if(
      request.messages.begin(), request.messages.end(), [](const Message& m) { return m.role == Role::kAssistant; }));
  const std::string answer = JsonGet<std::string>(request.simulation, "passing_answer", "");
  ChatResponse response;
  const std::string location = SkillLocation(request);
  const bool begins_with_skill = !location.empty() && reads;
  if (begins_with_skill && turn == 0) AddSimCall(response, "read_file", {{"path", location}});
  if (begins_with_skill && turn > 0) --turn;
  if (response.tool_calls.empty() && turn == 0 && passes) AddWrites(answer, response);
  if (response.tool_calls.empty() && turn == 0 && !passes) AddSimCall(response, "list_files", Json::object());
  if (response.tool_calls.empty()) response.text = passes && !answer.empty() ? answer : "I do not know.";
  std::size_t prompt = EstimateTokens(request.system);
  for (const Message& message : request.messages) {
    prompt += EstimateTokens(message.text);
    for (const ToolResult& result : message.tool_results) prompt += EstimateTokens(result.text);
  }
  response.usage.input = static_cast<std::int64_t>(prompt);
  response.usage.output = 1 + static_cast<std::int64_t>(EstimateTokens(response.text));
  for (const ToolCall& call : response.tool_calls)
    response.usage.output += static_cast<std::int64_t>(EstimateTokens(call.raw_arguments));
  response.seconds = settings.latency_ms / 1000.0;
  response.cost_usd = settings.cost_usd;
  return response;
}

// The outcome of one attempt, drawn from the settings and the request alone.
Result<ChatResponse> Answer(const SimSettings& of_student, const ChatRequest& request) {
  const std::string arm = JsonGet<std::string>(request.simulation, "arm", "baseline");
  const auto attempt = JsonGet<std::int64_t>(request.simulation, "attempt", 0);
  const bool acts = !request.tools.empty();
  std::string text_of_messages;
  for (const Message& message : request.messages) {
    text_of_messages += message.text + "\n";
    if (acts) break;  // later ones are the tools' results
  }
  const Result<SimSettings> of_case = SettingsForCase(of_student, text_of_messages);
  if (!of_case) return Error{ErrorKind::kPermanent, "settings in a case: " + of_case.error().message};
  const SimSettings& settings = *of_case;
  const std::uint64_t base_seed = settings.seed * 0x9E3779B97F4A7C15ULL + request.sampling.seed;
  Rng error_rng(base_seed ^ SeedFromText(fmt::format("error {} {} {}", attempt, arm, text_of_messages)));
  if (error_rng.Uniform() < (arm == "skill" && settings.skill_error >= 0 ? settings.skill_error : settings.error)) {
    return Error{ErrorKind::kUnavailable, "sim: simulated error"}.Because(ErrorCause::kOverloaded);
  }
  const std::string draw = settings.lost > 0.0 ? fmt::format("{} {} ", arm, attempt) : arm + " ";
  Rng rng(base_seed ^ SeedFromText(draw + text_of_messages));
  ChatResponse response;
  const double drawn = rng.Uniform();
  const bool reads = !acts || SkillLocation(request).empty() || rng.Uniform() < settings.reach;
  const bool passes = drawn < (reads ? ChanceIn(settings, arm, request, text_of_messages) : settings.base);
  if (!passes && arm == "skill" && error_rng.Uniform() < settings.lost)
    return Error{ErrorKind::kUnavailable, "sim: simulated timeout"}.Because(ErrorCause::kTimeout);
  if (acts) return Act(settings, request, passes, reads);
  if (passes) {
    response.text = JsonGet<std::string>(request.simulation, "passing_answer", "");
    if (response.text.empty()) {
      return Error{ErrorKind::kPermanent, "sim: no passing answer is known for this case; add a \"reference\" to it"};
    }
  } else {
    response.text = "I do not know.";
  }
  response.usage.input = static_cast<std::int64_t>(EstimateTokens(request.system) + EstimateTokens(text_of_messages));
  response.usage.output = static_cast<std::int64_t>(EstimateTokens(response.text));
  response.seconds = settings.latency_ms / 1000.0;
  response.cost_usd = settings.cost_usd;
  return response;
}

class SimModel : public Model {
 public:
  SimModel(SimSettings settings, ModelInfo info, int window)
      : settings_(settings),
        info_(std::move(info)),
        window_(window),
        thread_([this](const std::stop_token& stop) { Work(stop); }) {}

  SimModel(const SimModel&) = delete;
  SimModel& operator=(const SimModel&) = delete;
  ~SimModel() override {
    SimModel::Cancel(CancelScope::kRunning);
    thread_.request_stop();
    wake_.notify_all();
  }

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return window_; }

  void Start(ChatRequest request, Done done) override {
    const auto due = SteadyClock::now() + std::chrono::milliseconds(settings_.latency_ms);
    {
      const std::lock_guard lock(mutex_);
      due_.emplace(due, Pending{std::move(request), std::move(done)});
    }
    wake_.notify_all();
  }

  void Cancel(CancelScope scope) override {
    // Every request is in flight from the start, so kWaiting affects none.
    if (scope == CancelScope::kWaiting) return;
    std::multimap<SteadyClock::time_point, Pending> dropped;
    {
      const std::lock_guard lock(mutex_);
      dropped.swap(due_);
    }
    for (auto& [time, pending] : dropped) pending.done(Error{ErrorKind::kCancelled, "cancelled"});
  }

 private:
  struct Pending {
    ChatRequest request;
    Done done;
  };

  void Work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (due_.empty()) {
        wake_.wait(lock, stop, [this] { return !due_.empty(); });
        continue;
      }
      const auto next = due_.begin()->first;
      if (next > SteadyClock::now()) {
        wake_.wait_until(lock, stop, next, [this, next] { return due_.empty() || due_.begin()->first < next; });
        continue;
      }
      const Pending pending = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      lock.unlock();
      pending.done(Answer(settings_, pending.request));
      lock.lock();
    }
  }

  const SimSettings settings_;
  const ModelInfo info_;
  const int window_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::multimap<SteadyClock::time_point, Pending> due_;  // guarded by mutex_
  std::jthread thread_;                                  // last: uses everything above
};

}  // namespace

Result<SimSettings> ParseSimSettings(std::string_view text, const SimSettings& from) {
  SimSettings settings = from;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = pair.find('=');
    const std::string_view key = pair.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    double* target = nullptr;
    if (key == "base") target = &settings.base;
    if (key == "skill") target = &settings.skill;
    if (key == "placebo") target = &settings.placebo;
    if (key == "previous") target = &settings.previous;
    if (key == "reference") target = &settings.reference;
    if (key == "error") target = &settings.error;
    if (key == "skill-error") target = &settings.skill_error;
    if (key == "lost") target = &settings.lost;
    if (key == "reach") target = &settings.reach;
    if (key == "skill" && value == "body") {
      settings.skill_in_body = true;
    } else if (target != nullptr) {
      ASSIGN_OR_RETURN(*target, ParseNumber(key, value, 0.0, 1.0));
      if (key == "skill") settings.skill_in_body = false;
    } else if (key == "drift") {
      ASSIGN_OR_RETURN(settings.drift, ParseNumber(key, value, -1.0, 1.0));
    } else if (key == "seed") {
      ASSIGN_OR_RETURN(const double seed, WholeSetting(key, value, 9e15));
      settings.seed = static_cast<std::uint64_t>(seed);
    } else if (key == "cost") {
      ASSIGN_OR_RETURN(settings.cost_usd, ParseNumber(key, value, 0.0, 1e6));
    } else if (key == "latency-ms") {
      ASSIGN_OR_RETURN(const double latency, WholeSetting(key, value, 3.6e6));
      settings.latency_ms = static_cast<int>(latency);
    } else {
      std::vector<std::string_view> names;
      names.reserve(kSimSettings.size());
      for (const SimSetting& setting : kSimSettings) names.push_back(setting.name);
      return InputError(fmt::format("sim: unknown setting '{}'; expected one of: {}", key, fmt::join(names, ", ")));
    }
  }
  return settings;
}

Result<std::unique_ptr<Model>> MakeSimModel(const std::string& settings, int window) {
  ASSIGN_OR_RETURN(const SimSettings parsed, ParseSimSettings(settings));
  ModelInfo info;
  info.name = "sim:" + settings;
  info.identity = "sim:1:" + settings;
  info.detail = "simulated, no model behind it";
  info.local = true;
  info.takes_tools = true;
  info.price = Price{};
  info.price->request = parsed.cost_usd;
  return std::unique_ptr<Model>(std::make_unique<SimModel>(parsed, std::move(info), window));
}

}  // namespace upskill
