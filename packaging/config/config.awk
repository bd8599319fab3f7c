# SPDX-License-Identifier: GPL-2.0-or-later
# The table of ../completions/generate as a configuration file in which every option is a comment.
BEGIN {
    FS = "\t"
    print "# Options of " program "(8), as on the command line: \"name = value\", or the name alone for what takes none."
    print "# What the command line says wins. Lines behind a # are comments, as all of these are."
}

$1 == "option" && $2 == "" && $3 !~ /^(help|version|config)$/ {
    help = $6
    value = $5
    # Options of single commands belong on the command line.
    if (help ~ /^(enroll|keep|init-db|export|revoke)/)
        next
    if (match(help, / \(default [^)]*\)$/)) {
        value = substr(help, RSTART + 10, RLENGTH - 11)
        help = substr(help, 1, RSTART - 1)
    }
    line = "#"
    print ""
    count = split(help, words, " ")
    for (i = 1; i <= count; i++) {
        if (length(line) + length(words[i]) > 98) {
            print line
            line = "#"
        }
        line = line " " words[i]
    }
    print line
    print "#" $3 (value == "" ? "" : " = " value)
}
