# SPDX-License-Identifier: GPL-2.0-or-later
# The table that generate speaks of, as a completion for fish.
BEGIN { FS = "\t" }

# A word for fish: '...' knows two escapes.
function quoted(text) {
    gsub(/[\\']/, "\\\\&", text)
    return "'" text "'"
}

function when(command) {
    if (command)
        return " -n '__fish_seen_subcommand_from " command "'"
    return commands ? " -n __fish_use_subcommand" : ""
}

$1 == "program" {
    name = $2
    print "# fish completion of " name "; made of its --help"
    print "complete -c " name " -f"
}

$1 == "command" {
    commands++
    print "complete -c " name " -n __fish_use_subcommand -a " $2 " -d " quoted($3)
}

$1 == "operand" && $3 == "file" { print "complete -c " name when($2) " -F" }

$1 == "operand" && $3 == "command" {
    print "complete -c " name " -n '__fish_seen_subcommand_from " $2 "; and contains -- -- (commandline -opc)'" \
        " -a '(set -l words (commandline -opc) (commandline -ct); " \
        "__fish_complete_subcommand --commandline $words[(math (contains -i -- -- $words) + 1)..-1])'"
}

$1 == "option" {
    value = ""
    if ($5 ~ /\|/) {
        words = $5
        gsub(/\|/, " ", words)
        value = " -x -a " quoted(words)
    } else if ($5 ~ /^(FILE|OUT|PATH|SOCKET)/) {
        value = " -r -F"
    } else if ($5 == "DIR") {
        value = " -x -a '(__fish_complete_directories)'"
    } else if ($5) {
        value = " -x"
    }
    print "complete -c " name when($2) " -l " $3 ($4 ? " -s " $4 : "") value " -d " quoted($6)
}
