/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_recording FILE : the batches of a recording, a line of JSON each */
#include <stdio.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/recording.h"

int main(int argc, char **argv)
{
    struct recording_reader *reader;
    struct codec_error error;
    struct batch *batch;
    int got;

    if (argc != 2 || recording_open(argv[1], &reader))
        return 2;
    while ((got = recording_read(reader, &batch, &error)) == 1) {
        _cleanup_free_ char *json = NULL;
        size_t size;
        int err = codec_encode(batch, &json, &size);

        batch_free(batch);
        if (err)
            return 1;
        puts(json);
    }
    recording_reader_free(reader);
    return got ? 1 : 0;
}
