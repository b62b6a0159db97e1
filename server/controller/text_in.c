#include "server/controller/text_in.h"

#include <inttypes.h>
#include <string.h>

/* Length of the UTF-8 sequence at `text`; 0 when it is none, is longer than needed, or stands for no character. */
static size_t sequence_length(const unsigned char *text)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (text[0] < 0x80)
        return 1;
    size_t len = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    uint32_t point = text[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0; /* the terminating zero too */
        point = point << 6 | (text[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point < least[len] || point > 0x10ffff || surrogate ? 0 : len;
}

tq_status tq_text_check(const char *what, const char *text, uint64_t max_bytes, struct tq_error *err)
{
    size_t len = text != NULL ? strnlen(text, max_bytes + 1) : 0;
    if (len == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME", "%s: empty, expected 1..%" PRIu64 " bytes", what, max_bytes);
    if (len > max_bytes)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME", "%s: %zu bytes (%.32s...), expected 1..%" PRIu64, what,
                       strlen(text), text, max_bytes);
    for (size_t at = 0; at < len;) {
        size_t step = sequence_length((const unsigned char *)text + at);
        if (step == 0)
            return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME", "%s: byte %zu is not UTF-8", what, at);
        if ((unsigned char)text[at] < 0x20 || text[at] == 0x7f)
            return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME",
                           "%s: byte %zu is the control character 0x%02x, expected none", what, at,
                           (unsigned)(unsigned char)text[at]);
        at += step;
    }
    return TQ_OK;
}

tq_status tq_field_name_check(const char *what, const char *text, uint64_t max_bytes, struct tq_error *err)
{
    tq_status status = tq_text_check(what, text, max_bytes, err);
    if (status == TQ_OK && strchr(text, '/') != NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME", "%s: %s has a '/', expected none", what, text);
    return status;
}
