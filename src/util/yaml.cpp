// SPDX-License-Identifier: Apache-2.0
#include "util/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "util/json_builder.h"
#include "util/text.h"
#include "util/yaml_faults.h"

namespace upskill {
namespace {

// A node of yaml-cpp takes about 500 bytes.
constexpr std::size_t kMaxYamlValues = 300'000;

// Counts the values of a document before yaml-cpp makes nodes of them.
class ValueCounter : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {
    Count();
    ++nulls_;
  }
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override { Count(); }
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    Count();
  }
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    Count();
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    Count();
  }
  void OnMapEnd() override {}

  // Whether there is more than a null, which an empty document is.
  bool HasContent() const { return count_ > nulls_; }

 private:
  void Count() {
    if (++count_ <= kMaxYamlValues) return;
    throw std::length_error(fmt::format("too large: more than {} values, the maximum for YAML",
                                        WithThousands(static_cast<long long>(kMaxYamlValues))));
  }

  std::size_t count_ = 0;
  std::size_t nulls_ = 0;
};

void CheckCountOfValues(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  ValueCounter counter;
  parser.HandleNextDocument(counter);
}

// A number as JSON would write it, also with a leading plus, or a dot at either end of the digits.
std::optional<Json> NumberFrom(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  const bool looks_so = text.size() > digits && (text[digits] == '.' || (text[digits] >= '0' && text[digits] <= '9'));
  if (!looks_so) return std::nullopt;
  const char* const begin = std::to_address(text.begin());
  const char* const end = std::to_address(text.end());
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(begin, end, whole); read.ec == std::errc() && read.ptr == end)
    return Json(whole);
  double number = 0.0;
  const auto read = std::from_chars(begin, end, number);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number)) return std::nullopt;
  return Json(number);
}

class Converter {
 public:
  Converter(std::size_t most, YamlNumbers numbers) : left_(most), numbers_(numbers) {}

  Json Convert(const YAML::Node& node, std::size_t depth) {
    if (++values_ > JsonLimits().values) throw std::length_error("its aliases expand to too many values");
    if (depth > kMaxYamlDepth) throw std::length_error(fmt::format("nested deeper than {} levels", kMaxYamlDepth));
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return Scalar(node);
      case YAML::NodeType::Sequence: {
        JsonListBuilder list;
        for (const YAML::Node& item : node) {
          Json& value = list.Add();
          value = Convert(item, depth + 1);
        }
        Spend(1);
        return list.Take();
      }
      case YAML::NodeType::Map: {
        JsonObjectBuilder object;
        for (const auto& entry : node) {
          if (!entry.first.IsScalar()) continue;
          Spend(entry.first.Scalar().size());
          Json& value = object.Add(ReplaceInvalidUtf8(entry.first.Scalar()));
          value = Convert(entry.second, depth + 1);
        }
        Spend(1);
        return object.Take();
      }
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined:
        break;
    }
    return nullptr;
  }

 private:
  Json Scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    Spend(text.size());
    if (node.Tag() == "?" && (text == "true" || text == "True" || text == "TRUE")) return true;
    if (node.Tag() == "?" && (text == "false" || text == "False" || text == "FALSE")) return false;
    if (node.Tag() == "?" && numbers_ == YamlNumbers::kNumbers) {
      if (std::optional<Json> number = NumberFrom(text)) return *std::move(number);
    }
    return FindInvalidUtf8(text) ? ReplaceInvalidUtf8(text) : text;
  }

  void Spend(std::size_t bytes) {
    if (bytes > left_) throw std::length_error("its aliases expand to more than ten times its size");
    left_ -= bytes;
  }

  std::size_t left_;
  YamlNumbers numbers_;
  std::size_t values_ = 0;
};

}  // namespace

Result<Json> ParseYaml(const std::string& text, const std::string& name, YamlNumbers numbers) {
  try {
    if (const std::optional<YamlFault> fault = FindOpenQuote(text))
      return InputError(fmt::format("{}:{}:{}: not YAML: {}", name, fault->line, fault->column, fault->reason));
    CheckCountOfValues(text);
    return Converter(10 * text.size() + 1024, numbers).Convert(YAML::Load(text), 0);
  } catch (const YAML::Exception& error) {
    return InputError(fmt::format("{}:{}:{}: not YAML: {}", name, error.mark.line + 1, error.mark.column + 1,
                                  PlainYamlReason(error.msg)));
  } catch (const std::bad_alloc&) {
    return InputError(fmt::format("{}: too large for the available memory", name));
  } catch (const std::exception& error) {
    return InputError(fmt::format("{}: {}", name, error.what()));
  }
}

std::vector<std::size_t> YamlListLines(const std::string& text, const std::string& key) {
  std::vector<std::size_t> lines;
  try {
    CheckCountOfValues(text);
    const YAML::Node document = YAML::Load(text);
    const YAML::Node list = key.empty() ? document : document.IsMap() ? document[key] : YAML::Node();
    if (!list.IsDefined() || !list.IsSequence()) return lines;
    for (const YAML::Node& item : list) lines.push_back(static_cast<std::size_t>(std::max(item.Mark().line, 0)) + 1);
  } catch (const std::exception&) {
    lines.clear();
  }
  return lines;
}

bool HasMoreYamlDocuments(const std::string& text) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    ValueCounter first;
    if (!parser.HandleNextDocument(first)) return false;
    ValueCounter others;
    while (!others.HasContent() && parser.HandleNextDocument(others)) {
    }
    return others.HasContent();
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace upskill
