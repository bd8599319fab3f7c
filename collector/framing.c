/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/framing.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* What a header says, and whether it stands there more than once. */
struct same {
    const char *name, *first;
    bool again, differs;
};

static enum MHD_Result note_same(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct same *same = context;

    if (strcasecmp(name, same->name) != 0)
        return MHD_YES;
    same->again = same->first;
    same->differs |= same->first && strcmp(same->first, value ? value : "") != 0;
    same->first = value ? value : "";
    return MHD_YES;
}

const char *framing_doubt(struct MHD_Connection *connection)
{
    const char *encoding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                       MHD_HTTP_HEADER_TRANSFER_ENCODING);
    struct same length = {.name = MHD_HTTP_HEADER_CONTENT_LENGTH}, token = {.name = MHD_HTTP_HEADER_AUTHORIZATION};

    if (encoding && strcasecmp(encoding, "chunked") != 0)
        return "Transfer-Encoding must be chunked or none";
    MHD_get_connection_values(connection, MHD_HEADER_KIND, note_same, &length);
    if (length.differs || (length.first && encoding))
        return "Content-Length is said twice, or beside Transfer-Encoding";
    MHD_get_connection_values(connection, MHD_HEADER_KIND, note_same, &token);
    return token.again ? "Authorization is said twice" : NULL;
}
