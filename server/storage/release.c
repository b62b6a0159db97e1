/* StorageService/Release. */
#include "server/storage/service.h"

void tq_storage_release(void *state, const Tq__V1__ReleaseRequest *request, struct tq_server_call *call)
{
    struct tq_storage *storage = state;
    uint64_t session = tq_server_call_session(call);
    Tq__V1__ReleaseResponse response = TQ__V1__RELEASE_RESPONSE__INIT;
    for (size_t i = 0; i < request->n_pin; i++)
        response.released += tq_pins_release(&storage->pins, session, request->pin[i]);
    tq_v1_storage_release_answer(call, &response);
}
