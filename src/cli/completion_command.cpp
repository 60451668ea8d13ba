// SPDX-License-Identifier: Apache-2.0
#include "cli/completion_command.h"

#include <CLI/CLI.hpp>

#include "cli/completion.h"
#include "cli/help_formatter.h"
#include "cli/option_checks.h"

namespace upskill {
namespace {

// The scripts run the program in PATH, never the one that is typed: `./upskill` in a folder of someone else would run
// before it is entered. Words are passed as they are, and nothing of what is printed is evaluated.
constexpr std::string_view kBash =
    R"script(# Completion of upskill's command lines for bash: eval "$(upskill completion bash)" in ~/.bashrc
_upskill() {
  local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} current before='' path paths='' candidate description breaks=''
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current=${words[${#words[@]} - 1]}
  # bash ends words at these characters, and replaces only what follows the last of them.
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
  [[ -n $breaks && $current == *[$breaks]* ]] && before=${current%"${current##*[$breaks]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r candidate description; do
    case $candidate in
      :files) paths=-f ;;
      :folders) paths=-d ;;
      *) COMPREPLY+=("${candidate#"$before"}") ;;
    esac
  done < <(command upskill complete -- "${words[@]:1}" 2>/dev/null)
  [[ -n $paths ]] || return 0
  path=$current
  [[ $current == --*=* ]] && path=${current#*=}
  compopt -o filenames 2>/dev/null
  while IFS= read -r candidate; do
    candidate=${current%"$path"}$candidate
    COMPREPLY+=("${candidate#"$before"}")
  done < <(compgen "$paths" -- "$path")
}
complete -F _upskill upskill
)script";

constexpr std::string_view kZsh = R"script(#compdef upskill
# Completion of upskill's command lines for zsh: a file named _upskill in a folder of $fpath, or
# source <(upskill completion zsh) in ~/.zshrc after compinit
_upskill() {
  local -a lines values descriptions
  local line value paths=''
  lines=("${(@f)$(command upskill complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${lines[@]}"; do
    value=${line%%$'\t'*}
    case $value in
      '') ;;
      :files) paths=files ;;
      :folders) paths=folders ;;
      *)
        values+=("$value")
        if [[ $line == *$'\t'* ]]; then
          descriptions+=("$value  -- ${line#*$'\t'}")
        else
          descriptions+=("$value")
        fi
        ;;
    esac
  done
  (( $#values )) && compadd -l -d descriptions -a values
  [[ -n $paths && $PREFIX == --*=* ]] && compset -P '*='
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
if [[ ${funcstack[1]} == _upskill ]]; then _upskill "$@"; else compdef _upskill upskill; fi
)script";

constexpr std::string_view kFish =
    R"script(# Completion of upskill's command lines for fish: upskill completion fish >~/.config/fish/completions/upskill.fish
function __upskill_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc) "$current"
    for line in (command upskill complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c upskill -f -a '(__upskill_complete)'
)script";

}  // namespace

void AddCompletionCommand(CLI::App& app, CompletionOptions& options) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes command lines in a shell")->group("Other");
  command->add_option("SHELL", options.shell, "bash, zsh or fish")
      ->required()
      ->transform(OneOf({"bash", "zsh", "fish"}));
  AddExamples(*command, {{"For bash", "upskill completion bash"}, {"For fish", "upskill completion fish"}});
  AddHelpNote(
      *command,
      "Where the script goes: eval \"$(upskill completion bash)\" in ~/.bashrc, source <(upskill completion zsh) "
      "in ~/.zshrc after compinit, ~/.config/fish/completions/upskill.fish for fish.");
}

ExitCode RunCompletion(const CompletionOptions& options, Env& env) {
  const std::string_view script = options.shell == "bash" ? kBash : options.shell == "zsh" ? kZsh : kFish;
  PrintDocument(env, std::string(script));
  return ExitCode::kSuccess;
}

ExitCode RunComplete(const CLI::App& app, const std::vector<std::string>& arguments, Env& env) {
  const std::size_t skipped = arguments.size() > 1 && arguments[1] == "--" ? 2 : 1;
  const std::vector<std::string> words(arguments.begin() + static_cast<std::ptrdiff_t>(skipped), arguments.end());
  PrintDocument(env, CompletionLines(Complete(app, words, env)));
  return ExitCode::kSuccess;
}

}  // namespace upskill
