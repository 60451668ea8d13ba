// SPDX-License-Identifier: Apache-2.0
#include "trace/read/yaml_record.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <stdexcept>

#include "trace/read/record.h"
#include "trace/read/record_parser.h"
#include "util/text.h"

namespace upskill {
namespace {

class Converter {
 public:
  explicit Converter(std::size_t most) : left_(most) {}

  Json Convert(const YAML::Node& node, std::size_t depth) {
    if (depth > kMaxRecordDepth) throw std::length_error(fmt::format("nested deeper than {} levels", kMaxRecordDepth));
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return Scalar(node);
      case YAML::NodeType::Sequence: {
        Json list = Json::array();
        for (const YAML::Node& item : node) list.push_back(Convert(item, depth + 1));
        Spend(1);
        return list;
      }
      case YAML::NodeType::Map: {
        Json object = Json::object();
        for (const auto& entry : node) {
          if (!entry.first.IsScalar()) continue;
          Spend(entry.first.Scalar().size());
          object[ReplaceInvalidUtf8(entry.first.Scalar())] = Convert(entry.second, depth + 1);
        }
        Spend(1);
        return object;
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
    if (node.Tag() == "?" && (text == "true" || text == "false")) return text == "true";
    return FindInvalidUtf8(text) ? ReplaceInvalidUtf8(text) : text;
  }

  void Spend(std::size_t bytes) {
    if (bytes > left_) throw std::length_error("its aliases expand to more than the size of the file");
    left_ -= bytes;
  }

  std::size_t left_;
};

}  // namespace

Result<Json> ParseYamlRecord(const std::string& text, const std::string& name) {
  try {
    return Converter(text.size() + 1024).Convert(YAML::Load(text), 0);
  } catch (const YAML::Exception& error) {
    return InputError(
        fmt::format("{}:{}:{}: not YAML: {}", name, error.mark.line + 1, error.mark.column + 1, error.msg));
  } catch (const std::exception& error) {
    return InputError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace upskill
