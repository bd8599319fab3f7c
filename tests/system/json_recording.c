/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_recording FILE : makes a recording of the batches on stdin, a line of JSON each */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

        if (err == -EBADMSG) {
            fprintf(stderr, "json_recording: %s: %s %s\n", argv[1], error.field, error.why);
            return 1;
        }
        if (!err) {
            err = recording_write(writer, batch);
            batch_free(batch);
        }
        if (err) {
            fprintf(stderr, "json_recording: %s: %s\n", argv[1], strerror(-err));
            return 1;
        }
    }
    return recording_close(writer) ? 1 : 0;
}
