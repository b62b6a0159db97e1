/* transport/bulk/ticket.h: the capability of a region: 16 random bytes. Who knows them may read.
 * Owns: nothing. Threads: any. */
#ifndef TQ_BULK_TICKET_H
#define TQ_BULK_TICKET_H

#include <stdbool.h>

#include "tq/bytes.h"
#include "transport/bulk/frame.h"

/* In time that does not depend on where they differ: nobody can guess a ticket byte by byte. */
static inline bool tq_ticket_equal(const uint8_t ticket[TQ_TICKET_BYTES], struct tq_bytes presented)
{
    if (presented.len != TQ_TICKET_BYTES)
        return false;
    volatile uint8_t difference = 0;
    for (int i = 0; i < TQ_TICKET_BYTES; i++)
        difference = (uint8_t)(difference | (ticket[i] ^ presented.ptr[i]));
    return difference == 0;
}

#endif
