/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/stuck.h"

#include "analyzer/aggregate.h"
#include "analyzer/human.h"
#include "analyzer/view/json.h"
#include "lib/utf8.h"

static bool is_stuck(const struct record *record)
{
    return record->in_flight && record->oldest_ns >= STUCK_NS && record->process != NO_INDEX;
}

void stuck_line(const struct batch *batch, char *buffer, size_t size)
{
    const struct record *oldest = NULL;
    const struct process *process;
    unsigned count = 0;
    char age[HUMAN_SIZE];
    int length;

    for (uint32_t i = 0; i < batch->record_count; i++)
        if (is_stuck(&batch->records[i])) {
            count++;
            if (!oldest || batch->records[i].oldest_ns > oldest->oldest_ns)
                oldest = &batch->records[i];
        }
    *buffer = '\0';
    if (!oldest)
        return;
    process = &batch->processes[oldest->process];
    length = snprintf(buffer, size, "stuck: %.32s (%u) in %s on %.64s for %s", process->command, process->pid,
                      operation_info(oldest->op)->name, batch->volumes[oldest->volume].name,
                      human_ns(age, (double)oldest->oldest_ns));
    if (count > 1 && (size_t)length < size)
        snprintf(buffer + length, size - (size_t)length, ", and %u more", count - 1);
    utf8_one_line(buffer); /* a process gives itself its name, and its user may mount a volume anywhere */
}

json_t *stuck_list(const struct batch *batch)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (!is_stuck(record))
            continue;
        json_add(&failed, list,
                 json_pack("{s:I,s:s,s:s,s:s,s:s,s:I,s:I}", "pid", (json_int_t)batch->processes[record->process].pid,
                           "command", batch->processes[record->process].command, "job",
                           batch->jobs[record->job].name, "volume", batch->volumes[record->volume].name, "op",
                           operation_info(record->op)->name, "ops", (json_int_t)record->in_flight, "oldest_ns",
                           (json_int_t)record->oldest_ns));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}
