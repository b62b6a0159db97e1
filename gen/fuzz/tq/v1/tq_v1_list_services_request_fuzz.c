/* Written by protoc-gen-tq from tq/v1/reflection.proto. Do not edit. What the decoder accepts as
 * tq.v1.ListServicesRequest, it reproduces. */
#include "tq/v1/reflection.tq.h"
#include "tq/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return tq_fuzz_request(TQ_V1_REFLECTION_LIST_SERVICES_METHOD, data, size);
}
