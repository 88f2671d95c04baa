# Ctrl-R for zsh: a screen to find a command again, by `pick` one folder up.

__observer_pick() {
    emulate -L zsh
    local found code n
    found=$(OBSERVER_LINE=${BUFFER[1,1000]} $__observer_picker)
    code=$?
    if (( code == 3 )); then
        zmodload zsh/parameter 2>/dev/null
        found=$(for n in ${(Onk)history}; do builtin print -rN -- "$history[$n]"; done |
            OBSERVER_LINE=${BUFFER[1,1000]} $__observer_picker zsh)
        code=$?
    fi
    if (( code == 0 || code == 10 )); then
        BUFFER=${found%.}
        CURSOR=$#BUFFER
    fi
    zle reset-prompt
    (( code )) || zle accept-line
    return 0
}

if [[ -o interactive ]]; then
    typeset -g __observer_picker=${${${(%):-%x}:a}:h:h}/pick
    zle -N __observer_pick
    bindkey -M emacs '^R' __observer_pick
    bindkey -M viins '^R' __observer_pick
    bindkey -M vicmd '^R' __observer_pick
fi
