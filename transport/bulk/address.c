#include "transport/bulk/address.h"

#include <netinet/in.h>
#include <pb_decode.h>
#include <pb_encode.h>
#include <unistd.h>

#include "transport/base/crc32c.h"
#include "transport/bulk/host.h"

void tq_address_of_self(tq_wire_BulkAddress *out_address, uint64_t process, uint64_t features)
{
    *out_address = (tq_wire_BulkAddress){
        .version = TQ_ADDRESS_VERSION,
        .process = process,
        .host = tq_host_digest(),
        .uid = (uint32_t)geteuid(),
        .pid = (uint32_t)getpid(),
        .start_time = tq_host_start_time(getpid()),
        .features = features,
    };
}

static uint32_t check_of_address(const tq_wire_BulkAddress *address)
{
    const uint64_t numbers[] = { address->process, (uint64_t)address->ipv4 << 32 | address->port };
    uint32_t crc = tq_crc32c(numbers, sizeof(numbers));
    crc = tq_crc32c_extend(crc, address->worker.bytes, address->worker.size);
    return tq_crc32c_extend(crc, address->reader.bytes, address->reader.size);
}

size_t tq_address_encode(tq_wire_BulkAddress *address, uint8_t *out, size_t cap)
{
    address->check = check_of_address(address);
    pb_ostream_t stream = pb_ostream_from_buffer(out, cap);
    return pb_encode(&stream, tq_wire_BulkAddress_fields, address) ? stream.bytes_written : 0;
}

tq_status tq_address_decode(struct tq_bytes bytes, tq_wire_BulkAddress *out_address, struct tq_error *err)
{
    *out_address = (tq_wire_BulkAddress)tq_wire_BulkAddress_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(bytes.ptr, bytes.len);
    if (bytes.len == 0 || !pb_decode(&stream, tq_wire_BulkAddress_fields, out_address))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BULK_ADDRESS", "%zu bytes are no bulk address: %s", bytes.len,
                       bytes.len == 0 ? "empty" : PB_GET_ERROR(&stream));
    if (out_address->version != TQ_ADDRESS_VERSION)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BULK_ADDRESS", "bulk address of version %u: expected %d",
                       (unsigned)out_address->version, TQ_ADDRESS_VERSION);
    if (out_address->process == 0 || (out_address->worker.size == 0 && out_address->port == 0) ||
        out_address->port > UINT16_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BULK_ADDRESS",
                       "bulk address without process, or without a way to reach it");
    if (out_address->check != check_of_address(out_address))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BULK_ADDRESS", "bulk address is damaged");
    return TQ_OK;
}

static uint32_t check_of_key(const tq_wire_BulkKey *key)
{
    const uint64_t numbers[] = { key->process, key->region, key->base, key->length };
    return tq_crc32c_extend(tq_crc32c(numbers, sizeof(numbers)), key->packed.bytes, key->packed.size);
}

size_t tq_key_encode(tq_wire_BulkKey *key, uint8_t *out, size_t cap)
{
    key->check = check_of_key(key);
    pb_ostream_t stream = pb_ostream_from_buffer(out, cap);
    return pb_encode(&stream, tq_wire_BulkKey_fields, key) ? stream.bytes_written : 0;
}

tq_status tq_key_decode(struct tq_bytes bytes, uint64_t process, uint64_t region, tq_wire_BulkKey *out_key,
                        struct tq_error *err)
{
    *out_key = (tq_wire_BulkKey)tq_wire_BulkKey_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(bytes.ptr, bytes.len);
    if (bytes.len == 0 || !pb_decode(&stream, tq_wire_BulkKey_fields, out_key))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BULK_KEY", "%zu bytes are no remote key", bytes.len);
    if (out_key->check != check_of_key(out_key) || out_key->packed.size == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BULK_KEY", "remote key is damaged");
    if (out_key->process != process || out_key->region != region)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BULK_KEY", "remote key of another process or region");
    return TQ_OK;
}

bool tq_address_is_usable(const tq_wire_BulkAddress *peer, const tq_wire_BulkAddress *self)
{
    uint64_t features = peer->features & self->features;
    bool same_user = self->host != 0 && peer->host == self->host && peer->uid == self->uid;
    bool loopback = peer->ipv4 >> 24 == IN_LOOPBACKNET;
    if ((features & TQ_ADDRESS_SHM) != 0 && same_user && peer->worker.size > 0)
        return true;
    return (features & TQ_ADDRESS_TCP) != 0 && peer->port != 0 && (!loopback || peer->host == self->host);
}

int tq_address_prove_local(const tq_wire_BulkAddress *peer, const tq_wire_BulkAddress *self)
{
    if (self->host == 0 || peer->host != self->host || peer->uid != self->uid || peer->pid == 0 ||
        peer->pid > INT32_MAX)
        return -1;
    return tq_host_watch((pid_t)peer->pid, peer->start_time);
}
