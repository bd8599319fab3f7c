/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/identity.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN_MAX 16

/* A handshake may still use one that was replaced, so all stay to the end: certificates are renewed a few times a
   year. */
struct identity_pair {
    struct identity_pair *before;
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
};

static _Atomic(struct identity_pair *) shown;

/* Whether they belong together: the library checks that only here. */
static int check(const gnutls_datum_t *certificate, const gnutls_datum_t *key)
{
    gnutls_certificate_credentials_t credentials;
    int result = gnutls_certificate_allocate_credentials(&credentials);

    if (result)
        return -ENOMEM;
    result = gnutls_certificate_set_x509_key_mem(credentials, certificate, key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    return result < 0 ? -EINVAL : 0;
}

static void pair_free(struct identity_pair *pair)
{
    for (unsigned i = 0; i < pair->count; i++)
        gnutls_pcert_deinit(&pair->chain[i]);
    if (pair->key)
        gnutls_privkey_deinit(pair->key);
    free(pair);
}

int identity_set(const char *certificate, const char *key)
{
    const gnutls_datum_t certificates = {(unsigned char *)certificate, (unsigned)strlen(certificate)};
    const gnutls_datum_t keys = {(unsigned char *)key, (unsigned)strlen(key)};
    struct identity_pair *pair;
    unsigned count = CHAIN_MAX;
    int err = check(&certificates, &keys);

    if (err)
        return err;
    pair = calloc(1, sizeof(*pair));
    if (!pair)
        return -ENOMEM;
    if (gnutls_pcert_list_import_x509_raw(pair->chain, &count, &certificates, GNUTLS_X509_FMT_PEM, 0) >= 0)
        pair->count = count;
    if (!pair->count || gnutls_privkey_init(&pair->key) ||
        gnutls_privkey_import_x509_raw(pair->key, &keys, GNUTLS_X509_FMT_PEM, NULL, 0)) {
        pair_free(pair);
        return -EINVAL;
    }
    pair->before = atomic_load(&shown);
    atomic_store(&shown, pair);
    return 0;
}

int identity_show(gnutls_session_t session, const struct gnutls_cert_retr_st *info, gnutls_pcert_st **certs,
                  unsigned int *certs_length, gnutls_ocsp_data_st **ocsp, unsigned int *ocsp_length,
                  gnutls_privkey_t *key, unsigned int *flags)
{
    struct identity_pair *pair = atomic_load(&shown);

    if (!pair)
        return -1;
    *certs = pair->chain;
    *certs_length = pair->count;
    *ocsp = NULL;
    *ocsp_length = 0;
    *key = pair->key;
    *flags = 0; /* they stay ours */
    return 0;
}

void identity_clear(void)
{
    struct identity_pair *pair = atomic_exchange(&shown, NULL);

    while (pair) {
        struct identity_pair *before = pair->before;

        pair_free(pair);
        pair = before;
    }
}
