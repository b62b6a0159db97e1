/* server/controller/compact.h: renumbers the rows of a partition from 0 in their order, so that neither the space that
 * cleared samples leave between those that stay nor the end of the slots is ever felt.
 * Owns: nothing. Threads: the controller's. */
#ifndef TQ_CONTROLLER_COMPACT_H
#define TQ_CONTROLLER_COMPACT_H

#include "server/controller/index_space.h"
#include "server/controller/partition.h"

/* All slots change, here and in the indexes; nobody may keep one. Takes time for each row and bit. False without
 * memory: nothing has changed. */
TQ_MUST_CHECK bool tq_partition_compact(struct tq_partition *partition, struct tq_index_space *indexes);

#endif
