/* Written by protoc-gen-tq from tq/v1/storage.proto. Do not edit. What the decoder accepts as
 * tq.v1.GetRequest, it reproduces. */
#include "tq/v1/storage.tq.h"
#include "tq/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return tq_fuzz_request(TQ_V1_STORAGE_GET_METHOD, data, size);
}
