/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/site_key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/path.h"

#define DIGITS 64

static void derive(const uint8_t *secret, const char *purpose, uint8_t out[SITE_KEY_SIZE])
{
    unsigned size = SITE_KEY_SIZE;

    HMAC(EVP_sha256(), secret, SITE_KEY_SIZE, (const unsigned char *)purpose, strlen(purpose), out, &size);
}

static int derive_all(const uint8_t *secret, struct site_key *key)
{
    size_t size = SITE_KEY_SIZE;
    EVP_PKEY *pair;
    int ok;

    derive(secret, "unblend pseudonyms", key->pseudonyms);
    derive(secret, "unblend bundles", key->seed);
    pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, key->seed, SITE_KEY_SIZE);
    ok = pair && EVP_PKEY_get_raw_public_key(pair, key->public_key, &size) == 1;
    EVP_PKEY_free(pair);
    return ok ? 0 : -ENOMEM;
}

/* Two that make it at the same time end up with the same: the first file stays. */
static int make(const char *path)
{
    _cleanup_free_ char *fresh = NULL;
    _cleanup_close_ int fd = -1;
    uint8_t secret[SITE_KEY_SIZE];
    char text[DIGITS + 2];
    int err = path_make_parents(path, 0755);

    if (err)
        return err;
    if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret) ||
        asprintf(&fresh, "%s.%d", path, getpid()) < 0)
        return -EIO;
    for (unsigned i = 0; i < sizeof(secret); i++)
        snprintf(text + 2 * i, 3, "%02x", secret[i]);
    text[DIGITS] = '\n';
    fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    if (write(fd, text, DIGITS + 1) != DIGITS + 1 || fsync(fd) || (link(fresh, path) && errno != EEXIST))
        err = errno ? -errno : -EIO;
    unlink(fresh);
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(text, sizeof(text));
    return err;
}

static int read_secret(int fd, uint8_t secret[SITE_KEY_SIZE])
{
    char text[DIGITS + 2] = "";
    ssize_t size = read(fd, text, sizeof(text) - 1);

    if (size < DIGITS || strspn(text, "0123456789abcdef") != DIGITS || (size > DIGITS && text[DIGITS] != '\n'))
        return -EBADMSG;
    for (unsigned i = 0; i < SITE_KEY_SIZE; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};

        secret[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    explicit_bzero(text, sizeof(text));
    return 0;
}

int site_key_load(const char *path, struct site_key *out)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t secret[SITE_KEY_SIZE];
    struct stat st;
    int err;

    if (fd < 0 && errno == ENOENT) {
        err = make(path);
        if (err)
            return err;
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0 || fstat(fd, &st))
        return -errno;
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return -EPERM;
    err = read_secret(fd, secret);
    if (!err)
        err = derive_all(secret, out);
    explicit_bzero(secret, sizeof(secret));
    return err;
}

char *site_key_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int size;

    if (geteuid() == 0 || (!state && !home))
        size = asprintf(&path, "%s/lib/unblend/site.key", LOCALSTATEDIR);
    else if (state)
        size = asprintf(&path, "%s/unblend/site.key", state);
    else
        size = asprintf(&path, "%s/.local/state/unblend/site.key", home);
    return size < 0 ? NULL : path;
}

void site_key_digest(const struct site_key *key, const char *field, const char *name, char *digits, size_t count)
{
    size_t head = strlen(field) + 1, length = strlen(name);
    _cleanup_free_ char *text = malloc(head + length + 1);
    uint8_t digest[SITE_KEY_SIZE] = {0};
    unsigned size = sizeof(digest);

    if (!text)
        abort(); /* a name must not leave in clear, nor all of them as one */
    memcpy(text, field, head);
    memcpy(text + head, name, length + 1);
    if (!HMAC(EVP_sha256(), key->pseudonyms, SITE_KEY_SIZE, (const unsigned char *)text, head + length, digest, &size))
        abort();
    for (size_t i = 0; i < count; i++)
        digits[i] = "0123456789abcdef"[i % 2 ? digest[i / 2] & 15 : digest[i / 2] >> 4];
    digits[count] = '\0';
}

int site_key_sign(const struct site_key *key, const void *data, size_t size, uint8_t signature[SITE_SIGNATURE_SIZE])
{
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, key->seed, SITE_KEY_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t length = SITE_SIGNATURE_SIZE;
    int ok = pair && context && EVP_DigestSignInit(context, NULL, NULL, NULL, pair) == 1 &&
             EVP_DigestSign(context, signature, &length, data, size) == 1;

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pair);
    return ok ? 0 : -ENOMEM;
}

int site_key_verify(const uint8_t public_key[SITE_KEY_SIZE], const void *data, size_t size,
                    const uint8_t signature[SITE_SIGNATURE_SIZE])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, SITE_KEY_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
             EVP_DigestVerify(context, signature, SITE_SIGNATURE_SIZE, data, size) == 1;

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return ok ? 0 : -EBADMSG;
}
