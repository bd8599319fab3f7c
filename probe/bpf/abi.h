/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the BPF programs and the drain agree upon: keys and values of every map. Included by both, so
 * there is no second copy to disagree.
 *
 * Counters only grow; the drain reads them through mmap and subtracts what it saw before. A row belongs to
 * one thread and is written by it alone, so it needs no atomics; rows of dead threads are merged and
 * recycled by the drain. Index 0 of every table means "none".
 */
#ifndef UNBLEND_PROBE_ABI_H
#define UNBLEND_PROBE_ABI_H

#ifdef __bpf__
typedef __u64 uint64_t;
typedef __u32 uint32_t;
typedef __u16 uint16_t;
typedef __u8 uint8_t;
typedef __s32 int32_t;
typedef __s8 int8_t;
#define UINT64_MAX (~0ULL)
#else
#include <assert.h>
#include <stdint.h>
#endif

#include "lib/bucket.h"
#include "lib/file_size.h"
#include "lib/operation.h"

/* Transfers are below 2^31 (MAX_RW_COUNT), but files are not; larger values land in the last bucket. */
#define ABI_SIZE_BUCKETS    BUCKETS_FOR_BITS(48)
/* 2^44 ns are 4.9 hours; what hangs longer lands in the last bucket. */
#define ABI_LATENCY_BUCKETS BUCKETS_FOR_BITS(44)

/* So many programs that preempt each other on one CPU have room for what is too large for the stack. */
#define ABI_ROOMS 4

#define ABI_PAGE_BUCKETS  16
#define ABI_SIZE_PAGES    (ABI_SIZE_BUCKETS / ABI_PAGE_BUCKETS)
#define ABI_LATENCY_PAGES (ABI_LATENCY_BUCKETS / ABI_PAGE_BUCKETS)
#define ABI_JUMP_PAGES    ABI_PAGE_BUCKETS /* of the sizes that transfers may have */
_Static_assert(ABI_JUMP_PAGES * ABI_PAGE_BUCKETS >= BUCKETS_FOR_BITS(31), "a page has room for the indices of all of theirs");

/* A piece of a histogram, taken from a common pool when its first bucket is needed. */
struct abi_page {
    uint32_t count[ABI_PAGE_BUCKETS];
};

/*
 * Where an operation went: kind << 32 | the kernel's dev_t (major << 20 | minor).
 */
#define ABI_VOLUME_NONE    0ULL /* not storage: a pipe, a terminal, a pseudo file system, a bad descriptor */
#define ABI_VOLUME_UNKNOWN 1ULL /* storage, but no volume could be told */
#define ABI_VOLUME_FS      (1ULL << 32)
#define ABI_VOLUME_DEVICE  (2ULL << 32)

/* Where a transfer starts, seen from the end of the one before it on the same open file. */
enum abi_order { ABI_ORDER_UNKNOWN, ABI_SEQUENTIAL, ABI_CONSECUTIVE, ABI_RANDOM };

/* Of a stat, in the same places: enum abi_file_size of what has a name; or, so many places behind, of what its caller has open,
   by descriptor. */
#define ABI_OF_OPEN 4
#define ABI_ORDERS  8

/*
 * The end of the last transfer on an open file; the key is the file's address. While one thread alone uses the file, it
 * keeps the end in its own abi_file, and this one's is old.
 */
struct abi_position {
    uint64_t inode; /* its address, which is even */
    uint64_t end;
    uint32_t owner; /* ABI_OWNER() of the abi_file that has the end; 0: this is the end */
    uint32_t moves; /* so often another thread has become the owner */
};

/* Or-ed to the inode: the file was open before the probe. The end is its offset then; what its last transfer was, nobody
   has seen. */
#define ABI_SEEDED 1ULL

/* How large the regular file is that is read. Of a seek or a close, in the places of enum abi_order: the same of what is
   open to be read only, so that it has no size where it may be written. */
enum abi_file_size {
    ABI_FILE_NO_SIZE, /* none, or its size is not looked at */
    ABI_FILE_SMALL,
    ABI_FILE_MEDIUM, /* from FILE_MEDIUM_MIN on */
    ABI_FILE_LARGE,  /* from FILE_LARGE_MIN on */
    ABI_FILE_SIZES
};

_Static_assert(ABI_FILE_SIZES == ABI_OF_OPEN && 2 * ABI_FILE_SIZES == ABI_ORDERS && ABI_RANDOM < ABI_ORDERS,
               "they stand in the same places, of different operations");

/* One series of one thread: the operations of one kind on one volume. Its first cache line is all that most calls change
   of it, and where the latencies of short ones are counted. */
struct abi_row {
    uint64_t volume;
    uint32_t next;    /* the thread's next row of the same operation */
    uint32_t touched; /* operations: has this row changed since the last drain? */
    uint64_t slot_end_ns; /* CLOCK_MONOTONIC; what ends later belongs to another slot */
    uint64_t bytes;
    uint64_t latency_sum_ns;
    uint32_t latency_page[ABI_LATENCY_PAGES];
    uint32_t size_page[ABI_SIZE_PAGES]; /* of open and create: the file's size */
    uint32_t errors;
    uint32_t file_size : 2; /* of reads: enum abi_file_size; the thread has a row for each on a volume */
    uint32_t jumps : 30;    /* of transfers that jump: a page of the indices of pages, by the places in size_page */
    uint32_t order[ABI_ORDERS]; /* modulo 2^32: transfers; stats; seeks and closes, by enum abi_file_size; [0] counts nothing */
};

/* Demand is told apart by slots of this length, aligned to the wall clock. */
#define ABI_SLOT_NS 100000000ULL

/*
 * Latency by octaves: [i] counts those from 2^(i + 7) ns to twice that, the first what is shorter as well, the last
 * what is longer.
 */
#define ABI_OCTAVES      26
#define ABI_OCTAVE_FIRST 5 /* of the octaves of a histogram, which are eight buckets each */

static inline uint32_t abi_octave(uint32_t octave)
{
    if (octave <= ABI_OCTAVE_FIRST)
        return 0;
    octave -= ABI_OCTAVE_FIRST;
    return octave < ABI_OCTAVES ? octave : ABI_OCTAVES - 1;
}

#define ABI_SLOTS_MIN (64u << 10) /* bytes of the ring buffer: a page on every machine */

/* What a row had counted when its slot was over, in the ring buffer. */
struct abi_slot {
    uint32_t row;
    uint32_t ops;
    uint64_t bytes;
    uint64_t end_ns; /* of the slot, CLOCK_MONOTONIC */
    uint32_t octave[ABI_OCTAVES];
};

/* What the page cache did for a read. */
enum abi_cache {
    ABI_CACHE_UNKNOWN, /* O_DIRECT, DAX, a copy that reads nothing, one that another task carries out */
    ABI_CACHE_HIT,     /* its task added no page to the page cache while it ran */
    ABI_CACHE_MISS,
};

/* How often an operation failed with one error. */
struct abi_failure {
    uint16_t op;
    uint16_t code; /* errno */
    uint32_t count;
};

#define ABI_FAILURES 23

/* So much of what a thread has received and not written yet is remembered: more than any download keeps in a buffer, and
   less than who talks to others while it computes would have when it writes a checkpoint. */
#define ABI_RECEIVED_MAX (16u << 20)

/*
 * What is rare: of one thread on one volume, beside its rows and from the same pool. What finds no room in it has
 * been counted as a failure all the same, without its errno.
 */
struct abi_detail {
    uint64_t volume;
    uint32_t next;
    uint32_t touched; /* as in a row */
    uint64_t missed_ops, missed_bytes; /* reads that were ABI_CACHE_MISS, */
    uint64_t unknown_ops;              /* and ABI_CACHE_UNKNOWN, of those with an order; the others with one are hits */
    uint64_t unknown_bytes;            /* of all that were ABI_CACHE_UNKNOWN */
    uint32_t read_faults, write_faults;  /* major ones; which of the two is not always known */
    uint64_t minor_faults;
    struct abi_failure failures[ABI_FAILURES]; /* in use up to the first with no count */
    uint64_t received_bytes; /* written of what the thread had just received from the network */
};

enum abi_table { ABI_TABLE_ROWS, ABI_TABLE_PAGES, ABI_TABLE_THREADS, ABI_TABLE_PROCESSES, ABI_TABLES };

/* So many indices one run of the filling program pushes. */
#define ABI_FILL 1000
/* So many are given back at once: a power of two. */
#define ABI_RETURN 512

/* What a thread's last files were, so that the next call on them is cheap. Its place is the descriptor's. */
struct abi_file {
    uint64_t file;
    uint64_t inode;
    uint64_t super;
    uint64_t volume;
    uint64_t end;    /* of the last transfer, if owned */
    uint32_t row[2]; /* where reads and writes are counted; 0: not known yet */
    uint32_t size;      /* ABI_SIZE_KEY() of the last transfer, */
    uint32_t size_page; /* and where it was counted */
    uint8_t size_bucket; /* of the page */
    uint8_t owned;     /* no other thread uses the file; it may be taken from here by one that does */
    uint8_t uses;      /* transfers while it was owned, modulo 256 */
    uint8_t uncached : 1; /* its reads do not go through the page cache */
    uint8_t file_size : 2; /* enum abi_file_size, as of its last read that was looked at closely, or of the open before it */
    uint8_t written : 1;   /* it is open to be written */
    union {
        uint32_t tree;      /* where trees are told: ABI_TREE() of the folders it is in; 0: other */
        uint32_t jump_page; /* where they are not: where those of size_page that jump are counted; 0: not known */
    };
};

/* Transfers are below 2^31, so none has the last key. */
#define ABI_SIZE_KEY(bytes, writes) ((uint32_t)(bytes) << 1 | (writes))
#define ABI_SIZE_NONE               0xffffffffu

#define ABI_DEAD 0x80000000u

#define ABI_FILE_CACHE 4
#define ABI_BY_PATH    ABI_FILE_CACHE
#define ABI_ELSEWHERE(file_size) (ABI_FILE_CACHE + 1 + (file_size)) /* a file that takes no place */
#define ABI_OWNER(thread, place) ((thread) * ABI_FILE_CACHE + (place))

/* Room for each of the file layer's operations, in whole cache lines. */
#define ABI_HEADS ((OP_FILE_END + 15) / 16 * 16)
_Static_assert((ABI_HEADS & (ABI_HEADS - 1)) == 0, "a power of two, so that a mask bounds an operation");

/* Its first cache line is all that most calls need of it at their start. */
struct abi_thread {
    uint32_t pid; /* with ABI_DEAD when it is: nobody is found by that */
    uint32_t process;
    uint32_t quick; /* system call number + 1 while one is in flight of which all is known here, or ABI_NOT_QUICK */
    uint16_t quick_place; /* which of the files that one is on, if it is on one; else ABI_BY_PATH or ABI_ELSEWHERE() */
    union {
        struct {
            uint8_t shedding;  /* not 0: abi_control.shed is to be looked at */
            uint8_t receiving; /* not 0: it has bytes in `received`, which its next writes use up */
        };
        uint16_t unusual; /* any of them */
    };
    uint64_t pending_ns;  /* when the call in flight began, CLOCK_MONOTONIC */
    uint64_t pending_volume;
    uint64_t registers; /* where the kernel keeps its registers in a call, which no other living thread has; 0: not known */
    uint64_t task;
    uint64_t device;     /* the last file system it has used */
    uint8_t pending_op;    /* not 0 while a call is in flight */
    uint8_t files_shift;   /* of the sample of the files that it opens on that device, */
    uint16_t files_second; /* as of that 2^30 ns of CLOCK_MONOTONIC */
    uint8_t missed;      /* that has added pages to the page cache */
    uint8_t pseudo;      /* device is no storage */
    uint8_t dead;
    uint8_t undetailed; /* not 0: a read found no room for what the page cache did */
    uint32_t head[ABI_HEADS]; /* by operation of the file layer; [OP_NONE]: details */
    struct abi_file files[ABI_FILE_CACHE];
};

/* A call is in flight, or was interrupted, of which the state knows: another program that sees it must not begin it as
   a quick one, which would count twice. */
#define ABI_NOT_QUICK 0xffffffffu

/* A thread group. */
struct abi_process {
    uint32_t tgid;
    uint32_t job; /* 0: none is known; ABI_JOB_FOUND: user space has found it, else it was given */
    uint32_t uid; /* as of its last call that was looked at closely: at least one in each slot */
    uint16_t exited;
    uint16_t known;    /* not 0: its environment has been looked at */
    uint64_t start_ns; /* CLOCK_BOOTTIME */
    uint64_t cgroup;   /* ABI_CGROUP() */
    char comm[16]; /* as of its last execve */
    uint32_t ticket;   /* ABI_TICKET() of what its environment or its launcher says; 0: nothing is known */
    uint32_t parent;   /* tgid, when it was first seen */
    uint64_t received_bytes; /* that its threads have taken from the network (TCP); user space takes them from here */
};

/* What a close_range() is about to close. */
struct abi_range {
    uint64_t volume;
    uint64_t count;
};

#define ABI_RANGES 4

/* Whether a page fault reads or writes. */
enum abi_fault { ABI_FAULT_UNKNOWN, ABI_FAULT_READ, ABI_FAULT_WRITE };

/* The value of task storage, one a thread. */
struct abi_task {
    uint32_t process;    /* 0 when the process table was full */
    uint32_t job;        /* then, the job it inherited; once the thread has ended, its job in any case */
    uint32_t thread;     /* 0 until its first call that touches storage, or when the table is full */
    uint32_t pending;    /* system call number + 1 while one is in flight */
    uint32_t restart_op; /* not 0: it was interrupted and may begin again, so it has not returned yet */
    uint32_t place;      /* which of the thread's files is file, if it is there */
    uint8_t uncounted;   /* not one of ABI_COUNTER_STATES: user space made it */
    uint8_t ended;       /* its thread has: what it still closes causes requests, when its process may be forgotten */
    uint16_t async;      /* enum abi_async_user, as async_users has it */
    uint32_t fault_write; /* enum abi_fault */
    uint64_t enter_ns;
    uint64_t volume;
    uint64_t file;    /* of a call by descriptor, and of an open that succeeded */
    uint64_t volume2; /* the writing side of a transfer */
    uint64_t inode;   /* of file, and of what a transfer between files reads */
    uint64_t missed_ns; /* enter_ns of the last call that added pages to the page cache, for a state without a thread */
    uint64_t fault_volume; /* of the page fault under way, or of one that has ended as a minor one; 0: none */
    uint64_t fault_inode;
    uint64_t fault_ns;     /* when the page was looked for; 0: fault-around found it */
    uint32_t fault_number; /* how many faults the thread had had when it began, */
    uint32_t fault_minor;  /* and minor ones, both modulo 2^32 */
    uint32_t fault_pages;  /* that it has added to the page cache */
    uint32_t event;        /* which one has been seen to last, where config.twice */
    union { /* no call needs two of them */
        uint64_t exit_ns; /* of the interrupted attempt */
        uint32_t tree;    /* as in abi_file, of a thread's first call */
        struct abi_range ranges[ABI_RANGES];
    };
};

/*
 * Rows that several CPUs write, with atomics: the block layer's, and what found no row of its own. They
 * are dense. A key that does not fit is counted in `last`, by operation.
 */
struct abi_shared_key {
    uint32_t job;
    uint32_t op;
    uint64_t volume;
};

struct abi_shared_row {
    uint64_t bytes;
    uint64_t latency_sum_ns;
    uint64_t errors;
    uint32_t size[ABI_SIZE_BUCKETS];
    uint32_t latency[ABI_LATENCY_BUCKETS];
};

#define ABI_FSTYPE_MAX 32

/* A superblock as first seen by the kernel side: what remains when its mount is gone again. */
struct abi_volume {
    char fstype[ABI_FSTYPE_MAX];
    char id[32];
    uint32_t pseudo; /* shows the kernel's state and stores nothing */
    uint32_t reserved;
};

/* The longest mount point that prefixes a path, by mount namespace: key of an LPM trie. */
#define ABI_PATH_MAX 192 /* with it, a node of the trie takes 256 bytes of kernel memory, not 512 */
struct abi_mount_key {
    uint32_t prefix_bits; /* of namespace and path together */
    uint32_t namespace;   /* inode number of the mount namespace; of who has another root in it, ABI_CONFINED() */
    char path[ABI_PATH_MAX]; /* with a '/' behind every component */
};

/*
 * Its value. Which mounts of the namespace were read: the low bits of the kernel's count of their changes with one more
 * set; 0: they are read by themselves when they change.
 */
struct abi_mount {
    uint64_t volume;
    uint32_t read;
    uint16_t length; /* of the mount point, with the '/' behind it */
    uint16_t root;   /* which folder of the volume is mounted there, as user space numbers them; 0: its root */
};

#define ABI_MOUNTS_READ(events) (((uint32_t)(events) & 0x7fffff) | 0x800000)

/* Who was confined to a folder (chroot) sees a namespace of their own: inode numbers of real ones have the upper bit set. */
#define ABI_CONFINED(hash) ((uint32_t)(hash) & 0x7fffffff)

/* A mount namespace whose mounts are to be read. */
struct abi_namespace {
    uint32_t tgid; /* of somebody in it */
    uint32_t read; /* ABI_MOUNTS_READ when that was asked for */
    uint32_t root;       /* the device of the folder that they are confined to, as the kernel has it; 0: they are not */
    uint32_t root_inode; /* its number there, the lower half */
};

/*
 * The files that a job opens on a volume, by a sample that user space merges (lib/sketch.h): each is told once an epoch,
 * when it is among those that the shift leaves in, and the shift rises with every ABI_FILES_TOLD that were told.
 */
struct abi_files_key {
    uint64_t volume;
    uint32_t job;     /* or, where none is known, the process, */
    uint32_t process; /* else 0 */
};

struct abi_files {
    struct abi_files_key key;
    uint32_t epoch; /* of CLOCK_MONOTONIC */
    uint32_t used;  /* when last, in 2^30 ns of CLOCK_MONOTONIC */
    uint32_t shift;
    uint32_t told;  /* since the shift rose, or half of them */
};

/* Keys with one hash; where there are more, those that are used give way to each other, and begin anew. */
#define ABI_FILES_WAYS 4
#define ABI_FILES_SETS 128 /* a power of two */

struct abi_files_set {
    struct abi_files way[ABI_FILES_WAYS];
};

#define ABI_FILES_KNOWN 4096ULL /* a power of two */

struct abi_file_told {
    struct abi_files_key key;
    uint64_t hash;
    uint64_t bytes; /* its size */
    uint32_t shift : 6;
    uint32_t process : 26; /* in the table of processes; 0: it has no place there */
    uint32_t tree;         /* as in abi_file */
};

#define ABI_EPOCH_SHIFT 39   /* of ns: nine minutes */
#define ABI_FILES_TOLD  1024
#define ABI_FILES_SHIFT_MAX 40 /* these as in lib/sketch.h */
#define ABI_FILES_LARGE     20
#define ABI_FILES_LARGE_MAX 20

#ifndef __bpf__
static_assert(sizeof(struct abi_page) == 64, "a page is a cache line");
static_assert(sizeof(struct abi_row) == 256, "a row is four cache lines");
static_assert(sizeof(struct abi_detail) == sizeof(struct abi_row), "both come from one pool");
static_assert(sizeof(struct abi_file) == 64, "a file is a cache line");
static_assert(sizeof(struct abi_slot) == 128, "a slot is two cache lines");
static_assert(sizeof(struct abi_thread) % 64 == 0, "threads do not share cache lines");
static_assert(sizeof(struct abi_task) <= 184, "with the kernel's header it comes from its slab of 256 bytes");
static_assert(sizeof(struct abi_process) == 64, "a process is a cache line");
static_assert(sizeof(struct abi_mount_key) <= 4 + 256, "an LPM key has at most 256 bytes of data");
#endif

#endif
