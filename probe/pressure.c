/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/pressure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/host.h"

/* The total of a line, in ns; the file has microseconds. */
static bool total_of(const char *text, const char *kind, uint64_t *out)
{
    const char *line = strstr(text, kind), *total = line ? strstr(line, " total=") : NULL;
    uint64_t us;

    if (!total || memchr(line, '\n', (size_t)(total - line)) || sscanf(total, " total=%" SCNu64, &us) != 1 ||
        us > INT64_MAX / 1000)
        return false;
    *out = us * 1000;
    return true;
}

struct pressure pressure_parse(const char *text)
{
    struct pressure p = {0};

    p.known = total_of(text, "some ", &p.some_ns) && total_of(text, "full ", &p.full_ns);
    return p.known ? p : (struct pressure){0};
}

struct pressure pressure_read(const char *root)
{
    _cleanup_free_ char *text = NULL;

    if (host_read(root, &text, NULL, "/proc/pressure/io"))
        return (struct pressure){0};
    return pressure_parse(text);
}

struct pressure pressure_between(const struct pressure *before, const struct pressure *now)
{
    if (!before->known || !now->known || now->some_ns < before->some_ns || now->full_ns < before->full_ns)
        return (struct pressure){0};
    return (struct pressure){true, now->some_ns - before->some_ns, now->full_ns - before->full_ns};
}
