/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_possible.h"

#include "analyzer/fitting_groups.h"

#define MAPPED_MIN  0.5 /* minor page faults for each file that is opened and not read, */
#define MAPPED_MAX  4   /* and to those that map all of them */
#define MAPPED_READ 0.7 /* of files that are opened: where more are read at once, the others are not mapped either */

/* Of what it transfers, there is some; true of one that transfers nothing. */
static bool moves_something(const struct fitting *fitting, const struct signature *signature)
{
    bool moves = false;

    for (uint32_t n = 0; n < signature->ingredient_count; n++) {
        const struct ingredient *of = &signature->ingredients[n];

        if (!operation_info(of->op)->has_size)
            continue;
        moves = true;
        for (size_t i = 0; i < fitting->bin_count; i++)
            if (fitting_holds(fitting, of, &fitting->bins[i]))
                return true;
    }
    return !moves;
}

/* Of files that are only opened, all pages were mapped from the page cache, or nothing was read of them. */
static bool may_be_mapped(const struct fitting *fitting, const struct signature *signature)
{
    const struct ingredient *of = signature->ingredients;
    double opens = 0, around = 0, read = 0;

    for (uint32_t n = 0; n < signature->ingredient_count; n++)
        for (size_t i = 0; i < fitting->bin_count; i++) {
            const struct bin *bin = &fitting->bins[i];

            if (of[n].op != OP_OPEN || !of[n].sized)
                continue;
            if (bin->match == MATCH_FILE && fitting_in_range(&of[n], bin))
                read += bin->ops;
            if (!fitting_holds(fitting, &of[n], bin))
                continue;
            opens += bin->ops;
            around += bin->ops * (1 + (double)bucket_lower(bin->bucket) / FAULT_AROUND);
        }
    if (read > MAPPED_READ * opens)
        return false;
    return !(opens > 0) || (fitting->context.minors >= MAPPED_MIN * opens && fitting->context.minors <= MAPPED_MAX * around);
}

bool fitting_is_possible(const struct fitting *fitting, const struct signature *signature)
{
    for (uint32_t n = 0; n < signature->ingredient_count; n++) {
        enum operation op = signature->ingredients[n].op;

        if (op != OP_OPEN && op != OP_STAT && op != OP_CLOSE)
            return moves_something(fitting, signature);
    }
    return may_be_mapped(fitting, signature);
}
