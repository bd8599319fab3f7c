/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What user space sets, before programs are loaded and while they run, and what they count for it. Part of the ABI of
   probe/bpf/abi.h. */
#ifndef UNBLEND_PROBE_CONFIGABI_H
#define UNBLEND_PROBE_CONFIGABI_H

#include "probe/bpf/abi.h"

/* The shape of a system call: where its descriptors and paths are. Argument numbers, -1 for none. */
enum abi_shape {
    ABI_SHAPE_FD,          /* fd */
    ABI_SHAPE_CLOSE_RANGE, /* first, last, flags */
    ABI_SHAPE_TRANSFER,    /* fd reads, second writes */
    ABI_SHAPE_FCNTL,       /* not counted; fd, command: may change how the file is read */
    ABI_SHAPE_AIO,         /* fd: enum abi_aio_call */
    ABI_SHAPE_OPEN,        /* fd (directory), path, third: flags */
    ABI_SHAPE_OPEN_HOW,    /* the same, third: struct open_how */
    ABI_SHAPE_PATH,        /* fd (directory), path */
    ABI_SHAPE_STAT,        /* fd (directory), path, third: struct stat */
    ABI_SHAPE_STATX,       /* fd (directory), path, third: struct statx */
    ABI_SHAPE_NOWHERE,     /* no descriptor, no path */
};
#define ABI_SHAPE_BY_PATH ABI_SHAPE_OPEN /* from here on, nothing is looked at before the call */

struct abi_syscall {
    uint8_t op; /* 0: not counted */
    uint8_t shape;
    int8_t fd;
    int8_t path; /* ABI_SHAPE_TRANSFER: the writing descriptor */
    int8_t third; /* ABI_SHAPE_FD: the offset, if it is given and not the file's own; ABI_SHAPE_TRANSFER: how many bytes
                     an offset has, whose address comes after its descriptor */
    uint8_t wide;   /* 32-bit calls: the offset is in two arguments, the low half first */
    uint8_t layout; /* enum abi_layout */
    uint8_t compat; /* 64-bit calls: the 32-bit call of the same number counts */
};

/* What the calls of libaio are, and the last one of a process. */
enum abi_aio_call { ABI_AIO_SETUP, ABI_AIO_DESTROY, ABI_AIO_SUBMIT, ABI_AIO_GETEVENTS, ABI_AIO_EXIT };

/* How what a stat returns is laid out. */
enum abi_layout { ABI_LAYOUT_NATIVE, ABI_LAYOUT_STAT32, ABI_LAYOUT_STAT64 };

/* The op of calls that count by what they submit and not themselves. */
#define ABI_OP_ASYNC OP_COUNT

#define ABI_SYSCALLS 512

/* Set before loading. */
struct abi_config {
    uint32_t all;    /* every process, not only those given a job */
    uint32_t pseudo; /* pseudo file systems too */
    uint32_t request_argument; /* which argument of block_rq_issue is the request */
    uint32_t has_io_start;     /* block_io_start tells the owner before block_rq_issue */
    uint32_t page_shift;       /* log2 of the page size */
    uint32_t has_compat;       /* the table has 32-bit calls */
    uint32_t twice;            /* events of io_uring and page faults have two programs, as one may be skipped */
    uint32_t tree_depth;       /* so many folders below a volume's root make a tree; 0: operations are not told by tree */
    uint32_t tree_stripe_mask; /* see struct abi_tree */
    uint32_t reserved;
    struct abi_syscall syscalls[2 * ABI_SYSCALLS]; /* by number, and behind them by the number of 32-bit calls */
};

/*
 * What may change while the programs run. Less is watched when watching costs too much: operations are not looked at
 * from their start on, so a call under way is still counted at its end.
 */
struct abi_control {
    uint64_t since_ns;   /* calls that began before are not counted: nobody saw them begin, or the one before end */
    uint32_t shed;       /* a bit for each enum operation of a system call that is not watched for now */
    uint32_t no_order;   /* where transfers start is not kept */
    uint32_t states_max; /* threads that may have a state; more share the spare ones */
    uint32_t crowded;    /* set by the programs when that was reached */
    uint32_t silent;     /* set by the programs when a request of io_uring was seen whose success is not told */
    uint32_t reserved;
    uint64_t direct_map; /* set by find_direct_map(): where the kernel maps all memory; 0: not known */
};

/* What find_direct_map() is given: a word of its caller's memory that is nowhere else. */
struct abi_known_word {
    uint64_t address, word;
};

enum abi_counter {
    ABI_COUNTER_KILLED,   /* calls whose thread died inside */
    ABI_COUNTER_OVERFLOW, /* operations counted in shared rows for want of room */
    ABI_COUNTER_LOST,     /* operations that could not be counted */
    ABI_COUNTER_COMPAT,   /* 32-bit calls that are not counted on this architecture */
    ABI_COUNTER_FORKS,    /* processes born into a job */
    ABI_COUNTER_RECOVERED, /* events that a second program has seen after the first was skipped */
    ABI_COUNTER_HOMELESS, /* living threads of a job whose process found no place in the table */
    ABI_COUNTER_STATES,   /* living threads with a state */
    ABI_COUNTER_TICKETS,  /* numbers of tickets that have been used */
    ABI_COUNTER_SLOTS_BLURRED, /* slots of rows that are counted with a later slot, for want of room */
    ABI_COUNTER_STATIONS, /* places in the storage side's table that have been given out, at least */
    ABI_COUNTER_UNSTATIONED, /* requests that found no place in the storage side's table */
    ABI_COUNTER_UNSEEN,   /* of those that were lost, block requests whose end no program has seen */
    ABI_COUNTERS
};

#ifndef __bpf__
static_assert(OP_FILE_END <= 32, "operations of system calls are bits of abi_control.shed");
#endif

#endif
