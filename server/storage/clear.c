/* StorageService/Clear. */
#include "server/storage/fields.h"
#include "server/storage/samples.h"
#include "server/storage/service.h"

void tq_storage_clear(void *state, const Tq__V1__ClearRequest *request, struct tq_server_call *call)
{
    struct tq_storage *storage = state;
    struct tq_sample_list list;
    struct tq_error err;
    const struct tq_sample_rules rules = { .max = storage->store.limits.request_samples };
    tq_status status = tq_field_names_check(&storage->store, request->fields, request->n_fields, &err);
    if (status == TQ_OK)
        status = tq_sample_list_open(&storage->store, request->samples, &rules, &list, &err);
    if (status != TQ_OK) {
        tq_storage_count(storage, TQ_OPERATION_CLEAR, status, 0);
        tq_server_fail_error(call, &err);
        return;
    }
    struct tq_clear_counts counts = { 0 };
    tq_store_clear(&storage->store, &list.named, (const char *const *)request->fields, request->n_fields, &counts);
    tq_sample_list_close(&storage->store, &list);
    Tq__V1__ClearResponse response = TQ__V1__CLEAR_RESPONSE__INIT;
    response.removed = counts.removed;
    response.absent = counts.absent;
    response.stale = counts.stale;
    response.freed_bytes = counts.freed_bytes;
    tq_storage_count(storage, TQ_OPERATION_CLEAR, TQ_OK, counts.freed_bytes);
    tq_v1_storage_clear_answer(call, &response);
}
