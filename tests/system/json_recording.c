/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_recording FILE : makes a recording of the batches on stdin, a line of JSON each */
#include <stdio.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/recording.h"

int main(int argc, char **argv)
{
    struct recording_writer *writer;
    _cleanup_free_ char *line = NULL;
    size_t capacity = 0;
    ssize_t size;

    if (argc != 2 || recording_create(argv[1], &writer))
        return 2;
    while ((size = getline(&line, &capacity, stdin)) > 0) {
        struct codec_error error;
        struct batch *batch;
        int err = codec_decode(line, (size_t)size, &batch, &error);

        if (!err) {
            err = recording_write(writer, batch);
            batch_free(batch);
        }
        if (err)
            return 1;
    }
    return recording_close(writer) ? 1 : 0;
}
