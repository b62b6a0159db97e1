#include "tools/tq/roster.h"

#include <stdlib.h>

#include "tq/v1/controller.tq.h"

struct tq_roster {
    struct tq_runtime *runtime;
    struct tq_channel *channel;
};

tq_status tq_roster_open(const char *controller, struct tq_roster **out_roster, struct tq_error *err)
{
    const struct tq_runtime_opts opts = { .name = "tq up", .role = TQ_ROLE_TOOL };
    struct tq_roster *roster = calloc(1, sizeof(*roster));
    *out_roster = NULL;
    if (roster == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory");
    tq_status status = tq_runtime_open(&opts, &roster->runtime, err);
    if (status == TQ_OK)
        status = tq_channel_open(roster->runtime, controller, NULL, &roster->channel, err);
    if (status != TQ_OK) {
        tq_roster_close(roster);
        return status;
    }
    *out_roster = roster;
    return TQ_OK;
}

void tq_roster_close(struct tq_roster *roster)
{
    if (roster == NULL)
        return;
    tq_channel_close(roster->channel);
    tq_runtime_close(roster->runtime);
    free(roster);
}

tq_status tq_roster_serving(struct tq_roster *roster, int64_t deadline_ns, uint32_t *out_serving, struct tq_error *err)
{
    const Tq__V1__ListUnitsRequest request = TQ__V1__LIST_UNITS_REQUEST__INIT;
    struct tq_reply reply;
    tq_status status = tq_v1_controller_list_units(roster->channel, &request,
                                                   &(struct tq_call_opts){ .deadline_ns = deadline_ns }, &reply);
    const Tq__V1__ListUnitsResponse *response = tq_v1_controller_list_units_response(&reply);
    *out_serving = 0;
    for (size_t i = 0; response != NULL && i < response->n_units; i++)
        *out_serving += response->units[i]->state == TQ__V1__UNIT_STATE__UNIT_STATE_SERVING;
    *err = reply.error;
    tq_reply_drop(&reply);
    return status;
}
