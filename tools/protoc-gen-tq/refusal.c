#include "tools/protoc-gen-tq/refusal.h"

#include <stdarg.h>
#include <stdio.h>

bool refuse(struct refusal *refusal, const char *format, ...)
{
    if (refusal->text[0] != '\0')
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(refusal->text, sizeof(refusal->text), format, args);
    va_end(args);
    return false;
}
