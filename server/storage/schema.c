#include "server/storage/schema.h"

#include <string.h>

#include "transport/base/assert.h"

/* By tq.v1.DataType. */
static const uint8_t dtype_sizes[] = { 0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16, 1, 1 };

uint32_t tq_dtype_size(uint32_t dtype)
{
    return dtype < sizeof(dtype_sizes) ? dtype_sizes[dtype] : 0;
}

uint32_t tq_schema_sizes(const struct tq_schema *schema)
{
    return schema->layout == TQ_CELLS_JAGGED ? schema->rank : 0;
}

void tq_schemas_init(struct tq_schemas *schemas, struct tq_names *names, const struct tq_seam *seam)
{
    *schemas = (struct tq_schemas){ .names = names };
    tq_map_init(&schemas->by_hash, seam);
}

void tq_schemas_fini(struct tq_schemas *schemas)
{
    TQ_ASSERT(tq_map_count(&schemas->by_hash) == 0);
    tq_map_fini(&schemas->by_hash);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ (hash >> 32);
}

static uint32_t shape_len(const struct tq_declaration *declaration)
{
    return declaration->layout == TQ_CELLS_DENSE ? declaration->rank : 0;
}

static uint64_t hash_of(const struct tq_schemas *schemas, const struct tq_name *name,
                        const struct tq_declaration *declaration)
{
    uint64_t hash = mix(schemas->names->basis, name->id);
    hash = mix(hash, (uint64_t)declaration->layout << 32 | declaration->dtype);
    hash = mix(hash, declaration->rank);
    for (uint32_t i = 0; i < shape_len(declaration); i++)
        hash = mix(hash, declaration->shape[i]);
    for (const char *c = declaration->content_type; *c != '\0'; c++)
        hash = mix(hash, (unsigned char)*c);
    return hash;
}

static bool is_like(const struct tq_schema *schema, const struct tq_name *name,
                    const struct tq_declaration *declaration)
{
    size_t shape_bytes = shape_len(declaration) * sizeof(schema->shape[0]);
    return schema->name == name && schema->layout == declaration->layout && schema->dtype == declaration->dtype &&
           schema->rank == declaration->rank &&
           (shape_bytes == 0 || memcmp(schema->shape, declaration->shape, shape_bytes) == 0) &&
           strcmp(schema->content_type, declaration->content_type) == 0;
}

static struct tq_schema *make(const struct tq_schemas *schemas, const struct tq_declaration *declaration)
{
    size_t shape_bytes = shape_len(declaration) * sizeof(uint64_t);
    size_t text_bytes = strlen(declaration->content_type) + 1;
    struct tq_schema *schema = tq_seam_alloc(schemas->by_hash.seam, sizeof(*schema) + shape_bytes + text_bytes);
    if (schema == NULL)
        return NULL;
    schema->layout = declaration->layout;
    schema->dtype = declaration->dtype;
    schema->rank = declaration->rank;
    schema->content_type = (char *)schema->shape + shape_bytes;
    if (shape_bytes > 0)
        memcpy(schema->shape, declaration->shape, shape_bytes);
    memcpy(schema->content_type, declaration->content_type, text_bytes);
    return schema;
}

struct tq_schema *tq_schemas_hold(struct tq_schemas *schemas, const struct tq_declaration *declaration)
{
    struct tq_name *name = tq_names_hold(schemas->names, declaration->name);
    if (name == NULL)
        return NULL;
    uint64_t hash = hash_of(schemas, name, declaration);
    struct tq_schema *head = tq_map_get(&schemas->by_hash, hash);
    for (struct tq_schema *schema = head; schema != NULL; schema = schema->next)
        if (is_like(schema, name, declaration)) {
            tq_name_drop(schemas->names, name);
            return tq_schema_hold(schema);
        }
    struct tq_schema *schema = make(schemas, declaration);
    if (schema == NULL || !tq_map_put(&schemas->by_hash, hash, schema)) {
        tq_seam_free(schemas->by_hash.seam, schema);
        tq_name_drop(schemas->names, name);
        return NULL;
    }
    schema->next = head;
    schema->hash = hash;
    schema->name = name;
    return tq_schema_hold(schema);
}

struct tq_schema *tq_schema_hold(struct tq_schema *schema)
{
    schema->holds++;
    return schema;
}

static void unlink_schema(struct tq_schemas *schemas, struct tq_schema *schema)
{
    struct tq_schema *head = tq_map_get(&schemas->by_hash, schema->hash);
    if (head != schema) {
        while (head->next != schema)
            head = head->next;
        head->next = schema->next;
    } else if (schema->next == NULL) {
        tq_map_remove(&schemas->by_hash, schema->hash);
    } else {
        bool replaced = tq_map_put(&schemas->by_hash, schema->hash, schema->next);
        TQ_ASSERT(replaced); /* the key is there: nothing grows */
    }
}

void tq_schema_drop(struct tq_schemas *schemas, struct tq_schema *schema)
{
    if (schema == NULL || --schema->holds > 0)
        return;
    unlink_schema(schemas, schema);
    tq_name_drop(schemas->names, schema->name);
    tq_seam_free(schemas->by_hash.seam, schema);
}
