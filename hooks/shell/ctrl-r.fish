# Ctrl-R for fish 3.4 and later: a screen to find a command again, by `pick` one folder up.

status is-interactive; or return 0

function __observer_pick
    set -lx OBSERVER_LINE (commandline | string collect | string sub -l 1000)
    set -l found ($__observer_picker | string collect --no-trim-newlines)
    set -l code $pipestatus[1]
    if test "$code" = 3
        set found (history search --null | $__observer_picker fish | string collect --no-trim-newlines)
        set code $pipestatus[2]
    end
    if contains -- "$code" 0 10
        commandline -r -- (string replace -r '\.$' '' -- $found | string collect --no-trim-newlines)
    end
    commandline -f repaint
    test "$code" = 0; and commandline -f execute
    return 0
end

set -g __observer_picker (string replace -r '/shell/ctrl-r\.fish$' /pick -- (realpath (status filename)))
for mode in default insert
    bind -M $mode \cr __observer_pick
end
