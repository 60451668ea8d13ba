# Completion of upskill's command lines for bash: eval "$(upskill completion bash)" in ~/.bashrc
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
