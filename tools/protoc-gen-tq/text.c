#include "tools/protoc-gen-tq/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void reserve(struct text *text, size_t more)
{
    if (text->size - text->len > more)
        return;
    size_t size = text->size * 2 + more + 256;
    char *bytes = pool_zalloc(text->pool, size);
    if (text->len > 0)
        memcpy(bytes, text->bytes, text->len);
    text->bytes = bytes;
    text->size = size;
}

void text_add_bytes(struct text *text, const char *bytes, size_t len)
{
    reserve(text, len);
    if (len > 0)
        memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len > 0) {
        reserve(text, (size_t)len);
        vsnprintf(text->bytes + text->len, (size_t)len + 1, format, again);
        text->len += (size_t)len;
    }
    va_end(again);
    va_end(args);
}

const char *text_peek(const struct text *text)
{
    return text->bytes == NULL ? "" : text->bytes;
}
