#include "tools/protoc-gen-tq/parameter.h"

#include <string.h>

static bool take_flag(const char *item, const char *name, bool *out_flag)
{
    size_t len = strlen(name);
    if (strncmp(item, name, len) != 0 || (item[len] != '\0' && strcmp(item + len, "=1") != 0))
        return false;
    *out_flag = true;
    return true;
}

static bool parse_item(const char *item, struct parameter *parameter)
{
    static const char path[] = "protoc_gen_c=";
    if (take_flag(item, "fuzz", &parameter->fuzz) || take_flag(item, "only_fuzz", &parameter->only_fuzz))
        return true;
    if (strncmp(item, path, sizeof(path) - 1) != 0 || item[sizeof(path) - 1] == '\0')
        return false;
    parameter->protoc_gen_c = item + sizeof(path) - 1;
    return true;
}

bool parameter_parse(struct pool *pool, const char *text, struct parameter *out_parameter, struct refusal *refusal)
{
    *out_parameter = (struct parameter){ .protoc_gen_c = "protoc-gen-c" };
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, ",");
        const char *item = pool_copy(pool, text, len);
        if (len > 0 && !parse_item(item, out_parameter))
            return refuse(refusal, "parameter %s: expected fuzz=1, only_fuzz=1 or protoc_gen_c=PATH", item);
        text += len + (text[len] == ',');
    }
    return true;
}
