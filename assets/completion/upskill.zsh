#compdef upskill
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
