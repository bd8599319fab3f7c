#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# embed.sh FILE.sql... : C source of schema_migrations[], and of the script for Citus, on stdout
set -eu
here=$(dirname "$0")
text() {
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/     "/' -e 's/$/\\n"/' "$1"
}
echo '#include "collector/citus.h"'
echo '#include "collector/schema.h"'
echo 'const struct migration schema_migrations[] = {'
for file; do
    printf '    {"%s",\n' "$(basename "$file" .sql)"
    text "$file"
    echo '    },'
done
echo '};'
echo "const unsigned schema_migration_count = $#;"
echo 'const char citus_script[] ='
text "$here/citus.sql"
echo ';'
