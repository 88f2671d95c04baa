# Recorder for zsh; source it from the end of ~/.zshrc.
#
# Appends one record for each command line to this shell's log, with builtins only: no process is
# started between two prompts. README.md one folder up has the record's format. A script, and a
# shell that an agent drives (its own hooks report), record nothing.

# A new log, under a name that no other shell has or will have.
__observer_open() {
    emulate -L zsh
    typeset -g __observer_log=$__observer_folder/zsh-$$-$(( epochtime[1] * 1000000 + epochtime[2] / 1000 ))
    export OBSERVER_SESSION=${__observer_log:t}
    (
        umask 077
        [[ -d $__observer_folder ]] || PATH=/usr/bin:/bin:$PATH command mkdir -p -- $__observer_folder
        : >>|$__observer_log
    ) 2>/dev/null
    return 0
}

__observer_preexec() {
    # The person's own pattern means what it means under the person's own options.
    [[ -n ${HISTORY_IGNORE-} && $1 == ${~HISTORY_IGNORE-} ]] && return 0
    emulate -L zsh
    [[ $1 == [[:space:]]* ]] && return 0
    __observer_text=${1//$'\0'}
    __observer_cwd=$PWD
    __observer_began=$(( epochtime[1] * 1000 + epochtime[2] / 1000000 ))
}

# Whether nothing is to be recorded: in this shell, everywhere, or where the command ran.
__observer_is_paused() {
    emulate -L zsh
    [[ ${OBSERVER_PRIVATE:-0} == 0 ]] || return 0
    local paused=${__observer_folder%/shell}/paused until scope
    [[ -f $paused ]] || return 1
    while read -r until scope; do
        [[ $until == <-> ]] && (( epochtime[1] < until )) || continue
        [[ $scope == '*' || $__observer_cwd/ == "${scope%/}"/* ]] && return 0
    done <$paused
    return 1
}

__observer_precmd() {
    local code=$?
    emulate -L zsh
    (( __observer_began )) || return 0
    local now=$(( epochtime[1] * 1000 + epochtime[2] / 1000000 ))
    if __observer_is_paused; then
        __observer_began=0 __observer_text=
        return 0
    fi
    [[ -e $__observer_log ]] || __observer_open
    {
        builtin printf '\0\0exit=%s\0duration_ms=%s\0end_ms=%s\0cwd=%s\0cwd_after=%s\0text=%s\0.\0\0' \
            $code $(( now > __observer_began ? now - __observer_began : 0 )) $now \
            "$__observer_cwd" "$PWD" "$__observer_text" >>|$__observer_log
    } 2>/dev/null
    __observer_began=0 __observer_text=
    return 0
}

# What fits the word at the cursor, as `observer` itself says: a line of type, word and description.
__observer_complete() {
    emulate -L zsh
    local line
    local -a parts words_found shown
    for line in "${(@f)$(_OBSERVER_COMPLETE=${(F)words[1,CURRENT]} command $words[1] 2>/dev/null)}"; do
        parts=("${(@ps:\t:)line}")
        case $parts[1] in
            plain) words_found+=("$parts[2]") shown+=("$parts[2]${parts[3]:+  -- $parts[3]}") ;;
            dir) _path_files -/ ;;
            file) _path_files ;;
        esac
    done
    (( $#words_found )) && compadd -l -V observer -d shown -a words_found
}

() {
    local mine=$1
    emulate -L zsh
    [[ -o interactive && -z $CLAUDECODE$CLAUDE_CODE_SESSION_ID$CURSOR_AGENT$CURSOR_CONVERSATION_ID$KIRO_SESSION_ID$CODEX_THREAD_ID$CODEX_SANDBOX$GEMINI_CLI$ANTIGRAVITY_AGENT$COPILOT_CLI$OPENCODE$OPENCODE_CLIENT$CLINE_ACTIVE$AI_AGENT$AGENT ]] || return 0
    zmodload zsh/datetime 2>/dev/null || return 0
    if [[ -z $__observer_log ]]; then
        local home=${OBSERVER_HOME:-${mine%/hooks/shell/observer.zsh}}
        [[ -n $OBSERVER_HOME || -d $home/spool ]] || home=$HOME/.observer
        typeset -g __observer_folder=${home:a}/spool/shell __observer_text= __observer_cwd=
        typeset -gi __observer_began=0
        __observer_open
    fi
    typeset -ga preexec_functions precmd_functions
    preexec_functions=(${preexec_functions:#__observer_preexec} __observer_preexec)
    # First in line, to be near the command's end.
    precmd_functions=(__observer_precmd ${precmd_functions:#__observer_precmd})
    (( $+functions[compdef] )) && compdef __observer_complete observer
    return 0
} ${${(%):-%x}:a}
