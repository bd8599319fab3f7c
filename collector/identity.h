/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The certificate and key that the collector shows, which can be replaced while it serves: connections that are made
 * afterwards see the new ones. One a process.
 */
#ifndef UNBLEND_COLLECTOR_IDENTITY_H
#define UNBLEND_COLLECTOR_IDENTITY_H

#include <gnutls/abstract.h>

/* Two PEM texts, of a chain and its key, which are not kept. 0, or -EINVAL when they are none or do not fit together:
   then what was shown before is shown on. Not from two threads at once. */
int identity_set(const char *certificate, const char *key);

/* For MHD_OPTION_HTTPS_CERT_CALLBACK2. */
gnutls_certificate_retrieve_function3 identity_show;

/* When nobody shows it any more. */
void identity_clear(void);

#endif
