#include "tools/protoc-gen-tq/plan.h"

#include <stdlib.h>
#include <string.h>

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/reserved.h"

/* "StorageService" is storage; a service that is called just "Service" keeps its name. */
static char *service_snake(struct pool *pool, const char *name)
{
    static const char suffix[] = "Service";
    size_t len = strlen(name), cut = sizeof(suffix) - 1;
    if (len > cut && strcmp(name + len - cut, suffix) == 0)
        return cname_snake(pool, pool_copy(pool, name, len - cut));
    return cname_snake(pool, name);
}

static bool has_max_wait(const struct message *request)
{
    for (size_t i = 0; i < request->proto->n_field; i++) {
        const FieldProto *field = request->proto->field[i];
        if (strcmp(field->name, "max_wait_ms") == 0)
            return field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_UINT32 &&
                   field->label != GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED;
    }
    return false;
}

static bool plan_method(const struct schema *schema, const struct planned_service *service, size_t index,
                        struct refusal *refusal)
{
    struct pool *pool = schema->pool;
    struct planned_method *method = &service->methods[index];
    const MethodProto *proto = method->proto = service->proto->method[index];
    method->path = path_below(pool, service->path, IN_SERVICE_METHOD, index);
    method->full_name = pool_printf(pool, "%s/%s", service->full_name, proto->name);
    const char *snake = cname_snake(pool, proto->name);
    method->member = reserved_member(snake) == NULL ? snake : pool_printf(pool, "%s_", snake);
    method->c_name = pool_printf(pool, "%s_%s", service->c_name, snake);
    method->c_macro = cname_macro(pool, method->c_name);
    method->request = schema_find_message(schema, proto->input_type);
    method->response = schema_find_message(schema, proto->output_type);
    if (method->request == NULL || method->response == NULL)
        return schema_refuse(refusal, service->file, method->path, "rpc %s: the type %s is unknown", proto->name,
                             method->request == NULL ? proto->input_type : proto->output_type);
    if (proto->client_streaming || proto->server_streaming)
        return schema_refuse(refusal, service->file, method->path,
                             "rpc %s is streaming: only single requests and responses exist here", proto->name);
    if (!option_read(schema, service->file, method->path, proto, &method->option, refusal))
        return false;
    if (method->option.waits && !has_max_wait(method->request))
        return schema_refuse(refusal, service->file, method->path,
                             "rpc %s waits, but its request %s has no field `uint32 max_wait_ms`", proto->name,
                             method->request->name);
    return true;
}

static bool plan_service(const struct schema *schema, const struct file *file, size_t index,
                         struct planned_service *service, struct refusal *refusal)
{
    struct pool *pool = schema->pool;
    const ServiceProto *proto = file->proto->service[index];
    service->proto = proto;
    service->file = file;
    service->path = path_of(pool, IN_FILE_SERVICE, index);
    service->full_name =
        file->package[0] == '\0' ? proto->name : pool_printf(pool, "%s.%s", file->package, proto->name);
    service->c_name = pool_printf(pool, "%s_%s", cname_snake(pool, file->package), service_snake(pool, proto->name));
    service->methods = pool_array(pool, proto->n_method, sizeof(service->methods[0]));
    service->n_methods = proto->n_method;
    if (proto->n_method == 0)
        return schema_refuse(refusal, file, service->path, "service %s has no methods", proto->name);
    for (size_t i = 0; i < proto->n_method; i++)
        if (!plan_method(schema, service, i, refusal))
            return false;
    return true;
}

struct numbered {
    const struct planned_service *service;
    const struct planned_method *method;
    size_t order;
};

static int compare_numbers(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->method->option.id != y->method->option.id)
        return x->method->option.id < y->method->option.id ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool check_unique_ids(const struct schema *schema, const struct plan *plan, struct refusal *refusal)
{
    size_t n = 0;
    for (size_t s = 0; s < plan->n_services; s++)
        n += plan->services[s].n_methods;
    struct numbered *all = pool_array(schema->pool, n, sizeof(all[0]));
    n = 0;
    for (size_t s = 0; s < plan->n_services; s++)
        for (size_t m = 0; m < plan->services[s].n_methods; m++, n++)
            all[n] = (struct numbered){ &plan->services[s], &plan->services[s].methods[m], n };
    if (n > 0)
        qsort(all, n, sizeof(all[0]), compare_numbers);
    for (size_t i = 1; i < n; i++) {
        const struct numbered *first = &all[i - 1], *second = &all[i];
        if (first->method->option.id != second->method->option.id)
            continue;
        return schema_refuse(refusal, second->service->file, second->method->path,
                             "rpc %s has id %u (0x%04x), as has rpc %s at %s:%d", second->method->proto->name,
                             second->method->option.id, second->method->option.id, first->method->proto->name,
                             first->service->file->proto->name, schema_line(first->service->file, first->method->path));
    }
    return true;
}

bool plan_make(const struct schema *schema, struct plan *out_plan, struct refusal *refusal)
{
    size_t n = 0;
    for (size_t f = 0; f < schema->n_files; f++)
        n += schema->files[f].proto->n_service;
    out_plan->services = pool_array(schema->pool, n, sizeof(out_plan->services[0]));
    out_plan->n_services = n;
    n = 0;
    for (size_t f = 0; f < schema->n_files; f++)
        for (size_t s = 0; s < schema->files[f].proto->n_service; s++, n++)
            if (!plan_service(schema, &schema->files[f], s, &out_plan->services[n], refusal))
                return false;
    return check_unique_ids(schema, out_plan, refusal);
}
