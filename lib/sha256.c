/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/sha256.h"

#include <openssl/sha.h>
#include <stdlib.h>

void sha256(const void *data, size_t size, uint8_t digest[SHA256_SIZE])
{
    if (!SHA256(data, size, digest))
        abort();
}
