/* server/common/hex.h: numbers on the command line that are only bytes: cluster ids. Owns: nothing. Threads: any. */
#ifndef TQ_SERVER_HEX_H
#define TQ_SERVER_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tq/status.h"

/* Exactly 2 * len digits into `out`. False otherwise; `out` is untouched then. */
TQ_MUST_CHECK bool tq_hex_parse(const char *text, uint8_t *out, size_t len);

#endif
