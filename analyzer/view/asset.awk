# SPDX-License-Identifier: GPL-2.0-or-later
# Turns files into C strings named after them: report.css becomes report_css.
BEGIN {
    print "#include \"analyzer/view/html.h\""
}
FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    gsub(/[^a-z]/, "_", name)
    if (NR > 1)
        print "    ;"
    printf "\nconst char %s[] =\n", name
}
{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\"")
    printf "    \"%s\\n\"\n", $0
}
END {
    print "    ;"
}
