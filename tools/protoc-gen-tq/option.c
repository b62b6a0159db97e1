#include "tools/protoc-gen-tq/option.h"

#include <string.h>

enum {
    TIMEOUT_MS_DEFAULT = 30000,
    TIMEOUT_MS_MAX = 3600000, /* the runtime cuts a deadline to an hour */
    BYTES_DEFAULT = 65536,
    BYTES_MAX = 1 << 30, /* protobuf-c is not to be trusted with sizes near 2 GiB */
    ELEMENTS_DEFAULT = 4096,
    ELEMENTS_MAX = 1 << 24,
};

bool option_has_extension(const ProtobufCMessage *options, uint32_t tag)
{
    for (unsigned i = 0; options != NULL && i < options->n_unknown_fields; i++)
        if (options->unknown_fields[i].tag == tag)
            return true;
    return false;
}

/* `option (tq.method).id = 1;` arrives as one unknown field for each statement: their payloads, joined, are the
 * message. Each begins with its length. */
static struct tq_bytes join_payloads(struct pool *pool, const ProtobufCMessage *options)
{
    size_t len = 0;
    for (unsigned i = 0; i < options->n_unknown_fields; i++)
        len += options->unknown_fields[i].len;
    uint8_t *joined = pool_zalloc(pool, len + 1);
    len = 0;
    for (unsigned i = 0; i < options->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *field = &options->unknown_fields[i];
        if (field->tag != OPTION_TAG || field->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
            continue;
        size_t skip = 0;
        while (skip < field->len && (field->data[skip++] & 0x80) != 0)
            continue;
        if (field->len > skip)
            memcpy(joined + len, field->data + skip, field->len - skip);
        len += field->len - skip;
    }
    return (struct tq_bytes){ .ptr = joined, .len = len };
}

static bool take_number(uint32_t value, uint32_t when_zero, uint32_t max, uint32_t *out)
{
    *out = value == 0 ? when_zero : value;
    return *out <= max;
}

static const char *fill(const Tq__MethodOptions *from, struct method_option *out)
{
    out->id = from->id;
    out->idempotency = from->idempotency == TQ__IDEMPOTENCY__IDEMPOTENCY_UNSPECIFIED ? TQ__IDEMPOTENCY__IDEMPOTENCY_ONCE
                                                                                     : from->idempotency;
    out->is_bulk = from->bulk;
    out->waits = from->waits;
    if (out->idempotency < TQ__IDEMPOTENCY__IDEMPOTENCY_ONCE ||
        out->idempotency > TQ__IDEMPOTENCY__IDEMPOTENCY_IDEMPOTENT)
        return "idempotency is none that this generator knows";
    if (!take_number(from->timeout_ms, TIMEOUT_MS_DEFAULT, TIMEOUT_MS_MAX, &out->timeout_ms))
        return "timeout_ms is above 3600000, an hour";
    if (!take_number(from->request_bytes, BYTES_DEFAULT, BYTES_MAX, &out->request_bytes))
        return "request_bytes is above 1073741824, 1 GiB";
    if (!take_number(from->response_bytes, BYTES_DEFAULT, BYTES_MAX, &out->response_bytes))
        return "response_bytes is above 1073741824, 1 GiB";
    if (!take_number(from->request_elements, ELEMENTS_DEFAULT, ELEMENTS_MAX, &out->request_elements))
        return "request_elements is above 16777216";
    if (!take_number(from->response_elements, ELEMENTS_DEFAULT, ELEMENTS_MAX, &out->response_elements))
        return "response_elements is above 16777216";
    return NULL;
}

bool option_read(const struct schema *schema, const struct file *file, struct path path, const MethodProto *method,
                 struct method_option *out_option, struct refusal *refusal)
{
    const ProtobufCMessage *options = method->options == NULL ? NULL : &method->options->base;
    if (!option_has_extension(options, OPTION_TAG))
        return schema_refuse(refusal, file, path, "rpc %s has no option (tq.method): it needs at least an id",
                             method->name);
    ProtobufCAllocator allocator = pool_allocator(schema->pool);
    struct tq_bytes bytes = join_payloads(schema->pool, options);
    const Tq__MethodOptions *from = tq__method_options__unpack(&allocator, bytes.len, bytes.ptr);
    if (from == NULL)
        return schema_refuse(refusal, file, path, "rpc %s: option (tq.method) is not a tq.MethodOptions", method->name);
    if (from->base.n_unknown_fields != 0)
        return schema_refuse(refusal, file, path,
                             "rpc %s: option (tq.method) has fields that this generator does not know", method->name);
    if (from->id == 0)
        return schema_refuse(refusal, file, path, "rpc %s has no id: set a number above 0 in option (tq.method)",
                             method->name);
    const char *wrong = fill(from, out_option);
    if (wrong != NULL)
        return schema_refuse(refusal, file, path, "rpc %s: %s", method->name, wrong);
    return true;
}
