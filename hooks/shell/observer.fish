# Recorder for fish 3.4 and later; source it from ~/.config/fish/conf.d.
#
# Appends one record for each command line to this shell's log, with builtins only: no process is
# started between two prompts. README.md one folder up has the record's format. A script, a private
# shell, and a shell that an agent drives (its own hooks report) record nothing.

status is-interactive; or return 0
set -l agent $CLAUDECODE $CLAUDE_CODE_SESSION_ID $CURSOR_AGENT $CURSOR_CONVERSATION_ID \
    $KIRO_SESSION_ID $CODEX_THREAD_ID $CODEX_SANDBOX $GEMINI_CLI $ANTIGRAVITY_AGENT $COPILOT_CLI \
    $OPENCODE $OPENCODE_CLIENT $CLINE_ACTIVE $AI_AGENT $AGENT
test -z "$agent"; or return 0
set -q __observer_log; and return 0

# A new log, under a name that no other shell has or will have.
function __observer_open
    set -l old (umask)
    umask 077
    # A relative entry would find the mkdir of whatever folder the shell is in.
    set -lx PATH /usr/bin /bin $PATH
    test -d $__observer_folder; or command mkdir -p -- $__observer_folder 2>/dev/null
    set -g __observer_log $__observer_folder/fish-$fish_pid-(command date +%s)
    set -gx OBSERVER_SESSION (string split -r -m1 / -- $__observer_log)[2]
    test -w $__observer_folder; and echo -n >>$__observer_log
    umask $old
end

function __observer_preexec --on-event fish_preexec
    set -g __observer_cwd $PWD
end

function __observer_postexec --on-event fish_postexec
    set -l code $status
    set -l before $__observer_code
    set -g __observer_code $code
    set -l text "$argv[1]"
    # A job in the background and a plain assignment leave the status of the command before.
    test "$code" = "$before"; and string match -qr '&\s*$|^set\s(?!.*(-q|\())' -- $text; and set code 0
    __observer_is_private $text; and return
    __observer_is_paused; and return
    test -e $__observer_log; or __observer_open
    test -w $__observer_log; or return
    printf '\0\0exit=%s\0duration_ms=%s\0cwd=%s\0cwd_after=%s\0text=%s\0' \
        $code $CMD_DURATION "$__observer_cwd" "$PWD" $text >>$__observer_log 2>/dev/null
    # The one clock without a process: that write was now, and the file knows when it was.
    set -q __observer_has_clock
    and printf 'end_s=%s\0' (path mtime -- $__observer_log) >>$__observer_log 2>/dev/null
    printf '.\0\0' >>$__observer_log 2>/dev/null
end

# Whether nothing is to be recorded: in this shell, everywhere, or where the command ran.
function __observer_is_paused
    if test -n "$OBSERVER_PRIVATE" -a "$OBSERVER_PRIVATE" != 0
        return 0
    end
    set -l paused (string replace -r '/shell$' '' -- $__observer_folder)/paused
    test -f $paused; or return 1
    # Only while there is a pause: fish knows no clock without a process.
    set -lx PATH /usr/bin /bin $PATH
    set -l now (command date +%s)
    while read -l until scope
        test "$now" -lt "$until" 2>/dev/null; or continue
        test "$scope" = '*'; and return 0
        set -l folder (string trim -r -c / -- $scope)/
        test (string sub -l (string length -- $folder) -- $__observer_cwd/) = $folder; and return 0
    end <$paused
    return 1
end

function __observer_is_private -a text
    test -n "$fish_private_mode"; and return
    string match -qr '^\s' -- $text; and return
    functions -q fish_should_add_to_history; and not fish_should_add_to_history $text
end

# What fits the word at the cursor, as `observer` itself says: a line of type, word and description.
function __observer_complete
    set -lx _OBSERVER_COMPLETE "$(string join \n -- (commandline -opc))"\n"$(commandline -ct)"
    for line in (command observer 2>/dev/null)
        set -l parts (string split \t -- $line)
        switch $parts[1]
            case plain
                printf '%s\t%s\n' $parts[2] "$parts[3]"
            case dir file
                __fish_complete_path (commandline -ct)
        end
    end
end
complete -c observer -f -a '(__observer_complete)'

set -l home (string replace -r '/hooks/shell/observer\.fish$' '' -- (realpath (status filename)))
set -q OBSERVER_HOME[1]; and set home (realpath -- $OBSERVER_HOME 2>/dev/null; or echo $OBSERVER_HOME)
test -n "$OBSERVER_HOME" -o -d "$home/spool"; or set home $HOME/.observer
set -g __observer_folder $home/spool/shell
set -g __observer_cwd $PWD
contains path (builtin -n); and path mtime / >/dev/null 2>&1; and set -g __observer_has_clock
__observer_open
