// SPDX-License-Identifier: Apache-2.0
#include "util/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <new>
#include <sstream>
#include <stdexcept>

#include "util/json_builder.h"
#include "util/text.h"

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

class Converter {
 public:
  explicit Converter(std::size_t most) : left_(most) {}

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
    return FindInvalidUtf8(text) ? ReplaceInvalidUtf8(text) : text;
  }

  void Spend(std::size_t bytes) {
    if (bytes > left_) throw std::length_error("its aliases expand to more than ten times its size");
    left_ -= bytes;
  }

  std::size_t left_;
  std::size_t values_ = 0;
};

}  // namespace

Result<Json> ParseYaml(const std::string& text, const std::string& name) {
  try {
    CheckCountOfValues(text);
    return Converter(10 * text.size() + 1024).Convert(YAML::Load(text), 0);
  } catch (const YAML::Exception& error) {
    return InputError(
        fmt::format("{}:{}:{}: not YAML: {}", name, error.mark.line + 1, error.mark.column + 1, error.msg));
  } catch (const std::bad_alloc&) {
    return InputError(fmt::format("{}: too large for the available memory", name));
  } catch (const std::exception& error) {
    return InputError(fmt::format("{}: {}", name, error.what()));
  }
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
