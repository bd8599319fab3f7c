# SPDX-License-Identifier: GPL-2.0-or-later
# The table that generate speaks of, as a completion for zsh.
BEGIN { FS = "\t" }

# Inside of '...'
function quoted(text) {
    gsub(/'/, "'\\''", text)
    return text
}

# Inside of [...] of a specification of _arguments
function described(text) {
    gsub(/[][\\]/, "\\\\&", text)
    return quoted(text)
}

function action(argument) {
    if (argument ~ /\|/) {
        gsub(/\|/, " ", argument)
        return ":value:(" argument ")"
    }
    if (argument ~ /^(FILE|OUT|PATH|SOCKET)/)
        return ":file:_files"
    if (argument == "DIR")
        return ":directory:_files -/"
    return argument ? ":" quoted(tolower(argument)) ": " : ""
}

$1 == "program" { name = $2 }

$1 == "command" {
    help = $3
    gsub(/:/, "\\:", help)
    commands = commands "        '" $2 ":" quoted(help) "'\n"
}

$1 == "operand" { operand[$2] = $3 }

$1 == "option" {
    if (!($2 in options))
        order[count++] = $2
    what = action($5)
    equals = $5 ? "=" : ""
    if ($4)
        line = "'(-" $4 " --" $3 ")'{-" $4 ($5 ? "+" : "") ",--" $3 equals "}'[" described($6) "]" what "'"
    else
        line = "'--" $3 equals "[" described($6) "]" what "'"
    options[$2] = options[$2] " \\\n                " line
}

END {
    f = "_" name
    print "#compdef " name
    print "# zsh completion of " name "; made of its --help"
    print f "() {"
    print "    local curcontext=$curcontext command=''"
    print "    local -a commands"
    print "    commands=(\n" commands "    )"
    print "    if (( CURRENT > 2 )) && (( ${commands[(I)${words[2]}:*]} )); then"
    print "        command=$words[2]"
    print "        shift words"
    print "        (( CURRENT-- ))"
    print "    elif (( CURRENT == 2 && $#commands )) && [[ $words[2] != -* ]]; then"
    print "        _describe command commands"
    print "        return"
    print "    fi"
    print "    case $command in"
    for (i = 0; i < count; i++) {
        print "        '" order[i] "')"
        rest = operand[order[i]] == "file" ? " \\\n                '*:file:_files'" : ""
        if (operand[order[i]] == "command")
            rest = " \\\n                '(-)1:command:_command_names -e' '*::argument:_normal'"
        print "            _arguments -s -S :" options[order[i]] rest
        print "            ;;"
    }
    print "    esac"
    print "}\n"
    print f " \"$@\""
}
