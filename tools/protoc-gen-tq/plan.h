/* plan.h: services as the emitters write them: every name in C made, every number known, everything doubtful refused.
 * Owns: nothing; it lies in the pool. Threads: one. Constant once it is made. */
#ifndef PLAN_H
#define PLAN_H

#include "tools/protoc-gen-tq/option.h"
#include "tools/protoc-gen-tq/schema.h"

struct planned_method {
    const MethodProto *proto;
    struct path path;
    struct method_option option;
    const char *full_name; /* "tq.v1.StorageService/Put" */
    const char *member;    /* of the vtable: "put", "delete_" */
    const char *c_name;    /* "tq_v1_storage_put" */
    const char *c_macro;   /* "TQ_V1_STORAGE_PUT" */
    const struct message *request, *response;
};

struct planned_service {
    const ServiceProto *proto;
    const struct file *file;
    struct path path;
    const char *full_name; /* "tq.v1.StorageService" */
    const char *c_name;    /* "tq_v1_storage" */
    struct planned_method *methods;
    size_t n_methods;
};

struct plan {
    struct planned_service *services; /* of all files of the request, in order */
    size_t n_services;
};

/* Refuses missing and duplicate ids, streaming, waiting without max_wait_ms, services without methods. */
bool plan_make(const struct schema *schema, struct plan *out_plan, struct refusal *refusal);

#endif
