# Recorder for bash 5.0 and later; source it from the end of ~/.bashrc.
#
# Appends one record for each command line to this shell's log, with builtins only: no process is
# started between two prompts. README.md one folder up has the record's format. An older bash, a
# script, and a shell that an agent drives (its own hooks report) record nothing.

__observer_setup() {
    local home=${OBSERVER_HOME:-${BASH_SOURCE[0]%/hooks/shell/observer.bash}}
    [[ -n ${OBSERVER_HOME-} || -d $home/spool ]] || home=${HOME-}/.observer
    [[ $home == /* ]] || home=$PWD/$home
    __observer_folder=$home/spool/shell
    __observer_scratch=$home/spool/tmp
    __observer_began=0 __observer_before=0 __observer_cwd=$PWD __observer_void= __observer_rules=
    __observer_open
}

# A new log, under a name that no other shell has or will have.
__observer_open() {
    __observer_log=$__observer_folder/bash-$$-${EPOCHREALTIME//[^0-9]/}
    export OBSERVER_SESSION=${__observer_log##*/}
    (
        umask 077
        # A relative entry would find the mkdir of whatever folder the shell is in.
        PATH=/usr/bin:/bin:$PATH
        [[ -d $__observer_folder ]] || command mkdir -p -- "$__observer_folder"
        [[ -d $__observer_scratch ]] || command mkdir -p -- "$__observer_scratch"
        : >>"$__observer_log"
        : >>"$__observer_scratch/${__observer_log##*/}"
    ) 2>/dev/null
}

# Safe to repeat: an rc file that was read again may have set either variable anew.
__observer_hook() {
    # PS0 is expanded when a command line is about to run. An assignment inside an arithmetic
    # expansion happens in this shell, and the substring it makes is empty. [^0-9], because in
    # POSIX mode a prompt's ! is the history number. Of several commands on one line the first
    # counts.
    local note='__observer_began=__observer_began?__observer_began:${EPOCHREALTIME//[^0-9]/},0'
    [[ ${PS0-} == *__observer_began* ]] || PS0="${PS0-}\${__observer_void:\$(($note)):0}"

    [[ " ${PROMPT_COMMAND[*]-}" != *__observer_record* ]] || return 0
    if ((BASH_VERSINFO[0] > 5 || BASH_VERSINFO[1] >= 1)); then
        local ready=__observer_ready
        if [[ "${PROMPT_COMMAND[*]-}" == *__observer_ready* ]]; then
            # What an rc file set that was read again is the first member, and was the second.
            [[ ${PROMPT_COMMAND[1]-} == __observer_ready ]] || unset 'PROMPT_COMMAND[1]'
            ready=
        fi
        # Each member sees the user's status; ours is first to be near the command's end.
        PROMPT_COMMAND=(__observer_record ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"} ${ready:+"$ready"})
    else
        PROMPT_COMMAND=$'__observer_record\n'"${PROMPT_COMMAND-}"$'\n__observer_ready'
    fi
}

__observer_may_hook() {
    local -
    set +u
    [[ ${PS0@a}${PROMPT_COMMAND@a} != *r* ]]
}

__observer_record() {
    local exit=$? now=${EPOCHREALTIME//[^0-9]/} -
    set +eux
    if ((__observer_began)); then
        if ! __observer_is_paused; then
            [[ -e $__observer_log ]] || __observer_open
            __observer_write "$exit" 2>/dev/null >>"$__observer_log"
        fi
        __observer_began=0
    fi
    __observer_give_back 2>/dev/null
    # Before 5.1 this status is what the rest of PROMPT_COMMAND sees.
    ((BASH_VERSINFO[0] > 5 || BASH_VERSINFO[1] >= 1)) || return "$exit"
}

# Whether nothing is to be recorded: in this shell, everywhere, or where the command ran.
__observer_is_paused() {
    [[ ${OBSERVER_PRIVATE:-0} == 0 ]] || return 0
    local paused=${__observer_folder%/shell}/paused until scope
    [[ -f $paused ]] || return 1
    while read -r until scope; do
        [[ $until != *[!0-9]* ]] && ((EPOCHSECONDS < until)) || continue
        [[ $scope == '*' || $__observer_cwd/ == "${scope%/}"/* ]] && return 0
    done <"$paused" 2>/dev/null
    return 1
}

__observer_write() {
    builtin printf '\0\0exit=%s\0duration_ms=%s\0end_ms=%s\0cwd=%s\0cwd_after=%s\0' "$1" \
        "$((now > __observer_began ? (now - __observer_began) / 1000 : 0))" "$((now / 1000))" \
        "$__observer_cwd" "$PWD"
    if __observer_is_told; then
        builtin printf 'history='
        HISTTIMEFORMAT= builtin history 1
    else
        builtin printf 'unseen=repeat-or-private'
    fi
    builtin printf '\0.\0\0'
}

# Whether the last line of the history is the command that just ended.
__observer_is_told() {
    local __observer_number
    __observer_count
    ((__observer_number > __observer_before)) && return
    # The history did not grow. That can only be a repeat where nothing is kept private by rule.
    [[ -o history && -z ${HISTIGNORE-} && :${HISTCONTROL-}: != *:ignore@(space|both):* ]]
}

# Where the history leaves out repeats and private commands alike, nobody can tell which one did not
# come in. So while a command is typed, repeats are let in, and taken out again when it has ended.
__observer_let_repeats_in() {
    __observer_rules=
    [[ :${HISTCONTROL-}: == *:ignore@(dups|both):* && ${HISTCONTROL@a} != *r* ]] || return 0
    ! __observer_is_paused || return 0
    [[ -w $__observer_scratch ]] || return 0
    local scratch=$__observer_scratch/${__observer_log##*/}
    # The daemon sweeps what has lain there for long.
    [[ -e $scratch ]] || (umask 077 && : >"$scratch") 2>/dev/null
    __observer_rules=$HISTCONTROL
    HISTCONTROL=:$HISTCONTROL:
    HISTCONTROL=${HISTCONTROL//:ignoreboth:/:ignorespace:}
    HISTCONTROL=${HISTCONTROL//:ignoredups:/:}
    __observer_lent=$HISTCONTROL
}

__observer_give_back() {
    [[ $__observer_rules && $HISTCONTROL == "$__observer_lent" ]] || return 0
    HISTCONTROL=$__observer_rules __observer_rules=
    local __observer_number last both scratch=$__observer_scratch/${__observer_log##*/}
    __observer_count
    ((__observer_number > __observer_before)) && [[ -w $scratch ]] || return 0
    # Builtins can give a shell's history to a file alone.
    HISTTIMEFORMAT= builtin history 1 >|"$scratch" && IFS= read -r -d '' last <"$scratch"
    HISTTIMEFORMAT= builtin history 2 >|"$scratch" && IFS= read -r -d '' both <"$scratch"
    : >|"$scratch"
    both=${both%"$last"}
    [[ ${both#*[0-9][* ] } == "${last#*[0-9][* ] }" ]] || return 0
    last=${last%"${last#*[0-9][* ] }"}
    builtin history -d "${last//[!0-9]}"
}

# Last in line: other prompt commands may have read other shells' history into this one's.
__observer_ready() {
    local - __observer_number
    set +eux
    __observer_count
    __observer_before=$__observer_number __observer_cwd=$PWD
    __observer_let_repeats_in
}

# A number that grows with the history. Either part alone stands still in some version of bash:
# \! at the first line of an empty history, HISTCMD in a prompt command.
__observer_count() {
    local number='\!'
    __observer_number=$((${HISTCMD-0} + ${number@P}))
}

# What fits the word at the cursor, as `observer` itself says: a line of type, word and description.
__observer_complete() {
    local type word _ IFS=$'\n'
    COMPREPLY=()
    while IFS=$'\t' read -r type word _; do
        case $type in
        plain)
            [[ $word != *[!a-zA-Z0-9._,/:@-]* ]] || builtin printf -v word %q "$word"
            COMPREPLY+=("$word")
            ;;
        dir) compopt -o dirnames ;;
        file) compopt -o default ;;
        esac
    done < <(_OBSERVER_COMPLETE="${COMP_WORDS[*]:0:COMP_CWORD+1}" command "$1" 2>/dev/null)
}

if [[ $- == *i* && ${BASH_VERSINFO[0]} -ge 5 && -z ${CLAUDECODE-}${CLAUDE_CODE_SESSION_ID-}${CURSOR_AGENT-}${CURSOR_CONVERSATION_ID-}${KIRO_SESSION_ID-}${CODEX_THREAD_ID-}${CODEX_SANDBOX-}${GEMINI_CLI-}${ANTIGRAVITY_AGENT-}${COPILOT_CLI-}${OPENCODE-}${OPENCODE_CLIENT-}${CLINE_ACTIVE-}${AI_AGENT-}${AGENT-} ]] &&
    # Without promptvars the prompt would show our expression instead of expanding it.
    shopt -q promptvars && __observer_may_hook; then
    [[ -n ${__observer_log-} ]] || __observer_setup
    __observer_hook
    complete -o nosort -F __observer_complete observer
fi
