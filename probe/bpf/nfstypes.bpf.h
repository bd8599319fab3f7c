/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of the kernel's NFS client and server, which are modules as a rule, and of the remote procedures below
 * them: as in kernel.bpf.h, only what the programs touch. Procedures by number are RFC 1094's and RFC 1813's.
 */
#ifndef UNBLEND_PROBE_NFSTYPES_H
#define UNBLEND_PROBE_NFSTYPES_H

#include "probe/bpf/kernel.bpf.h"

#include <bpf/bpf_helpers.h>

#define NFS_PROGRAM 100003
/* include/uapi/linux/magic.h */
#define NFS_SUPER_MAGIC 0x6969

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rpc_procinfo {
    const char *p_name;
};

struct rpc_message {
    const struct rpc_procinfo *rpc_proc;
};

struct rpc_clnt {
    __u32 cl_prog;
};

struct rpc_rqst {
    __s64 rq_rtt;
    __s64 rq_xtime; /* 0: it was never sent */
};

struct rpc_task {
    int tk_status;
    struct rpc_message tk_msg;
    void *tk_calldata;
    struct rpc_clnt *tk_client;
    struct rpc_rqst *tk_rqstp;
    __s64 tk_start;
};

struct nfs_server {
    struct rpc_clnt *client;
    struct rpc_clnt *client_acl;
};

struct nfs_pgio_res {
    __u64 count; /* 32 bits on earlier kernels */
};

/* What a read's and a write's tk_calldata is. */
struct nfs_pgio_header {
    struct inode *inode;
    struct nfs_pgio_res res;
};

/* What a commit's is. */
struct nfs_commit_data {
    struct inode *inode;
};

struct svc_rqst {
    __u32 rq_prog;
    __u32 rq_vers;
    __u32 rq_proc;
    void *rq_resp; /* its status comes first, but in version 4 */
    __s64 rq_stime;
};

struct svc_export {
    struct path ex_path;
};

struct svc_fh {
    struct svc_export *fh_export;
};

#pragma clang attribute pop

/* The kernel's name of an operation, in two words that compare without a call. */
struct name {
    __u64 word[2];
};

#define NAMED(text) ((union {char letters[sizeof(struct name)]; struct name name; }){.letters = text}.name)

static __always_inline struct name read_name(const char *from)
{
    struct name name = {};

    bpf_probe_read_kernel_str(&name, sizeof(name), from);
    return name;
}

static __always_inline bool is_named(struct name name, struct name other)
{
    return name.word[0] == other.word[0] && name.word[1] == other.word[1];
}

#endif
