/* transport/rpc/reply.h: from a finished call of the core to what the application sees.
 * Owns: nothing; replies own themselves. Threads: whoever completes the call, without locks. */
#ifndef TQ_RPC_REPLY_H
#define TQ_RPC_REPLY_H

#include "transport/rpc/call.h"

/* Fills *out from a finished call: decodes the body, moves the frames. Answers that are no such message become errors.
 */
void tq_reply_from_call(struct tq_call *call, const struct tq_seam *seam, struct tq_reply *out);
/* Driver thread: runs the call's callback, then gives the call back to its channel. */
void tq_call_complete(struct tq_call *call);

#endif
