/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that make the catalogue; nobody else includes this. */
#ifndef UNBLEND_ANALYZER_CATALOGUE_PRIVATE_H
#define UNBLEND_ANALYZER_CATALOGUE_PRIVATE_H

#include <jansson.h>

#include "analyzer/catalogue.h"

extern const char catalogue_no_memory[];

/* Reads one profile, whose texts the catalogue's arena keeps. NULL, or what is wrong with it. */
const char *catalogue_read(struct catalogue *catalogue, const json_t *json, struct profile *out);

#endif
