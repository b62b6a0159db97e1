#include "server/controller/fields.h"

#include <inttypes.h>

#include "transport/base/assert.h"

tq_status tq_fields_check(const struct tq_partition *partition, const struct tq_field_claim *claims, uint32_t n,
                          struct tq_error *err)
{
    uint64_t n_fields = partition->n_fields;
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_field *field = tq_partition_find_field(partition, claims[i].name);
        struct tq_cell_schema merged;
        if (field == NULL)
            n_fields++;
        else if (tq_cell_schema_merge(&field->schema, &claims[i].schema, field->name, &merged, err) != TQ_OK)
            return TQ_FAILED_PRECONDITION;
    }
    if (n_fields > partition->limits->fields)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_FIELDS",
                       "fields: partition %s would have %" PRIu64 ", expected at most %" PRIu64, partition->name,
                       n_fields, partition->limits->fields);
    return TQ_OK;
}

bool tq_fields_register(struct tq_partition *partition, const struct tq_field_claim *claims, uint32_t n)
{
    uint32_t n_before = partition->n_fields;
    for (uint32_t i = 0; i < n; i++)
        if (tq_partition_find_field(partition, claims[i].name) == NULL &&
            tq_partition_add_field(partition, claims[i].name) == NULL) {
            tq_partition_drop_fields(partition, n_before);
            return false;
        }
    return true;
}

void tq_fields_announce(struct tq_partition *partition, const struct tq_field_claim *claims, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct tq_field *field = tq_partition_find_field(partition, claims[i].name);
        tq_status status = tq_cell_schema_merge(&field->schema, &claims[i].schema, field->name, &field->schema, NULL);
        TQ_ASSERT(status == TQ_OK); /* tq_fields_check saw it */
    }
}

void tq_fields_settle(struct tq_partition *partition)
{
    for (uint32_t i = 0; i < partition->n_fields; i++)
        if (roaring_bitmap_is_empty(partition->fields[i]->produced))
            partition->fields[i]->schema = (struct tq_cell_schema){ 0 };
}
