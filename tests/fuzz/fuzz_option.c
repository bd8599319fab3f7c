/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values, configuration files and command lines: the first byte chooses. Run with -close_fd_mask=3.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/option.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

#define ARGUMENTS_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool all;
static uint64_t interval, memory, count;
static const char *output;

static const struct option_spec specs[] = {
    {"interval", 'i', OPTION_DURATION, "DURATION", &interval, "how long"},
    {"memory", 'm', OPTION_SIZE, "SIZE", &memory, "how much"},
    {"count", 'n', OPTION_COUNT, "N", &count, "how many"},
    {"output", 'o', OPTION_STRING, "FILE", &output, "where to"},
    {"all", 'a', OPTION_FLAG, NULL, &all, "everything"},
};

static void check_values(const char *text)
{
    uint64_t value = 77;

    CHECK(option_duration(text, &value) ? value == 77 : value <= INT64_MAX);
    value = 77;
    CHECK(option_percent(text, &value) ? value == 77 : value <= 1000000);
    value = 77;
    CHECK(option_size(text, &value) ? value == 77 : value <= INT64_MAX);
    value = 77;
    CHECK(option_count(text, &value) ? value == 77 : value <= INT64_MAX);
}

static void parse(const char *config, int argc, char **argv)
{
    const struct option_program program = {
        "fuzz", "[OPTION]", "Fuzzes.", specs, sizeof(specs) / sizeof(specs[0]), config, NULL};
    int first = -1;
    int result = option_parse(&program, argc, argv, &first);

    CHECK(result == 0 || result == 1 || result == -EINVAL);
    CHECK(result ? first == -1 : first >= 1 && first <= argc);
    CHECK(interval <= INT64_MAX && memory <= INT64_MAX && count <= INT64_MAX);
}

static void check_file(const char *text, size_t size)
{
    static int file = -1;
    char path[32], *argv[] = {"fuzz", NULL};

    if (file < 0)
        file = memfd_create("config", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    CHECK(!ftruncate(file, 0) && pwrite(file, text, size, 0) == (ssize_t)size);
    parse(path, 1, argv);
}

/* One argument a line. */
static void check_arguments(char *text)
{
    char *argv[ARGUMENTS_MAX + 1] = {"fuzz"};
    int argc = 1;

    while (text && argc < ARGUMENTS_MAX)
        argv[argc++] = strsep(&text, "\n");
    parse(NULL, argc, argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);

    if (!size)
        return 0;
    CHECK(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    output = NULL;
    if (data[0] == 'v')
        check_values(text);
    else if (data[0] == 'f')
        check_file(text, size - 1);
    else
        check_arguments(text);
    return 0;
}
