// SPDX-License-Identifier: Apache-2.0
#include "check/asked_files.h"

#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "check/answer_files.h"
#include "check/command_check.h"
#include "skill/check_types.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// What tests import besides the module under test: the standard library of Python 3.11 and common packages.
constexpr std::string_view kOtherModules =
    " abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 "
    "cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent "
    "configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal "
    "difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput "
    "fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq "
    "hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache "
    "locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing "
    "netrc nis nntplib ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle "
    "pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile "
    "pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched "
    "secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd "
    "sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau "
    "symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time timeit "
    "tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata "
    "unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc "
    "zipapp zipfile zipimport zlib zoneinfo __future__ attr hypothesis matplotlib mock numpy pandas pydantic "
    "pytest requests scipy sklearn torch yaml ";

constexpr std::size_t kMostAsked = 100;

class Search {
 public:
  explicit Search(const Case& test_case) {
    for (const auto& [name, content] : test_case.files) given_.insert(PlainFileName(name));
    AddGiven(test_case.checks);
    AddAsked(test_case.checks);
    // Files of the case are sources, too, which may import anything.
    for (const auto& [name, content] : test_case.files) {
      if (name.find("test") != std::string::npos) AddOfFile(name, content);
    }
    if (!asked_.empty()) return;
    for (const std::string& name : FileNamesIn(test_case.input)) Add(name);
  }

  const std::vector<std::string>& asked() const { return asked_; }

 private:
  static bool IsCommand(const CheckSpec& spec) {
    const CheckType* const type = FindCheckType(spec.type);
    return type != nullptr && type->kind == CheckKind::kCommand;
  }

  static const Json* FilesOf(const CheckSpec& spec) {
    const Json* const files = IsCommand(spec) ? FindMember(spec.options, "files") : nullptr;
    return files != nullptr && files->is_object() ? files : nullptr;
  }

  void AddGiven(const std::vector<CheckSpec>& checks) {
    for (const CheckSpec& spec : checks) {
      AddGiven(spec.members);
      if (const Json* const files = FilesOf(spec)) {
        for (const auto& file : files->items()) given_.insert(PlainFileName(file.key()));
      }
    }
  }

  void AddAsked(const std::vector<CheckSpec>& checks) {
    for (const CheckSpec& spec : checks) {
      AddAsked(spec.members);
      if (!IsCommand(spec)) continue;
      if (const Json* const files = FilesOf(spec)) {
        for (const auto& [name, text] : files->items()) {
          if (text.is_string()) AddOfFile(name, text.get_ref<const std::string&>());
        }
      }
      AddOfCommand(JsonGet<std::string>(spec.options, "command", ""));
    }
  }

  void Add(const fs::path& file) {
    const std::string name = file.lexically_normal().generic_string();
    if (!ContainedPath("", name)) return;
    const std::string plain = PlainFileName(name);
    if (plain == kAnswerFile || given_.contains(plain) || asked_.size() == kMostAsked) return;
    if (std::find(asked_.begin(), asked_.end(), plain) == asked_.end()) asked_.push_back(plain);
  }

  void AddModule(std::string_view module) {
    const std::string_view package = module.substr(0, module.find('.'));
    const bool given = std::any_of(given_.begin(), given_.end(), [&](const std::string& name) {
      return name.starts_with(std::string(package) + "/");
    });
    if (package.empty() || given || kOtherModules.find(" " + std::string(package) + " ") != std::string_view::npos)
      return;
    std::string path(module);
    std::replace(path.begin(), path.end(), '.', '/');
    Add(path + ".py");
  }

  void AddPythonModules(std::string_view text) {
    static const RE2 modules(
        R"re((?:(?:^|[;"'\n])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*))|(?:import_module|__import__)\(["']([\w.]+)["']))re");
    std::string from;
    std::string list;
    std::string called;
    for (re2::StringPiece rest = text; RE2::FindAndConsume(&rest, modules, &from, &list, &called);) {
      for (const std::string& one : {from, called}) AddModule(one);
      for (std::string_view modules_left = list; !modules_left.empty();) {
        const std::string_view item = Trim(modules_left.substr(0, modules_left.find(',')));
        AddModule(item.substr(0, item.find_first_of(" \t")));
        modules_left.remove_prefix(std::min(modules_left.find(','), modules_left.size() - 1) + 1);
      }
    }
  }

  void AddOfFile(const std::string& name, std::string_view text) {
    static const RE2 near(
        R"re((?:\bfrom|\brequire\(|\bimport\(?|\brequire_relative)\s*["'](\.{0,2}/?[\w./-]+)["']|#include\s*"([\w./-]+)")re");
    static const RE2 quoted(R"re(["']((?:\./)?[\w./-]+\.[A-Za-z]\w*)["'])re");
    const fs::path folder = fs::path(name).parent_path();
    const std::string extension = fs::path(name).extension().string();
    if (extension == ".py") {
      AddPythonModules(text);
    } else {
      std::string imported;
      std::string included;
      for (re2::StringPiece rest = text; RE2::FindAndConsume(&rest, near, &imported, &included);) {
        if (!included.empty()) Add(folder / included);
        // A bare name is a package's, except in Ruby.
        if (imported.empty() || (extension != ".rb" && !imported.starts_with('.'))) continue;
        const fs::path path = folder / imported;
        Add(path.has_extension() ? path : fs::path(path.string() + extension));
      }
    }
    std::string file;
    for (re2::StringPiece rest = text; RE2::FindAndConsume(&rest, quoted, &file);) Add(file);
    if (extension == ".sh") AddOfCommand(std::string(text));
  }

  void AddOfCommand(std::string command) {
    static const RE2 others(R"((?:>{1,2}|-o)\s*[\w./-]+|[\w./-]*\*[\w./*-]*)");  // files written, and patterns
    static const RE2 module(R"(python[\d.]*(?:\s+-\w+)*\s+-m\s+([\w.]+))");
    AddPythonModules(command);
    RE2::GlobalReplace(&command, others, " ");
    for (const std::string& file : FileNamesIn(command)) Add(file);
    std::string name;
    for (re2::StringPiece rest = command; RE2::FindAndConsume(&rest, module, &name);) AddModule(name);
  }

  std::set<std::string> given_;
  std::vector<std::string> asked_;
};

bool HasWholeWord(const std::string& text, const std::string& word) {
  return RE2::PartialMatch(text, R"((?:^|[^\w]))" + RE2::QuoteMeta(word) + R"((?:$|[^\w]))");
}

}  // namespace

std::vector<std::string> AskedFiles(const Case& test_case) {
  if (!test_case.output_file.empty() || test_case.fill || !AnyCheck(test_case.checks, &CheckType::executes)) return {};
  const std::vector<std::string> asked = Search(test_case).asked();
  std::vector<std::string> named;
  std::copy_if(asked.begin(), asked.end(), std::back_inserter(named), [&](const std::string& file) {
    return HasWholeWord(test_case.input, fs::path(file).filename().string()) ||
           HasWholeWord(test_case.input, fs::path(file).stem().string());
  });
  return named.empty() ? asked : named;
}

}  // namespace upskill
