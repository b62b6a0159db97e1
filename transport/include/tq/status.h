/* tq/status.h: how a function says that it failed, and why.
 * Owns: nothing. Threads: any; a struct tq_error belongs to whoever passed it.
 * Numbers are the 17 canonical RPC codes (google.rpc.Code), so that they mean the same to other stacks. */
#ifndef TQ_STATUS_H
#define TQ_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TQ_MUST_CHECK                 __attribute__((warn_unused_result))
#define TQ_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define TQ_PUBLIC                     __attribute__((visibility("default")))

/* name, canonical number, text */
#define TQ_STATUS_LIST(X)                                                                                              \
    X(OK, 0, "success")                                                                                                \
    X(CANCELLED, 1, "the caller gave up, or the process shuts down")                                                   \
    X(UNKNOWN, 2, "an error that nobody could name")                                                                   \
    X(INVALID_ARGUMENT, 3, "the request is wrong whatever the state")                                                  \
    X(DEADLINE_EXCEEDED, 4, "the deadline passed before the answer came")                                              \
    X(NOT_FOUND, 5, "what was asked for does not exist")                                                               \
    X(ALREADY_EXISTS, 6, "what was to be made exists")                                                                 \
    X(PERMISSION_DENIED, 7, "the caller may not do this")                                                              \
    X(RESOURCE_EXHAUSTED, 8, "a budget is spent; retry later")                                                         \
    X(FAILED_PRECONDITION, 9, "the state forbids it; a retry does not help")                                           \
    X(ABORTED, 10, "a concurrent change got in the way; retry the whole operation")                                    \
    X(OUT_OF_RANGE, 11, "past the end")                                                                                \
    X(UNIMPLEMENTED, 12, "the peer does not know this method, or not yet")                                             \
    X(INTERNAL, 13, "a promise of ours is broken")                                                                     \
    X(UNAVAILABLE, 14, "the peer is not there")                                                                        \
    X(DATA_LOSS, 15, "bytes are gone or not the ones that were stored")                                                \
    X(UNAUTHENTICATED, 16, "the peer has not proved who it is")

#define TQ_STATUS_ENUM_(name, number, text) TQ_##name = (number),
typedef enum tq_status { TQ_STATUS_LIST(TQ_STATUS_ENUM_) } tq_status;
#undef TQ_STATUS_ENUM_

/* What is known about the execution of a call that did not succeed. */
enum tq_outcome {
    TQ_OUTCOME_NONE = 0,        /* the call succeeded, or this error is not about a call */
    TQ_OUTCOME_NOT_STARTED = 1, /* the peer has not begun: safe to send again */
    TQ_OUTCOME_FAILED = 2,      /* the peer executed it and says no: final */
    TQ_OUTCOME_UNKNOWN = 3,     /* it may have been executed */
};

enum { TQ_REASON_MAX = 40, TQ_MESSAGE_MAX = 400 };

/* A failure with its explanation. Plain data: copy it freely. */
struct tq_error {
    tq_status status;
    enum tq_outcome outcome;
    uint32_t retry_after_ms;      /* 0: not stated */
    char reason[TQ_REASON_MAX];   /* stable, for programs: "BUDGET_BYTES"; "" when the status says it all */
    char message[TQ_MESSAGE_MAX]; /* for people: field, value, what was expected */
};

/* "DEADLINE_EXCEEDED"; "?" for a number that is no status. Never NULL. */
TQ_PUBLIC const char *tq_status_name(tq_status status);
/* The text of the table above. Never NULL. */
TQ_PUBLIC const char *tq_status_text(tq_status status);
/* A number from a peer or a file as a status; TQ_UNKNOWN when it is none. */
TQ_PUBLIC tq_status tq_status_from_wire(uint32_t number);

/* Fills *err (NULL allowed) and returns `status`, so that `return tq_fail(err, ...)` reads as one step. The outcome is
 * left NONE. `reason` may be NULL. A message that is too long is cut. */
TQ_PUBLIC tq_status tq_fail(struct tq_error *err, tq_status status, const char *reason, const char *format, ...)
    TQ_PRINTF(4, 5);
/* The error that means success. */
TQ_PUBLIC void tq_error_clear(struct tq_error *err);

#ifdef __cplusplus
}
#endif
#endif
