/* option.h: what idl/tq/options.proto says about a method.
 * Owns: nothing; results are values. Threads: one. */
#ifndef OPTION_H
#define OPTION_H

#include <stdbool.h>

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/schema.h"
#include "tq/bytes.h"
#include "tq/options.pb-c.h"

enum {
    OPTION_TAG = 50000,           /* of our extensions of descriptor.proto's options */
    PROTOBUF_C_OPTION_TAG = 1019, /* of those of protoc-gen-c, which change names in C */
};

/* The options file as users import it. */
#define OPTION_FILE "tq/options.proto"

/* With the defaults of options.proto filled in. */
struct method_option {
    uint32_t id;
    Tq__Idempotency idempotency;
    uint32_t timeout_ms;
    uint32_t request_bytes, response_bytes;
    uint32_t request_elements, response_elements;
    bool is_bulk, waits;
};

/* Refuses a method without an option, without an id, with a number that no runtime could honour. */
bool option_read(const struct schema *schema, const struct file *file, struct path path, const MethodProto *method,
                 struct method_option *out_option, struct refusal *refusal);
/* True when `options`, any of the XxxOptions messages or NULL, sets the extension `tag`. */
bool option_has_extension(const ProtobufCMessage *options, uint32_t tag);

#endif
