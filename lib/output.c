/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/output.h"

#include <errno.h>

#include "lib/log.h"

int output_error(void)
{
    return errno ? -errno : -EIO;
}

int output_flush(FILE *out)
{
    errno = 0;
    return fflush(out) ? output_error() : ferror(out) ? -EIO : 0;
}

int output_json(const json_t *json, FILE *out, size_t flags)
{
    errno = 0;
    return json_dumpf(json, out, flags) || fputc('\n', out) == EOF ? output_error() : 0;
}

int output_end(int status)
{
    int err = output_flush(stdout);

    if (!err || status)
        return status;
    log_error("cannot write to standard output: %s", log_why(err));
    return 1;
}
