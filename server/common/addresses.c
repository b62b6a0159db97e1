#include "server/common/addresses.h"

#include "transport/rpc/listen.h"

tq_status tq_address_check(const char *what, const char *address, struct tq_error *err)
{
    if (tq_address_is_valid(address))
        return TQ_OK;
    return tq_fail(err, TQ_INVALID_ARGUMENT, "ADDRESS", "%s: '%s': expected tcp://HOST:PORT or ipc://PATH", what,
                   address != NULL ? address : "");
}

tq_status tq_address_check_listen(const char *what, const char *address, bool insecure, struct tq_error *err)
{
    tq_status status = tq_address_check(what, address, err);
    if (status != TQ_OK || insecure || tq_listen_is_local(address))
        return status;
    return tq_fail(err, TQ_PERMISSION_DENIED, "INSECURE",
                   "%s: '%s': only loopback and unix sockets without --insecure: there is no TLS yet", what, address);
}
