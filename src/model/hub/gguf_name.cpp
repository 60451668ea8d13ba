// SPDX-License-Identifier: Apache-2.0
#include "model/hub/gguf_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxNamePart = 96;  // the Hub's own limit
constexpr std::size_t kMaxQuant = 200;
constexpr std::size_t kMaxSplitFiles = 4096;
constexpr std::size_t kMaxShown = 40;
constexpr std::size_t kShownColumns = 120;

bool IsNamePart(std::string_view part) {
  if (part.empty() || part.size() > kMaxNamePart || part.find("--") != std::string_view::npos ||
      part.find("..") != std::string_view::npos) {
    return false;
  }
  for (const char end : {part.front(), part.back()}) {
    if (end == '-' || end == '.') return false;
  }
  return std::all_of(part.begin(), part.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.');
  });
}

std::string_view BaseName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// A path without `.gguf` and `-00001-of-00003`, in lower case.
struct SplitName {
  std::string stem;
  std::size_t part = 1;
  std::size_t parts = 1;
};

std::optional<SplitName> TakeApart(const std::string& path) {
  constexpr std::string_view kEnding = ".gguf";
  SplitName name{ToLowerAscii(path)};
  if (!name.stem.ends_with(kEnding)) return std::nullopt;
  name.stem.resize(name.stem.size() - kEnding.size());
  const std::string_view shape = "-#####-of-#####";
  if (name.stem.size() <= shape.size()) return name;
  const std::string_view tail = std::string_view(name.stem).substr(name.stem.size() - shape.size());
  const auto fits = [](char c, char wanted) { return wanted == '#' ? IsAsciiDigit(c) : c == wanted; };
  if (!std::equal(tail.begin(), tail.end(), shape.begin(), fits)) return name;
  name.part = std::stoul(std::string(tail.substr(1, 5)));
  name.parts = std::stoul(std::string(tail.substr(10)));
  if (name.part < 1 || name.part > name.parts || name.parts > kMaxSplitFiles) return std::nullopt;
  name.stem.resize(name.stem.size() - shape.size());
  return name;
}

bool IsModel(std::string_view path) {
  const std::string base = ToLowerAscii(BaseName(path));
  constexpr std::array kOthers = {"mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-"};
  return std::none_of(kOthers.begin(), kOthers.end(),
                      [&](const char* mark) { return base.find(mark) != std::string::npos; });
}

// Whether a word of a file name, in upper case, is a quantization or number format of llama.cpp.
bool IsQuant(std::string_view word) {
  for (const std::string_view whole : {"F16", "F32", "F64", "BF16", "FP16", "FP32"}) {
    if (word == whole) return true;
  }
  for (const std::string_view start : {"MXFP", "NVFP", "IQ", "TQ", "Q"}) {
    if (word.starts_with(start)) return word.size() > start.size() && IsAsciiDigit(word[start.size()]);
  }
  return false;
}

std::string ToUpperAscii(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

// The quantization at the end of a file's or folder's name, or nothing.
std::string QuantAtEnd(std::string_view name) {
  const std::size_t mark = name.find_last_of("-.");
  const std::size_t start = mark == std::string_view::npos ? 0 : mark + 1;
  const std::string word = ToUpperAscii(name.substr(start));
  if (!IsQuant(word)) return {};
  const std::string before = ToUpperAscii(name.substr(0, start));
  return before == "UD-" || before.ends_with("-UD-") ? "UD-" + word : word;
}

std::string QuantOf(std::string_view stem) {
  std::string quant = QuantAtEnd(BaseName(stem));
  if (!quant.empty() || stem.find('/') == std::string_view::npos) return quant;
  return QuantAtEnd(BaseName(stem.substr(0, stem.rfind('/'))));
}

bool Fits(const GgufModel& model, std::string_view wanted) {
  if (wanted.ends_with(".gguf")) {
    const std::string path = ToLowerAscii(model.shown());
    return path == wanted || BaseName(path) == wanted;
  }
  const std::optional<SplitName> name = TakeApart(model.shown());
  if (!name) return false;
  std::string_view folders = name->stem;
  const std::string_view base = BaseName(folders);
  folders.remove_suffix(base.size());
  if (base.ends_with(wanted)) {
    const std::string_view before = base.substr(0, base.size() - wanted.size());
    if (before.empty() || before.ends_with('-') || before.ends_with('.')) return true;
  }
  return ("/" + std::string(folders)).find(fmt::format("/{}/", wanted)) != std::string::npos;
}

std::vector<GgufModel> Fitting(const std::vector<GgufModel>& models, const std::string& quant) {
  std::vector<GgufModel> fitting;
  const std::string wanted = ToLowerAscii(quant);
  std::copy_if(models.begin(), models.end(), std::back_inserter(fitting),
               [&](const GgufModel& model) { return Fits(model, wanted); });
  return fitting;
}

// "Q4_K_M, Q8_0": quantizations if each identifies one model, else file names.
std::string Names(const std::vector<GgufModel>& models) {
  std::map<std::string, int> count;
  for (const GgufModel& model : models) ++count[model.quant];
  std::set<std::string> names;
  for (const GgufModel& model : models) {
    const bool by_quant = !model.quant.empty() && count[model.quant] == 1;
    names.insert(by_quant ? model.quant : std::string(BaseName(model.shown())));
  }
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kMaxShown) return text + fmt::format(" and {} more", names.size() - kMaxShown);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ExcerptLine(name, kShownColumns));
  }
  return text;
}

Error Ambiguous(const std::vector<GgufModel>& models, const GgufName& name) {
  return InputError(fmt::format("{}: {} GGUF files match; name one of them after the colon ({}:…): {}", name.text(),
                                models.size(), name.repo, Names(models)));
}

}  // namespace

Result<GgufName> ParseGgufName(const std::string& text) {
  const auto invalid = [&](const std::string& why) {
    return InputError(
        fmt::format("'{}' {}; models of the Hugging Face Hub are named org/repo:QUANT", ExcerptLine(text, 200), why));
  };
  const std::size_t colon = text.find(':');
  GgufName name{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const std::size_t slash = name.repo.find('/');
  if (slash == std::string::npos || !IsNamePart(std::string_view(name.repo).substr(0, slash)) ||
      !IsNamePart(std::string_view(name.repo).substr(slash + 1))) {
    return invalid("doesn't name a repository");
  }
  if (ToLowerAscii(name.repo).ends_with(".gguf")) return invalid("is a file name");
  if (name.repo.ends_with(".git")) return invalid("doesn't name a repository");
  if (colon != std::string::npos && name.quant.empty()) return invalid("has nothing after the colon");
  const bool clean =
      std::all_of(name.quant.begin(), name.quant.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7F; });
  if (!clean || name.quant.size() > kMaxQuant) return invalid("has no valid quantization after the colon");
  return name;
}

std::vector<GgufModel> GgufModelsIn(const std::vector<std::string>& files) {
  std::map<std::pair<std::string, std::size_t>, std::map<std::size_t, std::string>> parts_of;
  for (const std::string& path : files) {
    if (!IsModel(path)) continue;
    const std::optional<SplitName> name = TakeApart(path);
    if (!name) continue;
    // Of names that differ only in their case, the same one whatever the order of the files.
    const auto [place, is_new] = parts_of[{name->stem, name->parts}].emplace(name->part, path);
    if (!is_new) place->second = std::min(place->second, path);
  }
  std::vector<GgufModel> list;
  list.reserve(parts_of.size());
  for (auto& [key, parts] : parts_of) {
    GgufModel model{QuantOf(key.first), {}, key.second, 0};
    model.parts.reserve(parts.size());
    for (auto& [number, path] : parts) {
      model.parts.push_back(std::move(path));
      if (model.missing == 0 && number != model.parts.size()) model.missing = model.parts.size();
    }
    if (model.missing == 0 && parts.size() < model.part_count) model.missing = parts.size() + 1;
    list.push_back(std::move(model));
  }
  return list;
}

Result<GgufModel> ChooseGguf(const std::vector<std::string>& files, const GgufName& name) {
  const std::vector<GgufModel> models = GgufModelsIn(files);
  if (models.empty()) return Error{ErrorKind::kNotFound, fmt::format("{} has no GGUF file", name.repo)};
  std::vector<GgufModel> fitting;
  if (name.quant.empty()) {
    for (const char* usual : {"Q4_K_M", "Q8_0"}) {
      if (fitting.empty()) fitting = Fitting(models, usual);
    }
    if (fitting.empty()) fitting = models;
  } else {
    fitting = Fitting(models, name.quant);
  }
  if (fitting.empty()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{} has no GGUF file '{}'; available: {}", name.repo, name.quant, Names(models))};
  }
  if (fitting.size() > 1) return Ambiguous(fitting, name);
  const GgufModel& chosen = fitting.front();
  if (chosen.missing > 0) {
    return Error{ErrorKind::kNotFound, fmt::format("{}: part {} of {} is missing next to {}", name.repo, chosen.missing,
                                                   chosen.part_count, ExcerptLine(chosen.shown(), kShownColumns))};
  }
  return chosen;
}

}  // namespace upskill
