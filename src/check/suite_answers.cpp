// SPDX-License-Identifier: Apache-2.0
#include "check/suite_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "check/answer_files.h"
#include "util/fences.h"
#include "util/files.h"
#include "util/json.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

constexpr std::size_t kMaxAnswerBytes = std::size_t{8} << 20U;
constexpr std::string_view kReference = "reference";
constexpr std::string_view kWrong = "wrong-";
constexpr std::string_view kFails = "fails:";

Error Unexpected(const fs::path& path, std::string_view why) {
  return InputError(
      fmt::format("{}: {}; expected reference.md, reference/, wrong-NAME.md, wrong-NAME/ or "
                  "wrong-NAME.txt",
                  path.string(), why));
}

// What a link leads to may be none of the suite's business, and is shown when a check fails.
Error LinkedAnswer(const fs::path& path) {
  return InputError(fmt::format("{} is a symbolic link; put the answer itself there", path.string()));
}

// All regular files below the folder; links aren't followed.
Result<Files> FilesBelow(const fs::path& folder) {
  Files files;
  std::size_t bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    if (!entry->is_regular_file(code) || entry->is_symlink(code)) continue;
    const std::string name = entry->path().lexically_relative(folder).generic_string();
    ASSIGN_OR_RETURN(std::string content, ReadFile(entry->path()));
    bytes += content.size();
    if (files.size() == kMaxAnswerFiles || bytes > kMaxAnswerBytes)
      return InputError(fmt::format("{}: more than {} files or 8 MiB in an answer", folder.string(), kMaxAnswerFiles));
    files.emplace(name, std::move(content));
  }
  if (code) return ErrnoError("reading", folder.string(), code.value());
  if (files.empty()) return InputError(fmt::format("{}: no files", folder.string()));
  return files;
}

// The answer that delivers the files of a folder. Error: an answer can't deliver one of them, because of its name.
Result<std::string> AnswerOfFolder(const fs::path& folder, const Files& files) {
  std::string answer = AnswerWithFiles(files);
  const Files delivered = AnswerFiles(answer);
  for (const auto& [name, content] : files) {
    if (!delivered.contains(name))
      return InputError(
          fmt::format("{}: an answer can't deliver the file {}: a name has an extension and no blanks, or is "
                      "Makefile or the like; put it into the case's \"context\" or into a check's \"files\"",
                      folder.string(), ExcerptLine(name, 80)));
  }
  return answer;
}

// The text after "fails:" in the line.
std::string FailsIn(std::string_view line) {
  line = Trim(line);
  if (line.starts_with("<!--"))
    line = Trim(line.substr(4, line.find("-->") == std::string_view::npos ? line.size() : line.find("-->") - 4));
  return line.starts_with(kFails) ? std::string(Trim(line.substr(kFails.size()))) : "";
}

// The entries of a case's folder.
class CaseFolder {
 public:
  explicit CaseFolder(fs::path path) : path_(std::move(path)) {}

  Status Read(AnswersOfCase& answers) {
    RETURN_IF_ERROR(ReadNames());
    if (std::error_code code; fs::is_directory(path_ / kReference, code)) {
      ASSIGN_OR_RETURN(reference_, FilesBelow(path_ / kReference));
      ASSIGN_OR_RETURN(std::string answer, AnswerOfFolder(path_ / kReference, reference_));
      answers.right.emplace_back("reference/", std::move(answer));
    }
    for (const std::string& name : names_) RETURN_IF_ERROR(ReadEntry(name, answers));
    return {};
  }

 private:
  Status ReadNames() {
    std::error_code code;
    for (fs::directory_iterator entry(path_, code), end; !code && entry != end; entry.increment(code))
      names_.push_back(entry->path().filename().string());
    if (code) return ErrnoError("reading", path_.string(), code.value());
    std::sort(names_.begin(), names_.end());
    return {};
  }

  Status ReadEntry(const std::string& name, AnswersOfCase& answers) {
    const fs::path path = path_ / name;
    std::error_code code;
    if (fs::is_symlink(path, code)) return LinkedAnswer(path);
    const bool folder = fs::is_directory(path, code);
    if (name == "reference.md") {
      ASSIGN_OR_RETURN(std::string text, ReadFile(path));
      answers.right.emplace_back(name, std::move(text));
      return {};
    }
    if (folder && name == kReference) return {};
    if (!name.starts_with(kWrong) || name.size() == kWrong.size()) return Unexpected(path, "unknown name");
    if (!folder && name.ends_with(".txt")) return {};  // read with the answer that it is about
    if (!folder && !name.ends_with(".md")) return Unexpected(path, "unknown kind of file");
    WrongAnswer wrong;
    wrong.name = folder ? name : name.substr(0, name.size() - 3);
    RETURN_IF_ERROR(folder ? ReadVariant(path, wrong) : ReadText(path, wrong));
    if (const fs::path note = path_ / (wrong.name + ".txt"); fs::exists(note, code)) {
      ASSIGN_OR_RETURN(const std::string text, ReadFile(note));
      for (const std::string_view line : SplitLines(text)) {
        if (std::string fails = FailsIn(line); !fails.empty()) wrong.fails = std::move(fails);
      }
      if (wrong.fails.empty()) return InputError(fmt::format("{}: no line \"fails: TEXT\"", note.string()));
    }
    answers.wrong.push_back(std::move(wrong));
    return {};
  }

  // The reference with other files; an empty one is left out.
  Status ReadVariant(const fs::path& path, WrongAnswer& wrong) const {
    ASSIGN_OR_RETURN(const Files changed, FilesBelow(path));
    Files files = reference_;
    for (const auto& [name, content] : changed) {
      if (content.empty()) {
        files.erase(name);
      } else {
        files[name] = content;
      }
    }
    if (files == reference_) return InputError(fmt::format("{}: the same as the reference", path.string()));
    ASSIGN_OR_RETURN(wrong.text, AnswerOfFolder(path, files));
    return {};
  }

  static Status ReadText(const fs::path& path, WrongAnswer& wrong) {
    ASSIGN_OR_RETURN(wrong.text, ReadFile(path));
    wrong.fails = FailsIn(wrong.text.substr(0, wrong.text.find('\n')));
    return {};
  }

  fs::path path_;
  std::vector<std::string> names_;
  Files reference_;
};

// "tests.json:3: case 1 ("colour"): "wrong" entry 2: …".
Error BadWrong(const Case& test_case, std::size_t entry, const std::string& why) {
  const std::string place = test_case.place.empty() ? fmt::format("case \"{}\"", test_case.id) : test_case.place;
  return InputError(fmt::format(
      "{}: \"wrong\" entry {}: {}; an entry is {{\"name\": …, \"answer\": …, \"fails\": …}}, "
      "of which \"name\" and \"fails\" are optional; \"replace\" and \"with\" in place of \"answer\" change "
      "one place of the reference",
      place, entry, why));
}

// The case's reference with another text in one place.
Result<std::string> ReplacedReference(const Case& test_case, std::size_t number, const Json& item) {
  const std::string before = JsonGet<std::string>(item, "replace", "");
  std::string text = test_case.reference;
  const std::size_t at = text.find(before);
  if (at == std::string::npos || text.find(before, at + 1) != std::string::npos || !item.contains("with"))
    return BadWrong(test_case, number,
                    "\"replace\" must be a text that the reference has once, and \"with\" must be given");
  return text.replace(at, before.size(), JsonGet<std::string>(item, "with", ""));
}

Status ReadWrongOfCase(const Case& test_case, AnswersOfCase& answers) {
  const Json* const list = FindMember(test_case.raw, "wrong");
  if (list == nullptr) return {};
  if (!list->is_array()) return BadWrong(test_case, 1, "\"wrong\" is " + JsonTypeName(*list) + ", not a list");
  std::size_t number = 0;
  for (const Json& item : *list) {
    ++number;
    if (!item.is_object()) return BadWrong(test_case, number, "it is " + JsonTypeName(item));
    for (const auto& member : item.items()) {
      static constexpr std::array<std::string_view, 5> kKeys = {"name", "fails", "answer", "replace", "with"};
      if (!IsOneOf(member.key(), kKeys))
        return BadWrong(test_case, number, fmt::format("unknown key \"{}\"", ExcerptLine(member.key(), 60)));
      if (!member.value().is_string() ||
          (member.key() != "answer" && member.key() != "with" && Trim(member.value().get<std::string>()).empty()))
        return BadWrong(test_case, number, fmt::format("\"{}\" must be a text", member.key()));
    }
    if (item.contains("answer") == item.contains("replace"))
      return BadWrong(test_case, number, "it must have either \"answer\" or \"replace\"");
    std::string text = JsonGet<std::string>(item, "answer", "");
    if (item.contains("replace")) {
      ASSIGN_OR_RETURN(text, ReplacedReference(test_case, number, item));
    }
    std::string name = JsonGet<std::string>(item, "name", fmt::format("wrong {}", number));
    const bool taken = std::any_of(answers.wrong.begin(), answers.wrong.end(),
                                   [&](const WrongAnswer& other) { return other.name == name; });
    if (taken) return BadWrong(test_case, number, fmt::format("\"{}\" is the name of another one", name));
    answers.wrong.push_back({std::move(name), std::move(text), JsonGet<std::string>(item, "fails", "")});
  }
  return {};
}

}  // namespace

std::string AnswerWithFiles(const Files& files) {
  std::string answer;
  for (const auto& [name, content] : files) {
    const std::string fence = FenceFor(content);
    answer += fmt::format("`{}`:\n\n{}\n{}{}{}\n\n", name, fence, content, content.ends_with('\n') ? "" : "\n", fence);
  }
  return answer;
}

Status CheckWrongAnswers(const Suite& suite) {
  for (const Case& test_case : suite.cases) {
    AnswersOfCase answers;
    RETURN_IF_ERROR(ReadWrongOfCase(test_case, answers));
  }
  return {};
}

Result<std::vector<AnswersOfCase>> LoadSuiteAnswers(const Suite& suite, const fs::path& answers) {
  std::vector<AnswersOfCase> loaded(suite.cases.size());
  std::map<std::string, std::size_t> by_id;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const Case& test_case = suite.cases[i];
    by_id[test_case.id] = i;
    if (!test_case.reference.empty()) loaded[i].right.emplace_back("reference", test_case.reference);
    RETURN_IF_ERROR(ReadWrongOfCase(test_case, loaded[i]));
  }
  if (answers.empty()) return loaded;
  std::error_code code;
  for (fs::directory_iterator entry(answers, code), end; !code && entry != end; entry.increment(code)) {
    if (entry->is_symlink(code)) return LinkedAnswer(entry->path());
    if (!entry->is_directory(code)) continue;
    const auto found = by_id.find(entry->path().filename().string());
    if (found == by_id.end()) {
      return InputError(
          fmt::format("{}: the suite {} has no case of this name", entry->path().string(), suite.source.string()));
    }
    RETURN_IF_ERROR(CaseFolder(entry->path()).Read(loaded[found->second]));
  }
  if (code) return ErrnoError("reading", answers.string(), code.value());
  return loaded;
}

}  // namespace upskill
