/* server/common/reflection.h: ReflectionService for every daemon: which services and methods it speaks, their
 * descriptors, every limit in force.
 * Owns: nothing; services and rows outlive it. Threads: set up before the server starts, then the loop's. */
#ifndef TQ_SERVER_REFLECTION_H
#define TQ_SERVER_REFLECTION_H

#include "server/common/limit_rows.h"
#include "tq/rpc.h"

enum { TQ_REFLECTION_SERVICES = 8 };

struct tq_reflection {
    const struct tq_service *services[TQ_REFLECTION_SERVICES];
    size_t n_services;
    const struct tq_limit_row *limits;
    size_t n_limits;
};

/* Remembers a service that the server has. At most TQ_REFLECTION_SERVICES. */
void tq_reflection_add(struct tq_reflection *reflection, const struct tq_service *service);
/* Adds the service itself, last. */
TQ_MUST_CHECK tq_status tq_reflection_serve(struct tq_reflection *reflection, struct tq_server *server,
                                            struct tq_error *err);

#endif
