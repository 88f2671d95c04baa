# Ctrl-R for bash 5.0 and later: a screen to find a command again, by `pick` one folder up.

# A function bound by `bind -x` cannot run the line: a second key, which it binds, does.
__observer_pick() {
    local found code
    found=$(OBSERVER_LINE=${READLINE_LINE:0:1000} "$__observer_picker")
    code=$?
    if ((code == 3)); then
        found=$(HISTTIMEFORMAT=$'\1' builtin history |
            OBSERVER_LINE=${READLINE_LINE:0:1000} "$__observer_picker" bash)
        code=$?
    fi
    builtin bind '"\C-x\C-_o": redraw-current-line'
    ((code == 0 || code == 10)) || return 0
    READLINE_LINE=${found%.}
    READLINE_POINT=${#READLINE_LINE}
    ((code)) || builtin bind '"\C-x\C-_o": accept-line'
}

if [[ $- == *i* && ${BASH_VERSINFO[0]} -ge 5 ]]; then
    __observer_picker=${BASH_SOURCE[0]%/shell/ctrl-r.bash}/pick
    for __observer_map in emacs vi-insert vi-command; do
        builtin bind -m "$__observer_map" -x '"\C-x\C-_p": __observer_pick'
        builtin bind -m "$__observer_map" '"\C-x\C-_o": redraw-current-line'
        builtin bind -m "$__observer_map" '"\C-r": "\C-x\C-_p\C-x\C-_o"'
    done 2>/dev/null
    unset -v __observer_map
fi
