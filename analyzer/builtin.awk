# SPDX-License-Identifier: GPL-2.0-or-later
# Turns profiles/*.json into one table of C strings.
BEGIN {
    print "#include \"analyzer/builtin.h\"\n\nconst struct builtin_profile builtin_profiles[] = {"
}
FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    if (NR > 1)
        print "    },"
    printf "    {\"%s\",\n", name
}
{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\"")
    printf "     \"%s\\n\"\n", $0
}
END {
    print "    },\n    {0, 0},\n};"
}
