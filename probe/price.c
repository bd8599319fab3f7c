/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/price.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "lib/clock.h"

void price_begin(struct price *price, uint64_t run_ns, bool measure)
{
    price_clear(price);
    if (measure)
        price->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
    price->run_ns = run_ns;
    price->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    price->at_ns = monotonic_ns();
}

double price_end(struct price *price, uint64_t run_ns, bool *whole)
{
    double elapsed = (double)(monotonic_ns() - price->at_ns) * (double)sysconf(_SC_NPROCESSORS_ONLN);
    double spent = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - price->cpu_ns);

    *whole = price->stats >= 0;
    if (*whole)
        spent += (double)(run_ns - price->run_ns);
    return elapsed > 0 ? spent / elapsed : 0;
}

void price_clear(struct price *price)
{
    if (price->stats >= 0)
        close(price->stats);
    price->stats = -1;
}
