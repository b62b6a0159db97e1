/* transport/base/pooling.h: how much a pool keeps for reuse. Under AddressSanitizer nothing, so that every use of
 * memory after its release shows. Owns: nothing. Threads: constant. */
#ifndef TQ_BASE_POOLING_H
#define TQ_BASE_POOLING_H

#if defined(__SANITIZE_ADDRESS__)
#define TQ_POOL_KEEPS(most) 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TQ_POOL_KEEPS(most) 0
#endif
#endif
#ifndef TQ_POOL_KEEPS
#define TQ_POOL_KEEPS(most) (most)
#endif

#endif
