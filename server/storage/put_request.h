/* server/storage/put_request.h: a PutRequest, checked in itself and written out: what to store, and for each cell where
 * its bytes come from. Nothing here knows what the unit holds.
 * Owns: its arrays; names, sizes and keys point into the message. Threads: the loop's. */
#ifndef TQ_STORAGE_PUT_REQUEST_H
#define TQ_STORAGE_PUT_REQUEST_H

#include "server/storage/samples.h"
#include "server/storage/store.h"
#include "tq/v1/storage.pb-c.h"

/* Where one cell lies at its writer. Region 0: the inline frames, one after the other. */
struct tq_cell_source {
    uint32_t region;
    uint64_t offset;
};

struct tq_put_request {
    struct tq_put_plan plan;
    struct tq_sample_list samples;
    struct tq_declaration *fields;
    const uint64_t **sizes;
    uint64_t *lengths;
    struct tq_cell_source *sources; /* one a cell */
    struct tq_region *regions;      /* region i + 1 */
    size_t n_cells, n_regions;
    struct tq_bytes address; /* of the owner of the regions */
    uint64_t bulk_bytes;
    size_t n_bulk; /* cells that are not empty and not inline */
};

/* Fails with INVALID_ARGUMENT naming field, value and what was expected, RESOURCE_EXHAUSTED; zeroed then. */
TQ_MUST_CHECK tq_status tq_put_request_open(const struct tq_store *store, const Tq__V1__PutRequest *message,
                                            uint64_t inline_bytes, struct tq_put_request *out_request,
                                            struct tq_error *err);
void tq_put_request_close(const struct tq_store *store, struct tq_put_request *request); /* zeroed is allowed */

#endif
