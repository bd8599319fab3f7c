/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/way.h"

#include <assert.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_ENTRIES 4
#define AIO_ENTRIES  8
#define MAP_BYTES    65536

struct ring {
    int fd;
    bool polled;
    unsigned *sq_tail, *sq_flags, *sq_array, sq_mask, *cq_head, *cq_tail, cq_mask;
    struct io_uring_sqe *sqes;
    const struct io_uring_cqe *cqes;
    char *queue; /* both rings: IORING_FEAT_SINGLE_MMAP, since 5.4 */
};

/* What the program sees of a ring of libaio. */
struct aio_ring {
    unsigned id, entries, head, tail, magic, features, incompatible, header;
    struct io_event events[];
};

static _Thread_local struct {
    pid_t process; /* that has made it: a child begins anew */
    enum way way;
    struct ring ring;
    int registered;
    aio_context_t context;
    long worst; /* of a crowd */
} mine;

void way_forget(void)
{
    if (mine.process == getpid() && mine.ring.queue) {
        munmap(mine.ring.queue, MAP_BYTES);
        munmap(mine.ring.sqes, MAP_BYTES);
        close(mine.ring.fd);
    }
    if (mine.process == getpid() && mine.context)
        syscall(SYS_io_destroy, mine.context);
    memset(&mine, 0, sizeof(mine));
}

static int make_ring(struct ring *ring, enum way way)
{
    struct io_uring_params params = {.sq_thread_idle = 100};

    if (way == WAY_RING_THREAD)
        params.flags |= IORING_SETUP_SQPOLL;
    if (way == WAY_RING_CROWDED)
        params.flags |= IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP, params.cq_entries = 2;
    ring->fd = (int)syscall(SYS_io_uring_setup, way == WAY_RING_CROWDED ? 2 : RING_ENTRIES, &params);
    if (ring->fd < 0)
        return -errno;
    ring->polled = way == WAY_RING_THREAD;
    ring->queue = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
                       IORING_OFF_SQ_RING);
    if (ring->queue == MAP_FAILED)
        ring->queue = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
                           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQ_RING);
    ring->sqes = mmap(NULL, params.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
    if (ring->queue == MAP_FAILED || ring->sqes == MAP_FAILED)
        return -ENOMEM;
    ring->sq_tail = (unsigned *)(ring->queue + params.sq_off.tail);
    ring->sq_flags = (unsigned *)(ring->queue + params.sq_off.flags);
    ring->sq_array = (unsigned *)(ring->queue + params.sq_off.array);
    ring->sq_mask = params.sq_entries - 1;
    ring->cq_head = (unsigned *)(ring->queue + params.cq_off.head);
    ring->cq_tail = (unsigned *)(ring->queue + params.cq_off.tail);
    ring->cq_mask = params.cq_entries - 1;
    ring->cqes = (const struct io_uring_cqe *)(ring->queue + params.cq_off.cqes);
    return 0;
}

/* The result of the next completion. */
static long reap(struct ring *ring)
{
    unsigned head = *ring->cq_head;
    long result;

    while (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
        if (syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 && errno != EINTR)
            return -errno;
    result = ring->cqes[head & ring->cq_mask].res;
    __atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
    return result;
}

static int push(struct ring *ring, const struct io_uring_sqe *sqe)
{
    unsigned tail, at;

    assert(ring->sq_tail && ring->sqes); /* it has been made */
    tail = *ring->sq_tail;
    at = tail & ring->sq_mask;
    ring->sqes[at] = *sqe;
    ring->sq_array[at] = at;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_SEQ_CST);
    if (ring->polled) {
        if (!(__atomic_load_n(ring->sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP))
            return 0;
        return syscall(SYS_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0) < 0 ? -errno : 0;
    }
    return syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1 ? 0 : -errno;
}

/* Once a ring, what the call needs to be known to it beforehand. */
static int register_with(struct ring *ring, enum way way, long number, const long argument[6])
{
    const int file = (int)argument[0];
    const struct {
        void *base;
        size_t length;
    } memory = {(void *)argument[1], (size_t)argument[2]};

    if (mine.registered++)
        return 0;
    if (way == WAY_RING_FILE && syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_FILES, &file, 1))
        return -errno;
    if ((number == IORING_OP_READ_FIXED || number == IORING_OP_WRITE_FIXED) &&
        syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS, &memory, 1))
        return -errno;
    return 0;
}

static long fire_ring(enum way way, long number, const long argument[6], bool last)
{
    static uint64_t named; /* as programs do: the kernel tells of a completion that found no room by this name only */
    struct io_uring_sqe sqe = {
        .opcode = (uint8_t)number,
        .fd = (int)argument[0],
        .addr = (uint64_t)argument[1],
        .len = (uint32_t)argument[2],
        .off = (uint64_t)argument[3],
        .rw_flags = (int)argument[4],
        .user_data = ++named,
    };
    struct ring *ring = &mine.ring;
    int err = ring->cqes ? 0 : make_ring(ring, way); /* where that has failed, it is tried again */

    if (!err)
        err = register_with(ring, way, number, argument);
    if (err)
        return err;
    if (number == IORING_OP_GETXATTR || number == IORING_OP_SETXATTR)
        sqe.addr3 = (uint64_t)argument[5];
    else
        sqe.file_index = (uint32_t)argument[5];
    if (way == WAY_RING_WORKER)
        sqe.flags |= IOSQE_ASYNC;
    if (way == WAY_RING_FILE) {
        sqe.flags |= IOSQE_FIXED_FILE;
        sqe.fd = 0;
    }
    err = push(ring, &sqe);
    if (err)
        return err;
    if (way != WAY_RING_CROWDED)
        return reap(ring);
    mine.worst++; /* so many are under way */
    err = 0;
    for (; last && mine.worst > 1; mine.worst--) {
        long result = reap(ring);

        err = result < 0 ? (int)result : err;
    }
    if (err)
        return err;
    mine.worst -= last;
    return last ? reap(ring) : argument[2];
}

static long reap_aio(bool without_call)
{
    struct aio_ring *ring = (struct aio_ring *)mine.context;
    struct io_event event;
    unsigned head;
    long got;

    if (!without_call) {
        do
            got = syscall(SYS_io_getevents, mine.context, 1, 1, &event, NULL);
        while (got < 0 && errno == EINTR);
        return got == 1 ? (long)event.res : -errno;
    }
    head = ring->head;
    while (head == __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE))
        usleep(50);
    event = ring->events[head];
    __atomic_store_n(&ring->head, (head + 1) % ring->entries, __ATOMIC_RELEASE);
    return (long)event.res;
}

static long fire_aio(bool without_call, long number, const long argument[6])
{
    struct iocb control = {
        .aio_lio_opcode = (uint16_t)number,
        .aio_fildes = (uint32_t)argument[0],
        .aio_buf = (uint64_t)argument[1],
        .aio_nbytes = (uint64_t)argument[2],
        .aio_offset = argument[3],
    };
    struct iocb *controls[] = {&control};

    if (!mine.context && syscall(SYS_io_setup, AIO_ENTRIES, &mine.context))
        return -errno;
    if (syscall(SYS_io_submit, mine.context, 1, controls) != 1)
        return -errno;
    return reap_aio(without_call);
}

#if defined(__x86_64__)
/* Pointers are below 4 GB; what int $0x80 leaves undefined of the 64-bit registers is given up. */
static long fire_compat(long number, const long argument[6])
{
    uint32_t sixth = (uint32_t)argument[5], *at = &sixth;
    long result;

    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
                     "pushq %%rbp\n\t"
                     "movl (%[sixth]), %%ebp\n\t"
                     "int $0x80\n\t"
                     "popq %%rbp\n\t"
                     "leaq 128(%%rsp), %%rsp"
                     : "=a"(result)
                     : "a"(number), "b"(argument[0]), "c"(argument[1]), "d"(argument[2]), "S"(argument[3]),
                       "D"(argument[4]), [sixth] "r"(at)
                     : "memory", "cc", "r8", "r9", "r10", "r11");
    return (int)result;
}
#else
static long fire_compat(long number, const long argument[6])
{
    (void)number;
    (void)argument;
    return -ENOSYS;
}
#endif

long way_fire(enum way way, long number, const long argument[6], bool last)
{
    long result;

    if (way == WAY_CALL) {
        result = syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
        return result < 0 ? -errno : result;
    }
    if (way == WAY_COMPAT)
        return fire_compat(number, argument);
    if (mine.process != getpid() || mine.way != way) {
        way_forget();
        mine.process = getpid();
        mine.way = way;
    }
    /* What is fetched without a call is seen at the next one: the last is fetched by one. */
    if (way == WAY_AIO || way == WAY_AIO_RING)
        return fire_aio(way == WAY_AIO_RING && !last, number, argument);
    return fire_ring(way, number, argument, last);
}
