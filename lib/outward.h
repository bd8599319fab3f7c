/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a batch looks like to those outside of the site: names are pseudonyms, keyed by the site and always the same for
 * the same name, and of what is no figure only what is on an allow-list is there at all, but for what series are named
 * by: cluster, node, job, and volumes, under pseudonyms where their names may not leave. Processes never are.
 */
#ifndef UNBLEND_LIB_OUTWARD_H
#define UNBLEND_LIB_OUTWARD_H

#include "lib/option.h"
#include "lib/record.h"
#include "lib/site_key.h"

#define OUTWARD_FIELDS "cluster, node, job, user, command, label, mount, source, tree"
#define OUTWARD_ALLOWED "user, label, command, volume, mount, source, kernel, boot, hook, bypass, flow, exit, tree"

#define OUTWARD_TOKEN 3u /* the fields that a token is for: cluster and node */

struct outward {
    unsigned plain;   /* fields whose names leave as they are */
    unsigned allowed; /* what leaves at all */
    struct site_key key;
};

/* As options give it. */
struct outward_options {
    bool pseudonyms;
    const char *plain;    /* fields that keep their names: a list of OUTWARD_FIELDS, or "all"; NULL: none */
    const char *fields;   /* the allow-list, of OUTWARD_ALLOWED; NULL: all */
    const char *site_key; /* file; NULL: site_key_path() */
};

/* Rows of an option table, the same for all that may send something outside; `when` begins what is said of them. */
#define OUTWARD_PSEUDONYMS(outward, what) {"pseudonyms", 0, OPTION_FLAG, NULL, &(outward)->pseudonyms, what}
#define OUTWARD_NAMES(outward, when)                                                                                   \
    {"plain", 0, OPTION_STRING, "FIELD,...", &(outward)->plain,                                                        \
     when "these keep their names: all, or some of " OUTWARD_FIELDS},                                                  \
        {"site-key", 0, OPTION_STRING, "FILE", &(outward)->site_key, when "the key of the pseudonyms"}
#define OUTWARD_ALLOW_LIST(outward, when)                                                                              \
    {"fields", 0, OPTION_STRING, "FIELD,...", &(outward)->fields,                                                      \
     when "besides figures only these leave: " OUTWARD_ALLOWED}

/* Checks the options alone: 0, or -EINVAL or -ENOMEM after one line in the log. What does nothing is wrong on the
   command line, and may stand in a configuration file for when it does. */
int outward_check(const struct outward_options *options);

/* Checks the options and reads the key, or makes it, which it says in the log. 0 or -errno, after one line in the log; -EINVAL is wrong usage. */
int outward_new(const struct outward_options *options, struct outward *out);

/* Changes the batch, which is for encoding only afterwards. 0 or -ENOMEM. */
int outward_apply(const struct outward *outward, struct batch *batch);

/* What a volume of that name is called in such a batch: malloc'ed, NULL without memory. */
char *outward_volume(const struct outward *outward, const char *name);

#endif
