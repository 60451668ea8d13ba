// SPDX-License-Identifier: Apache-2.0
#include "model/api_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <optional>

#include "util/files.h"
#include "util/known_secrets.h"
#include "util/text.h"
#include "util/toml_guard.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = 1U << 20U;

std::string ValueOf(const VariableLookup& variable, const std::string& name) {
  if (!variable) return "";
  return std::string(Trim(variable(name).value_or("")));
}

// Keys are sent in a header line: printable ASCII without spaces.
Status CheckKey(const std::string& key, const std::string& source) {
  if (!IsVisibleAscii(key))
    return InputError(fmt::format("the key in {} contains a space or another invalid character", source));
  return {};
}

Result<Secret> Checked(const std::string& key, const std::string& source) {
  RETURN_IF_ERROR(CheckKey(key, source));
  Secret secret(key);
  RememberSecret(secret);
  return secret;
}

// Where the Hub's own tools store the token of `hf auth login`.
std::string SavedHubToken(const VariableLookup& variable) {
  const std::string named = ValueOf(variable, "HF_TOKEN_PATH");
  const std::string hub_home = ValueOf(variable, "HF_HOME");
  const std::string cache = ValueOf(variable, "XDG_CACHE_HOME");
  const std::string home = ValueOf(variable, "HOME");
  fs::path file;
  if (!named.empty()) {
    file = named;
  } else if (!hub_home.empty()) {
    file = fs::path(hub_home) / "token";
  } else if (!cache.empty()) {
    file = fs::path(cache) / "huggingface" / "token";
  } else if (!home.empty()) {
    file = fs::path(home) / ".cache" / "huggingface" / "token";
  } else {
    return "";
  }
  const Result<std::string> text = ReadFile(file, kMaxBytes);
  return text ? std::string(Trim(*text)) : "";
}

fs::path KeysFile(const VariableLookup& variable) {
  const fs::path folder = UserConfigFolder(variable);
  return folder.empty() ? folder : folder / "keys.toml";
}

// The text of a file that is this user's alone, or nothing if there is none. It is opened once, so that what is checked
// is what is read. It may be a symbolic link, as some users manage their settings.
Result<std::optional<std::string>> ReadPrivateFile(const fs::path& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int open_error = errno;
  if (!fd.valid() && ::access(file.c_str(), F_OK) != 0) return std::optional<std::string>();
  if (!fd.valid()) return ErrnoError("reading", file, open_error);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return ErrnoError("reading", file, errno);
  const std::string name = file.string();
  if (!S_ISREG(status.st_mode)) return InputError(fmt::format("{} is not a regular file", name));
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return InputError(fmt::format("{} belongs to another user; replace it with a file of your own", name));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return InputError(fmt::format("{} can be read or changed by other users; run chmod 600 {}", name, name));
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("reading", file, errno);
    if (got == 0) return std::optional(std::move(text));
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxBytes) return InputError(fmt::format("{} is larger than {} bytes", name, kMaxBytes));
  }
}

// The provider's entry, or nothing.
Result<std::optional<Secret>> KeyFromFile(const fs::path& file, const std::string& provider) {
  if (file.empty()) return std::optional<Secret>();
  ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadPrivateFile(file));
  if (!text) return std::optional<Secret>();
  ASSIGN_OR_RETURN(const std::optional<std::string> key, KeyInFile(*text, provider, file.string()));
  if (!key) return std::optional<Secret>();
  ASSIGN_OR_RETURN(Secret secret, Checked(*key, file.string()));
  return std::optional<Secret>(std::move(secret));
}

}  // namespace

Result<std::optional<std::string>> KeyInFile(std::string_view text, const std::string& provider,
                                             const std::string& file) {
  if (const std::optional<std::size_t> deep = FindDeepTomlKey(text)) {
    const TextPosition at = PositionAt(text, *deep);
    return InputError(fmt::format("{}:{}:{}: a key has too many dotted parts", file, at.line, at.column));
  }
  try {
    const toml::table table = toml::parse(text);
    const toml::node* node = table.get(provider);
    if (node == nullptr) return std::optional<std::string>();
    const auto value = node->value<std::string>();
    if (!node->is_string() || !value || value->empty()) {
      const toml::source_position at = node->source().begin;
      return InputError(fmt::format("{}:{}:{}: '{}' must be a quoted key", file, at.line, at.column, provider));
    }
    RETURN_IF_ERROR(CheckKey(*value, file));
    return value;
  } catch (const toml::parse_error& e) {
    // Without the parser's message, which may repeat a key.
    const toml::source_position at = e.source().begin;
    return InputError(fmt::format("{}:{}:{}: expected provider = \"key\"", file, at.line, at.column));
  } catch (const std::exception&) {
    return InputError(fmt::format("{}: expected provider = \"key\"", file));
  }
}

Status CheckUrlKeepsSecrets(const HttpUrl& url, const std::string& whose, const VariableLookup& variable) {
  if (url.secure || url.loopback || ValueOf(variable, "UPSKILL_ALLOW_INSECURE_HTTP") == "1") return {};
  return InputError(
      fmt::format("the {} would be sent to {} unencrypted; use https://, or set UPSKILL_ALLOW_INSECURE_HTTP=1 if you "
                  "trust the network in between",
                  whose, url.authority));
}

void RememberKeys(const Catalog& catalog, const VariableLookup& variable) {
  for (const auto& [name, provider] : catalog.providers) {
    for (const std::string& key : provider.key_variables) RememberSecret(Secret(ValueOf(variable, key)));
  }
  RememberSecret(Secret(SavedHubToken(variable)));
  const fs::path file = KeysFile(variable);
  if (file.empty()) return;
  const Result<std::optional<std::string>> text = ReadPrivateFile(file);
  if (!text || !*text || FindDeepTomlKey(**text)) return;
  try {
    for (const auto& [provider, node] : toml::parse(**text)) {
      if (const auto value = node.value<std::string>()) RememberSecret(Secret(*value));
    }
  } catch (const std::exception&) {
    return;  // an error of the commands that need a key
  }
}

Result<Secret> FindApiKey(const Provider& provider, const std::string& model, const VariableLookup& variable) {
  for (const std::string& name : provider.key_variables) {
    const std::string value = ValueOf(variable, name);
    if (!value.empty()) return Checked(value, "$" + name);
  }
  if (provider.name == "hf") {
    const std::string token = SavedHubToken(variable);
    if (!token.empty()) return Checked(token, "the saved login of the Hugging Face Hub");
  }
  ASSIGN_OR_RETURN(std::optional<Secret> key, KeyFromFile(KeysFile(variable), provider.name));
  if (key) return *std::move(key);
  if (provider.default_key) return Secret(*provider.default_key);
  const std::string named = provider.key_variables.empty() ? "add it to ~/.config/upskill/keys.toml"
                                                           : "set " + provider.key_variables.front();
  return Error{ErrorKind::kPermanent,
               fmt::format("no key for provider '{}' (model '{}'): {}, or use a local model such as llama:model.gguf",
                           provider.name, model, named)};
}

std::string ApiKeySource(const Provider& provider, const VariableLookup& variable) {
  for (const std::string& name : provider.key_variables) {
    if (!ValueOf(variable, name).empty()) return name;
  }
  if (provider.name == "hf" && !SavedHubToken(variable).empty()) return "the saved login of the Hugging Face Hub";
  const Result<std::optional<Secret>> key = KeyFromFile(KeysFile(variable), provider.name);
  return key && *key ? KeysFile(variable).string() : "";
}

}  // namespace upskill
