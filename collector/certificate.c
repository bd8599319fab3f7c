/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/certificate.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

static int names(const gnutls_datum_t *der, const char *name)
{
    gnutls_x509_crt_t certificate;
    int fits;

    if (gnutls_x509_crt_init(&certificate))
        return 0;
    fits = !gnutls_x509_crt_import(certificate, der, GNUTLS_X509_FMT_DER) &&
           gnutls_x509_crt_check_hostname2(certificate, name, GNUTLS_VERIFY_DO_NOT_ALLOW_WILDCARDS);
    gnutls_x509_crt_deinit(certificate);
    return fits;
}

const char *certificate_refusal(struct MHD_Connection *connection, const char *name)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    gnutls_session_t session = info ? (gnutls_session_t)info->tls_session : NULL;
    const gnutls_datum_t *chain;
    unsigned status = 0, count = 0;

    chain = session ? gnutls_certificate_get_peers(session, &count) : NULL;
    if (!chain || !count)
        return "a client certificate is needed";
    if (gnutls_certificate_verify_peers2(session, &status) || status)
        return "the client certificate is not one of --tls-client-ca, or is not valid now";
    if (!names(chain, name))
        return "the client certificate is for another name";
    return NULL;
}
