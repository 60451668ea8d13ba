# Completion of upskill's command lines for fish: upskill completion fish >~/.config/fish/completions/upskill.fish
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
