#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# embed.sh FILE.sql... : C source of schema_migrations[] on stdout
set -eu
echo '#include "collector/schema.h"'
echo 'const struct migration schema_migrations[] = {'
for file; do
    printf '    {"%s",\n' "$(basename "$file" .sql)"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/     "/' -e 's/$/\\n"/' "$file"
    echo '    },'
done
echo '};'
echo "const unsigned schema_version = $#;"
