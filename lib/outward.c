/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/outward.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"

#define DIGITS 20 /* 80 bits: two of a million names meet by a chance of 1 in 2 * 10^12 */
#define PSEUDONYM_SIZE (16 + DIGITS + 1)

/* Places in the lists of names; a field's prefix stands in front of its digits. */
enum { CLUSTER, NODE, JOB, USER, COMMAND, LABEL, MOUNT, SOURCE, TREE, FIELDS };
_Static_assert(OUTWARD_TOKEN == (1u << CLUSTER | 1u << NODE), "the fields that a token is for");
static const char *const fields[] = {"cluster", "node", "job", "user", "command", "label", "mount", "source", "tree"};

enum { ALLOW_USER, ALLOW_LABEL, ALLOW_COMMAND, ALLOW_VOLUME, ALLOW_MOUNT, ALLOW_SOURCE, ALLOW_KERNEL, ALLOW_BOOT,
       ALLOW_HOOK, ALLOW_BYPASS, ALLOW_FLOW, ALLOW_EXIT, ALLOW_TREE, ALLOWED };
static const char *const allowed[] = {"user", "label", "command", "volume", "mount", "source", "kernel",
                                      "boot", "hook",  "bypass",  "flow",   "exit",  "tree"};

/* A list of names as bits. */
static int parse(const char *from, const char *option, const char *text, const char *const *names, unsigned count,
                 const char *known, unsigned *out)
{
    _cleanup_free_ char *copy = strdup(text);
    unsigned bits = 0;

    if (!copy) {
        log_error("cannot read --%s: %s", option, log_why(-ENOMEM));
        return -ENOMEM;
    }
    if (strcmp(text, "all") == 0) {
        *out = (1u << count) - 1;
        return 0;
    }
    for (char *rest = copy, *name; (name = strsep(&rest, ","));) {
        unsigned i = 0;

        name += strspn(name, " ");
        name[strcspn(name, " ")] = '\0';
        while (i < count && strcmp(names[i], name) != 0)
            i++;
        if (i == count && *name && strcmp(name, "none") != 0) {
            log_error("%s%s: '%s' is no field: give some of %s", from, option, name, known);
            return -EINVAL;
        }
        bits |= i < count ? 1u << i : 0;
    }
    *out = bits;
    return 0;
}

static int load_key(const char *path, struct site_key *key)
{
    _cleanup_free_ char *usual = path ? NULL : site_key_path();
    const char *name = path ? path : usual;
    bool fresh = name && access(name, F_OK) != 0;
    int err = name ? site_key_load(name, key) : -ENOMEM;

    if (!err && fresh)
        log_info("site key %s: it was not there and is new: pseudonyms differ from those of any other key", name);
    if (err)
        log_error("site key %s: %s", name ? name : "", err == -EPERM  ? "others could read it: chmod 600 it"
                                                       : err == -EBADMSG ? "it does not hold 64 hex digits: make a new one"
                                                                         : log_why(err));
    return err;
}

static bool allows(const struct outward *outward, unsigned field)
{
    return outward->allowed & 1u << field;
}

/* A volume is called by where it is mounted, or by its source: its name leaves if it may, or both may. */
static bool allows_volumes(const struct outward *outward)
{
    return allows(outward, ALLOW_VOLUME) || (allows(outward, ALLOW_MOUNT) && allows(outward, ALLOW_SOURCE));
}

/* All but the key. 0, -EINVAL or -ENOMEM, logged. */
static int read_options(const struct outward_options *options, struct outward *out)
{
    int err = 0;

    *out = (struct outward){.plain = (1u << FIELDS) - 1, .allowed = (1u << ALLOWED) - 1};
    if (options->pseudonyms)
        out->plain = 0;
    if (options->plain) {
        unsigned plain = 0;

        err = parse(option_from(&options->plain), "plain", options->plain, fields, FIELDS, OUTWARD_FIELDS, &plain);
        out->plain |= plain;
    }
    if (!err && options->fields)
        err = parse(option_from(&options->fields), "fields", options->fields, allowed, ALLOWED, OUTWARD_ALLOWED,
                    &out->allowed);
    return err;
}

static int refuse_idle(const char *option)
{
    log_error("--%s does nothing without --pseudonyms: give that, too, or leave it out", option);
    return -EINVAL;
}

int outward_check(const struct outward_options *options)
{
    struct outward outward;
    int err = read_options(options, &outward);

    if (!err && options->plain && !options->pseudonyms && !*option_from(&options->plain))
        err = refuse_idle("plain");
    /* Whether fields take a key depends on which, and a script need not know. */
    if (!err && options->site_key && !options->pseudonyms && !options->fields && !*option_from(&options->site_key))
        err = refuse_idle("site-key");
    return err;
}

int outward_new(const struct outward_options *options, struct outward *out)
{
    struct outward outward;
    int err = read_options(options, &outward);

    if (!err && (options->pseudonyms || !allows_volumes(&outward)))
        err = load_key(options->site_key, &outward.key);
    if (!err)
        *out = outward;
    return err;
}

/* Returns text with the pseudonym, or the name itself when it is none or stays as it is. What names nothing keeps its
   name: no text at all, and the volume that could not be told. */
static const char *pseudonym(const struct outward *outward, unsigned field, const char *name, char text[PSEUDONYM_SIZE])
{
    size_t length = strlen(fields[field]);

    if (!name || !*name || strcmp(name, "?") == 0 || outward->plain & 1u << field)
        return name;
    memcpy(text, fields[field], length);
    text[length] = '-';
    site_key_digest(&outward->key, fields[field], name, text + length + 1, DIGITS);
    return text;
}

static int rename_(const struct outward *outward, struct batch *batch, unsigned field, const char **name)
{
    char text[PSEUDONYM_SIZE];
    const char *other = pseudonym(outward, field, *name, text);

    return other == *name ? 0 : batch_set(batch, name, other);
}

static int change_job(const struct outward *outward, struct batch *batch, struct job *job)
{
    struct label *labels = (struct label *)(uintptr_t)job->labels; /* the batch's own */
    int err = rename_(outward, batch, JOB, &job->name);

    if (!allows(outward, ALLOW_USER))
        job->user = NULL;
    if (!allows(outward, ALLOW_COMMAND))
        job->command = "";
    if (!allows(outward, ALLOW_LABEL))
        job->label_count = 0;
    if (!allows(outward, ALLOW_EXIT))
        job->exit = -1;
    if (!err)
        err = rename_(outward, batch, USER, &job->user);
    if (!err)
        err = rename_(outward, batch, COMMAND, &job->command);
    for (uint32_t i = 0; !err && i < job->label_count; i++)
        err = rename_(outward, batch, LABEL, &labels[i].value);
    return err;
}

/* A volume's name is hidden with the names of mount points or sources, and where it may not leave. */
static struct outward of_volumes(const struct outward *outward)
{
    struct outward either = *outward;

    if (~outward->plain & (1u << MOUNT | 1u << SOURCE) || !allows_volumes(outward))
        either.plain = 0;
    return either;
}

static int change_volume(const struct outward *outward, struct batch *batch, struct volume *volume)
{
    const char **mounts = (const char **)(uintptr_t)volume->mounts;
    const struct outward either = of_volumes(outward);
    int err = rename_(&either, batch, MOUNT, &volume->name);

    if (!err)
        err = rename_(&either, batch, MOUNT, &volume->lower); /* another volume's name */
    if (!allows(outward, ALLOW_MOUNT))
        volume->mount_count = 0;
    if (!allows(outward, ALLOW_SOURCE))
        volume->source = "";
    for (uint32_t i = 0; !err && i < volume->mount_count; i++)
        err = rename_(outward, batch, MOUNT, &mounts[i]);
    return err ? err : rename_(outward, batch, SOURCE, &volume->source);
}

static bool is_like(const struct station *a, const struct station *b)
{
    return a->party == PARTY_SERVER && b->party == PARTY_SERVER && a->layer == b->layer && a->volume == b->volume &&
           a->request == b->request && a->job == b->job;
}

/* Several commands may serve one file system. Where none of them is told they are one: no batch names anything twice. */
static int join_servers(struct batch *batch)
{
    uint32_t kept = 0;
    int err = 0;

    for (uint32_t i = 0; i < batch->station_count; i++) {
        struct station *station = &batch->stations[i];
        uint32_t like = station->party == PARTY_SERVER ? 0 : kept;

        station->server = NULL;
        while (like < kept && !is_like(&batch->stations[like], station))
            like++;
        if (like == kept) {
            batch->stations[kept++] = *station;
            continue;
        }
        err = err ? err : station_add(&batch->stations[like], station);
        station_clear(station);
    }
    batch->station_count = kept;
    return err;
}

/* Devices of other paths are named by where they are plugged in, or by their files. */
static int change_rest(const struct outward *outward, struct batch *batch)
{
    struct bypass *bypasses = (struct bypass *)(uintptr_t)batch->coverage.bypasses;
    int err = rename_(outward, batch, CLUSTER, &batch->cluster);

    if (!err)
        err = rename_(outward, batch, NODE, &batch->node);
    if (!allows(outward, ALLOW_KERNEL))
        batch->kernel = "";
    if (!allows(outward, ALLOW_BOOT))
        batch->boot_id = "";
    if (!allows(outward, ALLOW_HOOK))
        batch->coverage.hook_count = 0;
    if (!allows(outward, ALLOW_BYPASS))
        batch->coverage.bypass_count = 0;
    for (uint32_t i = 0; !err && i < batch->coverage.bypass_count; i++)
        err = rename_(outward, batch, SOURCE, &bypasses[i].device);
    if (!allows(outward, ALLOW_FLOW)) {
        for (uint32_t i = 0; i < batch->flow_count; i++)
            flow_clear(&batch->flows[i]);
        batch->flow_count = 0;
    }
    if (!allows(outward, ALLOW_TREE))
        batch_forget_trees(batch);
    for (uint32_t i = 0; !err && i < batch->tree_count; i++)
        err = rename_(outward, batch, TREE, &batch->trees[i].name);
    for (uint32_t i = 0; !err && i < batch->process_count; i++)
        err = rename_(outward, batch, COMMAND, &batch->processes[i].command);
    if (!err && !allows(outward, ALLOW_COMMAND)) /* who serves a file system is a command */
        err = join_servers(batch);
    for (uint32_t i = 0; !err && i < batch->station_count; i++)
        err = rename_(outward, batch, COMMAND, &batch->stations[i].server);
    return err;
}

int outward_apply(const struct outward *outward, struct batch *batch)
{
    int err = change_rest(outward, batch);

    for (uint32_t i = 0; !err && i < batch->job_count; i++)
        err = change_job(outward, batch, &batch->jobs[i]);
    for (uint32_t i = 0; !err && i < batch->volume_count; i++)
        err = change_volume(outward, batch, &batch->volumes[i]);
    return err;
}

char *outward_volume(const struct outward *outward, const char *name)
{
    const struct outward either = of_volumes(outward);
    char text[PSEUDONYM_SIZE];

    return strdup(pseudonym(&either, MOUNT, name, text));
}
