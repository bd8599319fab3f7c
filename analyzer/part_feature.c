/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/part_feature.h"

#include <math.h>
#include <string.h>

#include "analyzer/part_features.h"

static const struct part_feature *const tables[] = {features_of_part, features_beside, features_of_whole};

/* A pipeline's features are computed from a job (analyzer/pipeline.c). */
static const char *const job_features[] = {
    "job.reads", "job.read_ops", "job.read_p50", "job.write_p50", "job.write_peak_to_mean", "job.read_write_overlap",
    "job.opens_per_close", "job.read_bytes_p50",
};

static const struct part_feature *find(const char *name)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
        for (const struct part_feature *feature = tables[t]; feature->name; feature++)
            if (strcmp(feature->name, name) == 0)
                return feature;
    return NULL;
}

bool feature_is_known(const char *name)
{
    for (size_t i = 0; i < sizeof(job_features) / sizeof(*job_features); i++)
        if (strcmp(job_features[i], name) == 0)
            return true;
    return find(name) || strncmp(name, "share_bytes.", 12) == 0 || strncmp(name, "share_ops.", 10) == 0;
}

double feature_value(const struct feature_context *context, const char *name)
{
    const struct part_feature *feature = find(name);

    return feature ? feature->value(context) : NAN;
}
