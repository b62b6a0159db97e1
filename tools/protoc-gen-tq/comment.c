#include "tools/protoc-gen-tq/comment.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Reads one UTF-8 character of `at`. Returns its length; 0 when it is broken. */
static size_t take_utf8(const unsigned char *at, uint32_t *out_code)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    if (len <= 1) {
        *out_code = at[0];
        return len;
    }
    uint32_t code = at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0; /* also at the '\0' */
        code = code << 6 | (at[i] & 0x3f);
    }
    *out_code = code;
    return code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : len;
}

/* Characters that change the order of the text that follows (gcc warns), and those that nobody sees. */
static bool is_unseen(uint32_t code)
{
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

static void add_space_after_danger(struct text *out, const char *at)
{
    bool ends_or_begins = (at[0] == '*' && at[1] == '/') || (at[0] == '/' && at[1] == '*');
    bool is_trigraph = at[0] == '?' && at[1] == '?';
    bool is_splice = at[0] == '\\' && (at[1] == '\n' || at[1] == '\r' || at[1] == '\0');
    if (ends_or_begins || is_trigraph)
        text_add_bytes(out, " ", 1);
    else if (is_splice)
        text_add_bytes(out, ".", 1);
}

char *comment_defuse(struct pool *pool, const char *comment)
{
    struct text out = { .pool = pool };
    if (comment == NULL)
        return NULL;
    for (const char *at = comment; *at != '\0';) {
        uint32_t code;
        size_t len = take_utf8((const unsigned char *)at, &code);
        if (*at == '\r') {
            at++;
            continue;
        }
        if (len == 0 || is_unseen(code)) {
            text_add_bytes(&out, "?", 1);
            at += len == 0 ? 1 : len;
            continue;
        }
        text_add_bytes(&out, at, len);
        add_space_after_danger(&out, at);
        at += len;
    }
    text_add_bytes(&out, "", 0);
    return out.bytes;
}

static size_t line_length(const char *line)
{
    size_t len = strcspn(line, "\n");
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    return len;
}

/* protoc leaves the space behind the comment's marks at the start of each line. */
static void add_theirs(struct text *text, const char *comment, const char **prefix)
{
    for (const char *line = comment; line != NULL && *line != '\0';
         line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = line_length(line);
        const char *space = len > 0 && line[0] != ' ' && line[0] != '\t' ? " " : "";
        text_add(text, "%s%s%.*s\n", *prefix, space, (int)len, line);
        *prefix = " *";
    }
}

/* Word by word. */
static void add_ours(struct text *text, const char *ours, const char *prefix)
{
    enum { LINE_CHARS = 116 };
    size_t column = strlen(prefix);
    text_add(text, "%s", prefix);
    for (const char *word = ours; *word != '\0';) {
        size_t len = strcspn(word, " \n");
        if (column > 2 && column + 1 + len > LINE_CHARS) {
            text_add(text, "\n *");
            column = 2;
        }
        text_add(text, " %.*s", (int)len, word);
        column += 1 + len;
        word += len;
        if (*word == '\n') {
            text_add(text, "\n *");
            column = 2;
        }
        word += *word != '\0';
    }
}

void comment_add(struct text *text, const LocationProto *location, const char *ours)
{
    const char *prefix = "/*";
    add_theirs(text, location == NULL ? NULL : comment_defuse(text->pool, location->leading_comments), &prefix);
    add_ours(text, ours, prefix);
    text_add(text, " */\n");
}
