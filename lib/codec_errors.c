/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec_errors.h"

#include <errno.h>

#include "lib/error_code.h"

json_t *codec_errors_encode(const struct histogram *codes)
{
    json_t *object = json_object();
    bool failed = !object;

    for (unsigned i = 0; i < codes->length && !failed; i++) {
        char number[ERROR_NAME_SIZE];

        failed = json_object_set_new(object, error_code_name(codes->cells[i].bucket, number),
                                     json_integer((json_int_t)codes->cells[i].count)) != 0;
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

int codec_errors_decode(const json_t *object, struct histogram *codes)
{
    json_t *value;
    const char *name;

    if (!json_is_object(object))
        return -EBADMSG;
    json_object_foreach((json_t *)object, name, value)
    {
        unsigned code = error_code_by_name(name);
        json_int_t count = json_integer_value(value);
        int err;

        if (!code || !json_is_integer(value) || count < 0)
            return -EBADMSG;
        err = histogram_add_bucket(codes, code, (uint64_t)count);
        if (err)
            return err == -ENOMEM ? err : -EBADMSG;
    }
    return 0;
}
