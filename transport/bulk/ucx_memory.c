#include <string.h>

#include "transport/bulk/ucx_private.h"

struct tq_view {
    const struct tq_seam *seam;
    ucp_rkey_h key;
};

/* ---- our extents ---- */

static ucs_status_t pack_key(struct tq_ucx *ucx, struct tq_mapping *mapping)
{
    void *packed = NULL;
    size_t len = 0;
    ucs_status_t status = ucp_rkey_pack(ucx->memory, mapping->handle, &packed, &len);
    if (status != UCS_OK)
        return status;
    mapping->key = tq_seam_alloc(ucx->seam, len);
    if (mapping->key != NULL) {
        memcpy(mapping->key, packed, len);
        mapping->key_len = len;
    }
    ucp_rkey_buffer_release(packed);
    return mapping->key != NULL ? UCS_OK : UCS_ERR_NO_MEMORY;
}

tq_status tq_ucx_map(struct tq_ucx *ucx, size_t bytes, struct tq_mapping *out_mapping, struct tq_error *err)
{
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = bytes,
        .flags = UCP_MEM_MAP_ALLOCATE,
    };
    struct tq_mapping mapping = { .bytes = bytes };
    ucp_mem_h handle = NULL;
    ucs_status_t status = ucx->memory != NULL ? ucp_mem_map(ucx->memory, &params, &handle) : UCS_ERR_UNSUPPORTED;
    mapping.handle = handle;
    ucp_mem_attr_t attr = { .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS };
    if (status == UCS_OK)
        status = ucp_mem_query(handle, &attr);
    mapping.base = attr.address;
    if (status == UCS_OK)
        status = pack_key(ucx, &mapping);
    if (status == UCS_OK) {
        *out_mapping = mapping;
        return TQ_OK;
    }
    if (handle != NULL)
        (void)ucp_mem_unmap(ucx->memory, handle);
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "ucp_mem_map of %zu bytes: %s", bytes,
                   ucs_status_string(status));
}

void tq_ucx_unmap(struct tq_ucx *ucx, struct tq_mapping *mapping)
{
    (void)ucp_mem_unmap(ucx->memory, mapping->handle);
    mapping->base = NULL;
    mapping->handle = NULL;
}

/* ---- extents of other processes ---- */

tq_status tq_view_open(struct tq_endpoint *mapper, struct tq_bytes packed, uint64_t base, struct tq_view **out_view,
                       const uint8_t **out_ptr, struct tq_error *err)
{
    uint8_t padded[1024] = { 0 }; /* UCX is not told how long the key is */
    struct tq_view *view = tq_seam_alloc(mapper->ucx->seam, sizeof(*view));
    if (view == NULL || packed.len > sizeof(padded) / 2) {
        tq_seam_free(mapper->ucx->seam, view);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a view");
    }
    view->seam = mapper->ucx->seam;
    memcpy(padded, packed.ptr, packed.len);
    void *ptr = NULL;
    ucs_status_t status = ucp_ep_rkey_unpack(mapper->ep, padded, &view->key);
    if (status == UCS_OK) {
        status = ucp_rkey_ptr(view->key, base, &ptr);
        if (status != UCS_OK)
            ucp_rkey_destroy(view->key);
    }
    if (status != UCS_OK) {
        tq_seam_free(view->seam, view);
        return tq_fail(err, TQ_UNAVAILABLE, "NO_SHARED_MEMORY", "the extent cannot be mapped: %s",
                       ucs_status_string(status));
    }
    *out_view = view;
    *out_ptr = ptr;
    return TQ_OK;
}

void tq_view_close(struct tq_view *view)
{
    if (view == NULL)
        return;
    ucp_rkey_destroy(view->key);
    tq_seam_free(view->seam, view);
}
