# SPDX-License-Identifier: GPL-2.0-or-later
# The table that generate speaks of, as a completion for bash.
BEGIN { FS = "\t" }

$1 == "program" { name = $2 }
$1 == "command" { commands = commands (commands ? " " : "") $2 }
$1 == "operand" { operand[$2] = $3 }

$1 == "option" {
    if (!($2 in options))
        order[count++] = $2
    options[$2] = options[$2] " --" $3 ($4 ? " -" $4 : "")
    if (!$5)
        next
    pattern = "'" $2 "':--" $3 ($4 ? " | '" $2 "':-" $4 : "")
    if ($5 ~ /\|/) {
        gsub(/\|/, " ", $5)
        what = "words '" $5 "'"
    } else if ($5 ~ /^(FILE|OUT|PATH|SOCKET)/) {
        what = "files"
    } else if ($5 == "DIR") {
        what = "directories"
    } else {
        what = "none"
    }
    if (!(what in patterns))
        kinds[kind++] = what
    patterns[what] = patterns[what] (what in patterns && patterns[what] ? " | \\\n        " : "") pattern
}

function id(text) {
    text = name
    gsub(/-/, "_", text)
    return text
}

END {
    f = "_" id()
    print "# bash completion of " name "; made of its --help"
    print f "_words() {\n    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n}\n"
    print f "_files() {\n    compopt -o filenames\n    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\n"
    print f "_directories() {\n    compopt -o filenames\n    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n}\n"
    print f "_none() {\n    COMPREPLY=()\n}\n"
    print f "() {"
    print "    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=''"
    print "    COMPREPLY=()"
    print "    # --option=value comes as three words"
    print "    if [[ $cur == = ]]; then"
    print "        cur=''"
    print "    elif [[ $option == = ]]; then"
    print "        option=${COMP_WORDS[COMP_CWORD - 2]}"
    print "    fi"
    if (commands) {
        print "    if ((COMP_CWORD > 1)) && [[ \" " commands " \" == *\" ${COMP_WORDS[1]} \"* ]]; then"
        print "        command=${COMP_WORDS[1]}"
        print "    fi"
    }
    for (i = 0; i < count; i++)
        if (operand[order[i]] == "command") {
            print "    # what follows is a command line of its own"
            print "    local i"
            print "    for ((i = 1; i < COMP_CWORD; i++)); do"
            print "        if [[ $command == " order[i] " && ${COMP_WORDS[i]} == -- ]]; then"
            print "            if ((COMP_CWORD == i + 1)); then"
            print "                mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")"
            print "            elif declare -F _command_offset >/dev/null; then"
            print "                _command_offset $((i + 1))"
            print "            else"
            print "                " f "_files"
            print "            fi"
            print "            return"
            print "        fi"
            print "    done"
        }
    print "    case $command:$option in"
    for (i = 0; i < kind; i++)
        print "    " patterns[kinds[i]] ")\n        " f "_" kinds[i] "\n        return\n        ;;"
    print "    esac"
    print "    case $command:$cur in"
    for (i = 0; i < count; i++)
        print "    '" order[i] "':-*) " f "_words '" substr(options[order[i]], 2) "' ;;"
    for (i = 0; i < count; i++)
        if (operand[order[i]] == "file")
            print "    '" order[i] "':*) " f "_files ;;"
    if (commands)
        print "    '':*) ((COMP_CWORD > 1)) || " f "_words '" commands "' ;;"
    print "    esac"
    print "}\n"
    print "complete -F " f " " name
}
