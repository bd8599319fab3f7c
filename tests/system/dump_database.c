/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_database CONNINFO [NODE-GLOB [SINCE-NS UNTIL-NS]] : the batches in a database, a line of
 * JSON each */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/source.h"
#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/log.h"

int main(int argc, char **argv)
{
    struct source_window window = {INT64_MIN, INT64_MAX, NULL, NULL};
    _cleanup_(source_freep) struct source *source = NULL;
    struct batch *batch;
    int got;

    log_program("dump_database");
    if (argc < 2)
        return 2;
    if (argc > 2)
        window.node = argv[2];
    if (argc > 4) {
        window.since_ns = strtoll(argv[3], NULL, 10);
        window.until_ns = strtoll(argv[4], NULL, 10);
    }
    if (source_database(argv[1], &window, &source))
        return 1;
    while ((got = source->next(source, &batch)) == 1) {
        _cleanup_free_ char *json = NULL;
        size_t size;
        int err = codec_encode(batch, &json, &size);

        batch_free(batch);
        if (err)
            return 1;
        puts(json);
    }
    return got ? 1 : 0;
}
