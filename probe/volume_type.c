/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/volume_type.h"

#include <stdio.h>
#include <string.h>

const char *const volume_type_pseudo[] = {
    "proc",       "sysfs",      "cgroup",      "cgroup2",   "debugfs",     "tracefs",
    "securityfs", "bpf",        "devpts",      "mqueue",    "configfs",    "pstore",
    "efivarfs",   "binfmt_misc", "nsfs",       "selinuxfs", "smackfs",     "hugetlbfs",
    "autofs",     "rpc_pipefs", "fusectl",     "resctrl",   "pidfs",       "anon_inodefs",
    "sockfs",     "pipefs",     "bdev",        "functionfs", "nfsd",       "cpuset",
    NULL,
};

static const char *const cached_types[] = {
    "ext2",  "ext3",   "ext4",  "xfs",  "btrfs",   "f2fs",     "bcachefs", "jfs",    "nilfs2", "reiserfs", "minix", "vfat",
    "msdos", "exfat",  "ntfs3", "udf",  "iso9660", "squashfs", "erofs",    "romfs",  "cramfs", "hfsplus",  "nfs",
    "nfs4",  "gfs2",   "ocfs2", NULL,
};

/* How the source of a shared file system tells the storage. */
enum how {
    WHOLE,   /* as it is, a slash at its end aside */
    BEHIND,  /* what stands behind its last slash: the servers before it may be listed in any order */
    NOTHING, /* it is the same for all of them */
};

static const struct {
    const char *fstype, *name; /* of FUSE, without "fuse." */
    enum how how;
} shared[] = {
    {"nfs", "nfs", WHOLE},         {"nfs4", "nfs", WHOLE},       {"cifs", "cifs", WHOLE},
    {"smb3", "cifs", WHOLE},       {"ceph", "ceph", WHOLE},      {"lustre", "lustre", BEHIND},
    {"wekafs", "wekafs", BEHIND},  {"gpfs", "gpfs", WHOLE},      {"beegfs", "beegfs", NOTHING},
    {"glusterfs", "glusterfs", WHOLE}, {"9p", "9p", WHOLE},      {"virtiofs", "virtiofs", WHOLE},
    {"orangefs", "orangefs", WHOLE}, {"pvfs2", "orangefs", WHOLE}, {"afs", "afs", WHOLE},
    {"ocfs2", "ocfs2", WHOLE},     {"gfs2", "gfs2", WHOLE},      {"panfs", "panfs", WHOLE},
    {"fuse.sshfs", "sshfs", WHOLE}, {"fuse.rclone", "rclone", WHOLE}, {"fuse.goofys", "goofys", WHOLE},
    {"fuse.mountpoint-s3", "mountpoint-s3", WHOLE}, {"fuse.s3fs", "s3fs", WHOLE},
    {"fuse.juicefs", "juicefs", WHOLE}, {"fuse.glusterfs", "glusterfs", WHOLE}, {"fuse.ceph", "ceph", WHOLE},
    {"fuse.cephfs", "ceph", WHOLE}, {"fuse.ceph-fuse", "ceph", WHOLE}, {"fuse.gcsfuse", "gcsfuse", WHOLE},
    {"fuse.geesefs", "geesefs", WHOLE}, {"fuse.blobfuse2", "blobfuse2", WHOLE}, {"fuse.blobfuse", "blobfuse", WHOLE},
    {"fuse.seaweedfs", "seaweedfs", WHOLE}, {"fuse.alluxio-fuse", "alluxio", WHOLE}, {"fuse.cubefs", "cubefs", WHOLE},
    {"fuse.dfuse", "dfuse", WHOLE}, {"fuse.curlftpfs", "curlftpfs", WHOLE},
};
#define SHARED (sizeof(shared) / sizeof(*shared))

static bool listed(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

bool volume_type_is_pseudo(const char *fstype)
{
    return listed(volume_type_pseudo, fstype);
}

bool volume_type_is_cached(const char *fstype)
{
    return listed(cached_types, fstype);
}

/* mountpoint-s3 is of type fuse alone, and says who it is in its source. */
static const char *plain_fuse(const char *fstype, const char *source)
{
    return strcmp(fstype, "fuse") == 0 && (strcmp(source, "mountpoint-s3") == 0 || strcmp(source, "goofys") == 0)
               ? source
               : NULL;
}

static size_t find_shared(const char *fstype)
{
    size_t at = 0;

    while (at < SHARED && strcmp(shared[at].fstype, fstype) != 0)
        at++;
    return at;
}

bool volume_type_is_shared(const char *fstype, const char *source)
{
    return find_shared(fstype) < SHARED || plain_fuse(fstype, source);
}

/* A source that is the type's own name, or "none", says nothing. */
static bool says_nothing(const char *source, const char *type)
{
    return !*source || strcmp(source, type) == 0 || strcmp(source, "none") == 0;
}

static void name_shared(const char *type, enum how how, const struct volume_origin *origin, char *name)
{
    const char *source = origin->source, *slash = strrchr(source, '/');
    size_t length = strlen(source);

    if (how == NOTHING || says_nothing(source, type)) {
        snprintf(name, VOLUME_NAME_MAX, "%s:%s", type, origin->point);
        return;
    }
    if (how == BEHIND && slash && slash[1]) {
        snprintf(name, VOLUME_NAME_MAX, "%s:%s", type, slash + 1);
        return;
    }
    /* "server:/" is a source of its own */
    while (length > 1 && source[length - 1] == '/' && source[length - 2] != ':' && source[length - 2] != '=')
        length--;
    snprintf(name, VOLUME_NAME_MAX, "%s:%.*s", type, (int)length, source);
}

static void name_local(const struct volume_origin *origin, char *name)
{
    const char *what = origin->uuid ? origin->uuid : *origin->source == '/' ? origin->source : NULL;

    if (what)
        snprintf(name, VOLUME_NAME_MAX, "%.255s:%s:%s", origin->node, origin->fstype, what);
    else if (origin->elsewhere) /* each container has such ones, at the same places */
        snprintf(name, VOLUME_NAME_MAX, "%.255s:%s:%u:%u:%s", origin->node, origin->fstype, origin->major, origin->minor,
                 origin->point);
    else
        snprintf(name, VOLUME_NAME_MAX, "%.255s:%s:%s", origin->node, origin->fstype, origin->point);
}

void volume_type_name(const struct volume_origin *origin, char name[VOLUME_NAME_MAX])
{
    const char *fuse = plain_fuse(origin->fstype, origin->source);
    size_t at = find_shared(origin->fstype);

    if (fuse)
        name_shared(fuse, NOTHING, origin, name);
    else if (at < SHARED)
        name_shared(shared[at].name, shared[at].how, origin, name);
    else
        name_local(origin, name);
}

bool volume_type_option(const char *options, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);

    while (*options) {
        size_t option = strcspn(options, ",");

        if (option > length && strncmp(options, name, length) == 0 && options[length] == '=' &&
            option - length - 1 < size) {
            snprintf(value, size, "%.*s", (int)(option - length - 1), options + length + 1);
            return true;
        }
        options += option + (options[option] == ',');
    }
    return false;
}
