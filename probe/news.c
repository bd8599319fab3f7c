/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/news.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/lookup.h"
#include "probe/bpf/ownerabi.h"
#include "probe/hierarchy.h"

/* A walk over all cgroups is for those from before the start; what is not found then has gone. */
#define WALK_AGAIN_NS 10000000000LL
#define HIERARCHIES   32 /* more share their turns */
/* Entries begin with their key. */
struct set {
    void **entries;
    uint32_t count, capacity;
    struct lookup index;
};

struct news {
    int cgroups_map, tickets_map;
    char *root;
    struct set cgroups, tickets;
    uint32_t numbered; /* tickets of our own */
    uint32_t fetched;  /* tickets that stand in the map, where they stay, so that each says it once, */
    uint32_t kept;     /* until there are more than this */
    int64_t walked_ns[HIERARCHIES];
};

static void set_clear(struct set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        free(set->entries[i]);
    free(set->entries);
    lookup_clear(&set->index);
    *set = (struct set){.entries = NULL};
}

static void *set_find(const struct set *set, const void *key, size_t size)
{
    uint32_t hash = lookup_hash(key, size), cursor = hash, at;

    while (lookup_next(&set->index, hash, &cursor, &at))
        if (memcmp(set->entries[at], key, size) == 0)
            return set->entries[at];
    return NULL;
}

/* Takes the entry. */
static int set_add(struct set *set, void *entry, size_t key_size)
{
    if (set->count == set->capacity) {
        uint32_t wanted = set->capacity ? set->capacity * 2 : 64;
        void **grown = reallocarray(set->entries, wanted, sizeof(*grown));

        if (grown) {
            set->entries = grown;
            set->capacity = wanted;
        }
    }
    if (set->count == set->capacity || lookup_reserve(&set->index)) {
        free(entry);
        return -ENOMEM;
    }
    lookup_insert(&set->index, lookup_hash(entry, key_size), set->count);
    set->entries[set->count++] = entry;
    return 0;
}

int news_new(int cgroups_map, int tickets_map, const char *root, struct news **out)
{
    struct news *news = calloc(1, sizeof(*news));
    struct bpf_map_info info = {.max_entries = 0};
    uint32_t size = sizeof(info);

    if (!news)
        return -ENOMEM;
    if (tickets_map >= 0 && bpf_obj_get_info_by_fd(tickets_map, &info, &size) == 0)
        news->kept = info.max_entries / 2;
    news->cgroups_map = cgroups_map;
    news->tickets_map = tickets_map;
    for (unsigned i = 0; i < HIERARCHIES; i++)
        news->walked_ns[i] = -WALK_AGAIN_NS;
    news->root = strdup(root);
    if (!news->root) {
        news_free(news);
        return -ENOMEM;
    }
    *out = news;
    return 0;
}

void news_free(struct news *news)
{
    if (!news)
        return;
    set_clear(&news->cgroups);
    set_clear(&news->tickets);
    free(news->root);
    free(news);
}

int news_add_cgroup(struct news *news, uint64_t key, const char *path)
{
    struct news_cgroup *cgroup = set_find(&news->cgroups, &key, sizeof(key));

    if (cgroup)
        return 0;
    cgroup = malloc(sizeof(*cgroup) + strlen(path) + 1);
    if (!cgroup)
        return -ENOMEM;
    *cgroup = (struct news_cgroup){.key = key, .job = NEWS_UNKNOWN, .used_ns = monotonic_ns()};
    strcpy(cgroup->path, path);
    return set_add(&news->cgroups, cgroup, sizeof(key));
}

static int keep_ticket(struct news *news, uint32_t id, const char *value)
{
    struct news_ticket *ticket = set_find(&news->tickets, &id, sizeof(id));

    if (ticket)
        return 0;
    ticket = malloc(sizeof(*ticket) + strlen(value) + 1);
    if (!ticket)
        return -ENOMEM;
    *ticket = (struct news_ticket){.id = id, .job = NEWS_UNKNOWN, .used_ns = monotonic_ns()};
    strcpy(ticket->value, value);
    return set_add(&news->tickets, ticket, sizeof(id));
}

int news_add_ticket(struct news *news, uint32_t rank, const char *value, uint32_t *id)
{
    uint32_t fresh = ABI_TICKET((news->numbered + 1) & 0x7ffffff, rank) | ABI_TICKET_OURS;
    int err;

    for (uint32_t i = 0; i < news->tickets.count; i++) {
        const struct news_ticket *ticket = news->tickets.entries[i];

        if (ABI_TICKET_RANK(ticket->id) == rank && strcmp(ticket->value, value) == 0) {
            *id = ticket->id;
            return 0;
        }
    }
    err = keep_ticket(news, fresh, value);
    if (err)
        return err;
    news->numbered++;
    *id = fresh;
    return 0;
}

static int fetch_cgroups(struct news *news)
{
    struct abi_cgroup cgroup;
    uint64_t key;

    while (news->cgroups_map >= 0 && bpf_map_get_next_key(news->cgroups_map, NULL, &key) == 0) {
        int err = 0;

        if (bpf_map_lookup_elem(news->cgroups_map, &key, &cgroup) == 0) {
            cgroup.path[sizeof(cgroup.path) - 1] = '\0';
            err = news_add_cgroup(news, key, cgroup.path);
        }
        if (err)
            return err;
        bpf_map_delete_elem(news->cgroups_map, &key);
    }
    return 0;
}

static int fetch_tickets(struct news *news)
{
    struct abi_ticket ticket, next;
    bool more = news->tickets_map >= 0 && bpf_map_get_next_key(news->tickets_map, NULL, &next) == 0, full;
    uint32_t id, count = 0;

    full = news->fetched > news->kept;
    while (more) {
        ticket = next;
        more = bpf_map_get_next_key(news->tickets_map, &ticket, &next) == 0;
        if (bpf_map_lookup_elem(news->tickets_map, &ticket, &id) == 0) {
            int err;

            ticket.value[sizeof(ticket.value) - 1] = '\0';
            err = keep_ticket(news, id, ticket.value);
            if (err)
                return err;
            count++;
        }
        if (full)
            bpf_map_delete_elem(news->tickets_map, &ticket);
    }
    news->fetched = full ? 0 : count;
    return 0;
}

int news_fetch(struct news *news)
{
    int err = fetch_cgroups(news);

    return err ? err : fetch_tickets(news);
}

static int add_walked(uint64_t key, const char *path, void *context)
{
    return news_add_cgroup(context, key, path);
}

struct news_cgroup *news_cgroup(struct news *news, uint64_t key)
{
    struct news_cgroup *cgroup = set_find(&news->cgroups, &key, sizeof(key));
    unsigned hierarchy = (unsigned)(key >> ABI_CGROUP_ID_BITS);
    int64_t now = monotonic_ns(), *walked_ns = &news->walked_ns[hierarchy % HIERARCHIES];

    if (!cgroup && fetch_cgroups(news) == 0)
        cgroup = set_find(&news->cgroups, &key, sizeof(key));
    if (!cgroup && now - *walked_ns > WALK_AGAIN_NS) {
        *walked_ns = now;
        (void)hierarchy_walk(news->root, hierarchy, add_walked, news);
        cgroup = set_find(&news->cgroups, &key, sizeof(key));
    }
    if (cgroup)
        cgroup->used_ns = now;
    return cgroup;
}

struct news_ticket *news_ticket(struct news *news, uint32_t id)
{
    struct news_ticket *ticket = set_find(&news->tickets, &id, sizeof(id));

    if (!ticket && ABI_TICKET_RANK(id) < ABI_RANKS && !(id & ABI_TICKET_OURS) && fetch_tickets(news) == 0)
        ticket = set_find(&news->tickets, &id, sizeof(id));
    if (ticket)
        ticket->used_ns = monotonic_ns();
    return ticket;
}

static bool is_old(const void *entry, size_t key_size, int64_t before_ns)
{
    return key_size == sizeof(uint64_t) ? ((const struct news_cgroup *)entry)->used_ns < before_ns
                                        : ((const struct news_ticket *)entry)->used_ns < before_ns;
}

static int set_forget(struct set *set, size_t key_size, int64_t before_ns)
{
    struct set kept = {.entries = NULL};
    int err = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        if (is_old(set->entries[i], key_size, before_ns) || err)
            free(set->entries[i]);
        else
            err = set_add(&kept, set->entries[i], key_size);
    }
    free(set->entries);
    lookup_clear(&set->index);
    *set = kept;
    return err;
}

int news_forget(struct news *news, int64_t before_ns)
{
    int err = set_forget(&news->cgroups, sizeof(uint64_t), before_ns);

    return err ? err : set_forget(&news->tickets, sizeof(uint32_t), before_ns);
}
