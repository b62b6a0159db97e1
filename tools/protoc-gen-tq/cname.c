#include "tools/protoc-gen-tq/cname.h"

#include <string.h>

#include "tools/protoc-gen-tq/reserved.h"
#include "tools/protoc-gen-tq/text.h"

/* <ctype.h> asks the locale. */
static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}
static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static char to_upper(char c)
{
    return is_lower(c) ? (char)(c - 'a' + 'A') : c;
}
static char to_lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static void add_char(struct text *text, char c)
{
    text_add_bytes(text, &c, 1);
}

static char *finish(struct text *text)
{
    text_add_bytes(text, "", 0);
    return text->bytes;
}

char *cname_type(struct pool *pool, const char *full_name)
{
    struct text text = { .pool = pool };
    bool next_is_upper = true;
    for (const char *at = full_name; *at != '\0'; at++) {
        if (*at == '.') {
            text_add(&text, "__");
            next_is_upper = true;
        } else if (*at == '_') {
            next_is_upper = true;
        } else {
            add_char(&text, next_is_upper ? to_upper(*at) : *at);
            next_is_upper = false;
        }
    }
    return finish(&text);
}

/* protoc-gen-c puts '_' before an upper-case letter that follows anything else. */
static char *split_at_upper(struct pool *pool, const char *full_name, char (*convert)(char))
{
    struct text text = { .pool = pool };
    bool was_upper = true;
    for (const char *at = full_name; *at != '\0'; at++) {
        if (*at == '.') {
            text_add(&text, "__");
            was_upper = true;
            continue;
        }
        if (is_upper(*at) && !was_upper)
            add_char(&text, '_');
        add_char(&text, convert(*at));
        was_upper = is_upper(*at);
    }
    return finish(&text);
}

char *cname_lower(struct pool *pool, const char *full_name)
{
    return split_at_upper(pool, full_name, to_lower);
}

char *cname_upper(struct pool *pool, const char *full_name)
{
    return split_at_upper(pool, full_name, to_upper);
}

char *cname_field(struct pool *pool, const char *field_name)
{
    struct text text = { .pool = pool };
    for (const char *at = field_name; *at != '\0'; at++)
        add_char(&text, to_lower(*at));
    char *name = finish(&text);
    if (reserved_is_escaped_by_protoc_gen_c(name))
        add_char(&text, '_');
    return finish(&text);
}

/* A word begins at an upper-case letter behind a lower-case one or a digit, and at the last of several upper-case
 * letters when a lower-case one follows. */
static bool begins_word(const char *name, const char *at)
{
    if (at == name || !is_upper(*at))
        return false;
    return is_lower(at[-1]) || is_digit(at[-1]) || (is_upper(at[-1]) && is_lower(at[1]));
}

char *cname_snake(struct pool *pool, const char *name)
{
    struct text text = { .pool = pool };
    for (const char *at = name; *at != '\0'; at++) {
        if (begins_word(name, at))
            add_char(&text, '_');
        add_char(&text, *at == '.' ? '_' : to_lower(*at));
    }
    return finish(&text);
}

char *cname_macro(struct pool *pool, const char *snake)
{
    struct text text = { .pool = pool };
    for (const char *at = snake; *at != '\0'; at++)
        add_char(&text, to_upper(*at));
    return finish(&text);
}

char *cname_guard(struct pool *pool, const char *file_name)
{
    struct text text = { .pool = pool };
    for (const char *at = file_name; *at != '\0'; at++) {
        if (is_lower(*at) || is_upper(*at) || is_digit(*at))
            add_char(&text, *at);
        else
            text_add(&text, "_%02x", (unsigned)(unsigned char)*at);
    }
    return finish(&text);
}

bool cname_is_identifier(const char *name)
{
    if (name == NULL || *name == '\0' || is_digit(*name))
        return false;
    for (; *name != '\0'; name++)
        if (!is_lower(*name) && !is_upper(*name) && !is_digit(*name) && *name != '_')
            return false;
    return true;
}
