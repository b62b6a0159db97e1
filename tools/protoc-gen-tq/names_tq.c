/* What we declare for services, in foo.tq.h and foo.tq.c. Keep in step with the emitters. */
#include "tools/protoc-gen-tq/names.h"

static void claim_method(const struct claimant *service, const struct planned_service *planned,
                         const struct planned_method *method)
{
    static const char *const suffixes[] = { "", "_cb", "_start", "_response", "_answer", "_answer_frames" };
    static const char *const macros[] = { "_ID", "_METHOD" };
    struct claimant own = *service;
    own.what = pool_printf(service->names->pool, "rpc %s.%s", planned->full_name, method->proto->name);
    own.path = method->path;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        names_claim(&own, "%s%s", method->c_name, suffixes[i]);
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
        names_claim(&own, "%s%s", method->c_macro, macros[i]);
    names_claim(&own, "invoke_%s", method->c_name);
    own.scope = pool_printf(service->names->pool, "%s_ops", planned->c_name);
    names_claim(&own, "%s", method->member);
}

void names_claim_services(struct names *names, const struct plan *plan)
{
    for (size_t s = 0; s < plan->n_services; s++) {
        const struct planned_service *planned = &plan->services[s];
        struct claimant own = {
            .names = names,
            .scope = "",
            .what = pool_printf(names->pool, "service %s", planned->full_name),
            .file = planned->file,
            .path = planned->path,
        };
        names_claim(&own, "%s_service", planned->c_name);
        names_claim(&own, "%s_ops", planned->c_name);
        names_claim(&own, "%s_add", planned->c_name);
        names_claim(&own, "methods_of_%s", planned->c_name);
        for (size_t m = 0; m < planned->n_methods; m++)
            claim_method(&own, planned, &planned->methods[m]);
    }
}
