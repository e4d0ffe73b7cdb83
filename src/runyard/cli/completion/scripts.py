"""The scripts that teach bash, zsh and fish to complete `runyard`."""

BASH = """# Completion of runyard for bash: source this file.
_runyard_complete() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            _runyard_files
            return
        fi
        COMPREPLY+=("${line%%$'\\t'*}")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null)
}
_runyard_files() {
    local line
    compopt -o default 2>/dev/null && return
    # bash 3, which macOS has, lacks compopt
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(compgen -f -- "${COMP_WORDS[$COMP_CWORD]}")
}
complete -F _runyard_complete runyard
"""

ZSH = """#compdef runyard
# Completion of runyard for zsh: source this file.
_runyard() {
    local line
    local -a found
    for line in "${(@f)$("$words[1]" __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}"; do
        [[ -z $line ]] && continue
        if [[ $line == :files ]]; then
            _files
            return
        fi
        found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
    done
    _describe runyard found
}
if [[ $funcstack[1] == _runyard ]]; then
    _runyard "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _runyard runyard
fi
"""

FISH = """# Completion of runyard for fish: a file of ~/.config/fish/completions.
function __runyard_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program __complete $words "$last" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$last"
        else
            echo $line
        end
    end
end
complete -c runyard -f -a '(__runyard_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
