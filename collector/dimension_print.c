/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/dimension_print.h"

#include <errno.h>
#include <string.h>

#include "lib/sha256.h"

/* With its length before it, so that no two lists of texts are the same bytes. */
static void add(struct copy *bytes, const char *text)
{
    if (text)
        copy_bytes(bytes, text, strlen(text));
    else
        copy_null(bytes);
}

static int digest(const struct copy *bytes, struct dimension_key *key)
{
    uint8_t hash[SHA256_SIZE];

    if (bytes->failed)
        return -ENOMEM;
    sha256(bytes->data, bytes->size, hash);
    memcpy(key->digest, hash, sizeof(key->digest));
    return 0;
}

int dimension_print_host(const struct batch *batch, struct copy *bytes, struct dimension_key *key)
{
    const struct coverage *coverage = &batch->coverage;

    copy_reset(bytes);
    add(bytes, batch->role);
    add(bytes, batch->kernel);
    add(bytes, batch->boot_id);
    copy_int4(bytes, (int32_t)coverage->hook_count);
    for (uint32_t i = 0; i < coverage->hook_count; i++) {
        add(bytes, coverage->hooks[i].name);
        copy_int4(bytes, coverage->hooks[i].attached);
        add(bytes, coverage->hooks[i].why);
    }
    for (uint32_t i = 0; i < coverage->bypass_count; i++) {
        add(bytes, coverage->bypasses[i].what);
        add(bytes, coverage->bypasses[i].device);
        add(bytes, coverage->bypasses[i].why);
    }
    return digest(bytes, key);
}

int dimension_print_job(const struct job *job, struct copy *bytes, struct dimension_key *key)
{
    copy_reset(bytes);
    add(bytes, job->name);
    add(bytes, job->kind);
    add(bytes, job->user);
    add(bytes, job->command);
    copy_int8(bytes, job->start_ns);
    for (uint32_t i = 0; i < job->label_count; i++) {
        add(bytes, job->labels[i].name);
        add(bytes, job->labels[i].value);
    }
    return digest(bytes, key);
}

int dimension_print_volume(const struct volume *volume, struct copy *bytes, struct dimension_key *key)
{
    copy_reset(bytes);
    add(bytes, volume->name);
    add(bytes, volume->source);
    add(bytes, volume->fstype);
    copy_int4(bytes, volume->scope == SCOPE_SHARED);
    add(bytes, volume->lower);
    for (uint32_t i = 0; i < volume->mount_count; i++)
        add(bytes, volume->mounts[i]);
    return digest(bytes, key);
}
