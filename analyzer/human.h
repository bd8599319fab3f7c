/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for people. Buffers are HUMAN_SIZE bytes; what is returned is the buffer. */
#ifndef UNBLEND_ANALYZER_HUMAN_H
#define UNBLEND_ANALYZER_HUMAN_H

#include <stdint.h>

#define HUMAN_SIZE 40

/* 1,234,567 */
char *human_count(char *buffer, uint64_t count);
/* At most 5 characters: "999", "12.3k", "4.56M"; for operations a second. */
char *human_rate(char *buffer, double rate);
/* Binary units: "0 B", "4 KiB", "1.21 GiB"; whole numbers where they are exact. */
char *human_bytes(char *buffer, double bytes);
/* "870 ns", "12.3 us", "4.1 ms", "2.05 s" */
char *human_ns(char *buffer, double ns);
/* "1h02m03s", "12.3 s", "0.87 s", "87 ms" */
char *human_duration(char *buffer, double seconds);
/* "900,000", "409.09", "0.0023": money, or what it is multiplied by */
char *human_money(char *buffer, double value);
/* Three digits that count, and never an exponent: "1,580", "32.6", "0.0123" */
char *human_ratio(char *buffer, double value);
/* Two digits of what is an estimate, and all of those before the point: "0.25", "4", "1.6", "158" */
char *human_estimate(char *buffer, double value);
/* RFC 3339 in UTC, with milliseconds */
char *human_time(char *buffer, int64_t ns);

/* How much of its time of day tells both ends of so long a span apart: "07:38:20", or "07:38:20.418". */
int human_clock(int64_t span_ns);

#endif
