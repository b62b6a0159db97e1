/* Methods of ControllerService that are on the wire and not served yet: leases and checkpoints. */
#include "server/controller/service.h"

#define PLANNED(method, Request, what)                                                                                 \
    void tq_controller_##method(void *state, const Tq__V1__##Request *request, struct tq_server_call *call)            \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        (void)request;                                                                                                 \
        tq_server_fail(call, TQ_UNIMPLEMENTED, "PLANNED", what " are not available yet");                              \
    }

PLANNED(ack_lease, AckLeaseRequest, "leases")
PLANNED(extend_lease, ExtendLeaseRequest, "leases")
PLANNED(release_lease, ReleaseLeaseRequest, "leases")
PLANNED(list_dead_letters, ListDeadLettersRequest, "leases and dead letters")
PLANNED(save_controller_checkpoint, SaveControllerCheckpointRequest, "checkpoints")
PLANNED(load_controller_checkpoint, LoadControllerCheckpointRequest, "checkpoints")
