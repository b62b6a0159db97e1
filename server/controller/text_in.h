/* server/controller/text_in.h: names and keys of requests. They come back in answers to everybody, so what one peer
 * sends must be text for all: UTF-8 without control characters.
 * Owns: nothing. Threads: any. */
#ifndef TQ_CONTROLLER_TEXT_IN_H
#define TQ_CONTROLLER_TEXT_IN_H

#include <stdbool.h>
#include <stdint.h>

#include "tq/status.h"

/* `what` names the field in the message: "partition". Fails with INVALID_ARGUMENT: empty, longer than max_bytes, not
 * UTF-8, control characters. */
TQ_MUST_CHECK tq_status tq_text_check(const char *what, const char *text, uint64_t max_bytes, struct tq_error *err);
/* The same for names of fields, which have no '/' either. */
TQ_MUST_CHECK tq_status tq_field_name_check(const char *what, const char *text, uint64_t max_bytes,
                                            struct tq_error *err);

#endif
