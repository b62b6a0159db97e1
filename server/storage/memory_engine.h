/* server/storage/memory_engine.h: cells in the arenas of the bulk runtime. Owns: nothing. Threads: the loop's. */
#ifndef TQ_STORAGE_MEMORY_ENGINE_H
#define TQ_STORAGE_MEMORY_ENGINE_H

#include "server/storage/engine.h"

/* `bulk` outlives the engine. */
struct tq_engine tq_memory_engine(struct tq_bulk *bulk);

#endif
