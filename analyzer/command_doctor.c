/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyzer/agent_client.h"
#include "lib/log.h"
#include "lib/output.h"
#include "probe/doctor.h"
#include "probe/rights.h"

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

static json_t *hooks_json(const struct probe_diagnosis *d)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < d->check_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "hook", d->checks[i].hook, "purpose",
                                              d->checks[i].purpose, "state",
                                              d->checks[i].available ? "available" : "unavailable", "why",
                                              d->checks[i].available ? NULL : d->checks[i].why));
    return list;
}

static json_t *flavours_json(const struct probe_diagnosis *d)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < FLAVOURS - 1; i++) {
        const struct probe_flavour *f = &d->flavours[i];
        json_t *o = json_pack("{s:s, s:s, s:b, s:s}", "flavour", f->name, "state",
                              f->available ? "available" : "unavailable", "chosen", f->chosen, "why", f->why);

        if (f->available)
            json_object_set_new(o, "self_test",
                                json_pack("{s:i, s:i, s:i}", "exact", (int)f->exact, "wrong", (int)f->wrong,
                                          "absent", (int)f->absent));
        else
            json_object_set_new(o, "self_test", json_null());
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *calls_json(const struct probe_diagnosis *d)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < d->call_count; i++) {
        const struct probe_call *c = &d->calls[i];
        json_t *o = json_pack("{s:s, s:s, s:s?, s:s}", "call", c->name, "operation",
                              operation_info(c->op)->name, "flavour", c->flavour, "result", c->result);
        bool counted = c->fired && strcmp(c->result, "absent") != 0;

        json_object_set_new(o, "fired", json_integer(c->fired));
        json_object_set_new(o, "counted", counted ? json_integer(c->counted) : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *rights_json(void)
{
    const struct right *list;
    unsigned count = rights(&list);
    json_t *out = json_array();

    for (unsigned i = 0; i < count; i++)
        json_array_append_new(out, json_pack("{s:s, s:s, s:b, s:b}", "capability", list[i].name, "for",
                                             list[i].for_what, "needed", list[i].needed, "had", list[i].had));
    return out;
}

static const char *chosen(const struct probe_diagnosis *d)
{
    for (unsigned i = 0; i < FLAVOURS - 1; i++)
        if (d->flavours[i].chosen)
            return d->flavours[i].name;
    return NULL;
}

static int print_json(const struct surroundings *around, const struct probe_diagnosis *d)
{
    json_t *root = json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:b, s:s?, s:o, s:o, s:o, s:o}", "schema",
                             "unblend.doctor/1", "kernel", around->kernel.release, "machine",
                             around->kernel.machine, "root", around->root, "kernel_btf",
                             around->type_information, "host_pids", d->host_pids, "agent", around->agent,
                             "flavour", chosen(d), "flavours", flavours_json(d), "hooks", hooks_json(d),
                             "self_test", calls_json(d), "capabilities", rights_json());

    int err = root ? output_json(root, stdout, JSON_INDENT(2)) : -ENOMEM;

    json_decref(root);
    if (err)
        log_error("cannot print: %s", log_why(err));
    return err;
}

static void print_rights(void)
{
    const struct right *list;
    unsigned count = rights(&list);

    puts("\nrights");
    for (unsigned i = 0; i < count; i++)
        printf("  %-32s %-4s%s%s\n", list[i].name, list[i].had ? "yes" : "no", list[i].for_what,
               list[i].needed ? " (needed)" : "");
    for (unsigned i = 0; i < count; i++)
        if (list[i].needed && !list[i].had) {
            puts("  to get them: run as root, or setcap cap_bpf,cap_perfmon+ep on the program, or\n"
                 "  AmbientCapabilities=CAP_BPF CAP_PERFMON in a service, or an agent on this node");
            break;
        }
}

static void print_flavours(const struct probe_diagnosis *d)
{
    puts("\nflavours: where system calls are watched, and what the self-test counted");
    for (unsigned i = 0; i < FLAVOURS - 1; i++) {
        const struct probe_flavour *f = &d->flavours[i];
        char counts[80] = "";

        if (f->available)
            snprintf(counts, sizeof(counts), "%u calls exact, %u wrong, %u not in this kernel", f->exact,
                     f->wrong, f->absent);
        printf("%c %-32s %-4s%s\n", f->chosen ? '*' : ' ', f->name, f->available ? "yes" : "no", counts);
        printf("  %-32s     %s\n", "", f->why);
    }
    for (unsigned i = 0; i < d->call_count; i++) {
        const struct probe_call *c = &d->calls[i];

        if (strcmp(c->result, "wrong") == 0)
            printf("  %-32s no  fired %u times, counted %u\n", c->name, c->fired, c->counted);
        else if (strcmp(c->result, "not fired") == 0)
            printf("  %-32s ?   not fired by the self-test, because that would wait for every disk\n", c->name);
    }
}

static void print_text(const struct surroundings *around, const struct probe_diagnosis *d)
{
    printf("kernel %s on %s, %s\n", around->kernel.release, around->kernel.machine,
           around->root ? "as root" : "not as root");
    printf("  %-32s %s\n", "type information (BTF)",
           around->type_information ? "yes"
                                    : "no: use a kernel built with CONFIG_DEBUG_INFO_BTF");
    printf("  %-32s %s\n", "process ids of the host",
           d->host_pids ? "yes" : "no: start the container with them (docker run --pid=host, hostPID: true)");
    printf("  %-32s %s\n", "local agent",
           around->agent ? "answers: record and top work without rights through it"
                         : "none at " AGENT_SOCKET);
    print_rights();
    puts("\nhooks");
    for (unsigned i = 0; i < d->check_count; i++) {
        const struct probe_check *c = &d->checks[i];

        printf("  %-32s %-4s%s\n", c->hook, c->available ? "yes" : "no", c->purpose);
        /* The same reason for a whole block stands once, at its end. */
        if (!c->available && (i + 1 == d->check_count || strcmp(c->why, c[1].why) != 0))
            printf("  %-32s     %s\n", "", c->why);
    }
    print_flavours(d);
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
        .summary = "Tries every hook, fires every call, and says what this kernel and these rights allow.",
        .options = specs,
        .count = sizeof(specs) / sizeof(*specs),
        .config = SYSCONFDIR "/unblend/doctor.conf",
    };
    static struct probe_diagnosis diagnosis;
    struct surroundings around;
    int first, err, parsed = option_parse(&program, argc, argv, &first);

    if (parsed)
        return parsed > 0 ? 0 : 2;
    if (first < argc) {
        log_error("%s: doctor takes no operand; see --help", argv[first]);
        return 2;
    }
    look_around(&around);
    err = probe_doctor(&diagnosis);
    if (err) {
        log_error("cannot try the hooks: %s", log_why(err));
        return 1;
    }
    if (!json)
        print_text(&around, &diagnosis);
    else if (print_json(&around, &diagnosis))
        return 1;
    /* Like a test: 0 says that the file layer can be watched. */
    return diagnosis.works ? 0 : 1;
}
