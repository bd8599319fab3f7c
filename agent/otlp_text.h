/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's sums as an ExportMetricsServiceRequest of the OpenTelemetry protocol (opentelemetry-proto 1.0,
 * metrics_service.proto and metrics.proto) in its JSON encoding; unblend-agent(8) lists the metrics. All sums are
 * cumulative, so what does not arrive is in the next one.
 *
 * Histograms are exponential ones of scale 4: sixteen buckets to an octave, where lib/bucket.h has eight. Each of ours
 * is one of theirs, the one that its smallest value belongs to, and no two are the same one.
 */
#ifndef UNBLEND_AGENT_OTLP_TEXT_H
#define UNBLEND_AGENT_OTLP_TEXT_H

#include <stddef.h>

#include "agent/totals.h"

#define OTLP_SCALE 4

/* The exponential bucket of one of ours but the first: it holds (2^(index / 16), 2^((index + 1) / 16)]. */
int otlp_index(unsigned bucket);

/* The text, malloc'ed; totals have a last batch. 0 or -ENOMEM. */
int otlp_text(const struct totals *totals, char **text, size_t *size);

#endif
