# SPDX-License-Identifier: GPL-2.0-or-later
# What --help prints, as lines of the table that generate speaks of. Help that is wrapped becomes one line again.
function flush() {
    if (long)
        printf "option\t%s\t%s\t%s\t%s\t%s\n", command, long, letter, argument, help
    long = ""
}

/^Usage: / {
    if (/ CMD|COMMAND \[ARG/)
        printf "operand\t%s\tcommand\n", command
    else if (/[ (]FILE/)
        printf "operand\t%s\tfile\n", command
}

/^  (-.,|   ) --/ {
    flush()
    letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : ""
    rest = substr($0, 9)
    match(rest, /^[^ ]+/)
    long = substr(rest, 1, RLENGTH)
    rest = substr(rest, RLENGTH + 1)
    argument = ""
    if (match(rest, /^ [^ ]+/)) {
        argument = substr(rest, 2, RLENGTH - 1)
        rest = substr(rest, RLENGTH + 1)
    }
    sub(/^ +/, "", rest)
    help = rest
    next
}

/^          / && long {
    sub(/^ +/, "")
    help = help (help ? " " : "") $0
}

END { flush() }
