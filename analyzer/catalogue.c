/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/catalogue.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "analyzer/builtin.h"
#include "analyzer/catalogue_private.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/vector.h"

int catalogue_add(struct catalogue *catalogue, const char *origin, const char *json, size_t size)
{
    json_error_t error;
    _cleanup_(json_decrefp) json_t *root = json_loadb(json, size, 0, &error);
    struct profile profile = {0}, *replaced;
    const char *wrong;

    if (!root) {
        log_error("cannot read the profile %s: line %d: %s: give JSON as `unblend learn` writes it", origin, error.line,
                  error.text);
        return -EBADMSG;
    }
    wrong = catalogue_read(catalogue, root, &profile);
    if (wrong) {
        log_error("cannot use the profile %s: %s", origin, wrong);
        return -EBADMSG;
    }
    replaced = catalogue_find(catalogue, profile.name);
    if (replaced) {
        *replaced = profile;
        return 0;
    }
    if (vector_reserve((void **)&catalogue->profiles, &catalogue->capacity, catalogue->count,
                       sizeof(profile))) {
        log_error("cannot use the profile %s: %s", origin, catalogue_no_memory);
        return -ENOMEM;
    }
    catalogue->profiles[catalogue->count++] = profile;
    return 0;
}

static int add_file(struct catalogue *catalogue, const char *directory, const char *name)
{
    _cleanup_free_ char *path = NULL, *json = NULL;
    _cleanup_fclose_ FILE *file = NULL;
    size_t size = 0, capacity = 0;
    ssize_t got;

    if (asprintf(&path, "%s/%s", directory, name) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    file = fopen(path, "re");
    got = file ? getdelim(&json, &capacity, '\0', file) : -1;
    if (got < 0) {
        log_error("cannot read the profile %s: %s", path,
                  file ? "it is empty: give what `unblend learn` wrote" : log_why(-errno));
        return -EBADMSG;
    }
    size = (size_t)got;
    return catalogue_add(catalogue, path, json, size);
}

static int is_profile(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int add_directory(struct catalogue *catalogue, const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_profile, alphasort), err = 0;

    if (count < 0) {
        err = -errno;
        log_error("cannot read the profiles in %s: %s", directory,
                  err == -ENOTDIR ? "it is a file: name the directory that it is in" : log_why(err));
        return err;
    }
    for (int i = 0; i < count; i++) {
        if (!err)
            err = add_file(catalogue, directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return err;
}

int catalogue_load(const char *directory, struct catalogue *out)
{
    struct catalogue catalogue = {0};
    int err = 0;

    for (const struct builtin_profile *p = builtin_profiles; !err && p->name; p++)
        err = catalogue_add(&catalogue, p->name, p->json, strlen(p->json));
    if (!err && directory)
        err = add_directory(&catalogue, directory);
    if (err) {
        catalogue_clear(&catalogue);
        return err;
    }
    *out = catalogue;
    return 0;
}

void catalogue_clear(struct catalogue *catalogue)
{
    free(catalogue->profiles);
    arena_clear(&catalogue->arena);
    *catalogue = (struct catalogue){0};
}
