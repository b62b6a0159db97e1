/* server/storage/devices.h: which network devices UCX may listen on. UCX trusts whoever reaches it, so that other
 * devices than the loopback must be asked for twice. Owns: nothing. Threads: any. */
#ifndef TQ_STORAGE_DEVICES_H
#define TQ_STORAGE_DEVICES_H

#include <stdbool.h>

#include "tq/status.h"

/* `devices` is a list for UCX: names of network interfaces or RDMA devices ("lo,mlx5_0:1"), separated by commas. Fails
 * with INVALID_ARGUMENT (there is no such device, empty name), PERMISSION_DENIED (not loopback and not insecure); the
 * message names the first such device. */
TQ_MUST_CHECK tq_status tq_devices_check(const char *devices, bool insecure, struct tq_error *err);

#endif
