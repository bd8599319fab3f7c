/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyzer/agent_client.h"
#include "lib/log.h"
#include "probe/probe.h"

#define CHECKS_MAX 32

struct surroundings {
    struct utsname kernel;
    bool root, type_information, agent;
};

static void look_around(struct surroundings *around)
{
    struct agent_client *client = NULL;

    uname(&around->kernel);
    around->root = geteuid() == 0;
    around->type_information = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
    around->agent = agent_connect(AGENT_SOCKET, &client) == 0;
    agent_close(client);
}

static int print_json(const struct surroundings *around, const struct probe_check *checks, int count)
{
    json_t *list = json_array();
    json_t *root;

    for (int i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s?}", "hook", checks[i].hook, "purpose",
                            checks[i].purpose, "state",
                            checks[i].available ? "available" : "unavailable", "why",
                            checks[i].available ? NULL : checks[i].why));
    root = json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:o}", "schema", "unblend.doctor/1", "kernel",
                     around->kernel.release, "machine", around->kernel.machine, "root", around->root,
                     "kernel_btf", around->type_information, "agent", around->agent, "hooks", list);
    if (!root || json_dumpf(root, stdout, JSON_INDENT(2))) {
        log_error("cannot print: no memory, or standard output is closed");
        json_decref(root);
        return 1;
    }
    putchar('\n');
    json_decref(root);
    return 0;
}

static void print_text(const struct surroundings *around, const struct probe_check *checks, int count)
{
    printf("kernel %s on %s, %s\n", around->kernel.release, around->kernel.machine,
           around->root ? "as root" : "not as root");
    printf("  %-30s %s\n", "type information (BTF)",
           around->type_information ? "yes"
                                    : "no: use a kernel built with CONFIG_DEBUG_INFO_BTF");
    printf("  %-30s %s\n\n", "local agent",
           around->agent ? "answers: record and top work without rights through it"
                         : "none at " AGENT_SOCKET);
    for (int i = 0; i < count; i++) {
        printf("  %-30s %-4s%s\n", checks[i].hook, checks[i].available ? "yes" : "no",
               checks[i].purpose);
        /* The same reason for a whole block stands once, at its end. */
        if (!checks[i].available && (i + 1 == count || strcmp(checks[i].why, checks[i + 1].why) != 0))
            printf("  %-30s     %s\n", "", checks[i].why);
    }
}

int command_doctor(int argc, char **argv)
{
    bool json = false;
    const struct option_spec specs[] = {
        {"json", 0, OPTION_FLAG, NULL, &json, "print JSON"},
    };
    const struct option_program program = {
        .name = "unblend doctor",
        .usage = "[--json]",
        .summary = "Tries every hook and says what this kernel and these rights allow.",
        .options = specs,
        .count = sizeof(specs) / sizeof(*specs),
    };
    struct probe_check checks[CHECKS_MAX];
    struct surroundings around;
    int first, count, parsed = option_parse(&program, argc, argv, &first);

    if (parsed)
        return parsed > 0 ? 0 : 2;
    if (first < argc) {
        log_error("%s: doctor takes no operand; see --help", argv[first]);
        return 2;
    }
    look_around(&around);
    count = probe_doctor(checks, CHECKS_MAX);
    if (count < 0) {
        log_error("cannot try the hooks: %s", log_errno(count));
        return 1;
    }
    if (!json)
        print_text(&around, checks, count);
    else if (print_json(&around, checks, count))
        return 1;
    /* Like a test: 0 says that the file layer can be watched. */
    return checks[0].available && checks[1].available ? 0 : 1;
}
