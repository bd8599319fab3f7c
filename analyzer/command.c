/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "lib/log.h"
#include "lib/output.h"
#include "lib/program.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"record", command_record,
     "run a command, or watch the node, and record every storage operation"},
    {"top", command_top, "watch the processes that do I/O"},
    {"report", command_report, "say what was done, by whom, how fast, and what it looks like"},
    {"export", command_export, "write what was recorded as a job for fio or DLIO"},
    {"payload", command_payload, "print the very bytes that would leave this node or site"},
    {"learn", command_learn, "make a profile of recordings of one workload"},
    {"doctor", command_doctor, "say what this kernel and these rights allow, hook by hook"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))

char *command_inputs(char buffer[COMMAND_INPUTS_SIZE], char *const *files, unsigned count)
{
    if (!count) /* how it is reached may hold a password */
        snprintf(buffer, COMMAND_INPUTS_SIZE, "the database");
    else if (count == 1)
        snprintf(buffer, COMMAND_INPUTS_SIZE, "%s", files[0]);
    else
        snprintf(buffer, COMMAND_INPUTS_SIZE, "%.*s and %u more", COMMAND_INPUTS_SIZE - 40, files[0], count - 1);
    return buffer;
}

static int usage(FILE *out, int status)
{
    fprintf(out, "usage: unblend COMMAND [OPTION...]\n\n"
                 "Tells blended storage I/O apart: what each job does to each volume.\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\n'unblend COMMAND --help' tells more.\n");
    return status;
}

static int run(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return usage(stdout, 0);
    if (strcmp(argv[1], "--version") == 0) {
        printf("unblend %s\n", PACKAGE_VERSION);
        return 0;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    log_error("there is no command '%s': try 'unblend --help'", argv[1]);
    return 2;
}

int command_main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    program_begin("unblend");
    return output_end(run(argc, argv));
}
