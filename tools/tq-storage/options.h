/* tools/tq-storage/options.h: the flags of tq-storage: struct, defaults, checks, --help and documentation. */
#ifndef TQ_STORAGE_OPTIONS_H
#define TQ_STORAGE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* kind, type, member, name, default, min, max, choices, placeholder, help */
#define TQ_STORAGE_OPTIONS(X)                                                                                          \
    X(TEXT, const char *, listen, "listen", "tcp://127.0.0.1:0", 0, 0, NULL, "ADDRESS",                                \
      "where to serve; port 0: a free one")                                                                            \
    X(TEXT, const char *, advertise, "advertise", NULL, 0, 0, NULL, "ADDRESS",                                         \
      "what peers are told instead of the bound address")                                                              \
    X(TEXT, const char *, controller, "controller", NULL, 0, 0, NULL, "ADDRESS",                                       \
      "where to register; without it the unit stands alone")                                                           \
    X(TEXT, const char *, name, "name", NULL, 0, 0, NULL, "NAME",                                                      \
      "stable over restarts; without it a new one each time")                                                          \
    X(BYTES, uint64_t, memory, "memory", "1GiB", UINT64_C(1) << 16, UINT64_C(1) << 46, NULL, "BYTES",                  \
      "payload that the unit holds at most")                                                                           \
    X(NUMBER, uint64_t, max_samples, "max-samples", "16777216", 1, UINT64_C(1) << 32, NULL, "N",                       \
      "samples that the unit holds at most")                                                                           \
    X(CHOICE, const char *, bulk, "bulk", "auto", 0, 0, "auto|off|required", "MODE",                                   \
      "whether tensor bytes go over UCX")                                                                              \
    X(CHOICE, const char *, bulk_transport, "bulk-transport", "auto", 0, 0, "auto|tcp", "KIND",                        \
      "auto: shared memory where possible; tcp: never")                                                                \
    X(TEXT, const char *, bulk_devices, "bulk-devices", "lo", 0, 0, NULL, "LIST",                                      \
      "network devices that UCX listens on; others than lo need --insecure")                                           \
    X(SWITCH, bool, insecure, "insecure", "false", 0, 0, NULL, "",                                                     \
      "allow other than loopback and unix sockets: trusted networks only")                                             \
    X(TEXT, const char *, cluster_id, "cluster-id", NULL, 0, 0, NULL, "HEX",                                           \
      "32 hexadecimal digits; without it the controller's is learnt")                                                  \
    X(CHOICE, const char *, log_level, "log-level", "info", 0, 0, "debug|info|warn|error|off", "LEVEL",                \
      "what goes to stderr")                                                                                           \
    X(NUMBER, uint64_t, drain_ms, "drain-ms", "5000", 0, 600000, NULL, "MS",                                           \
      "how long running calls may take after SIGTERM")

struct tq_storage_options {
#define TQ_OPTION_MEMBER_(kind, type, member, name, initial, min, max, choices, value, help) type member;
    TQ_STORAGE_OPTIONS(TQ_OPTION_MEMBER_)
#undef TQ_OPTION_MEMBER_
};

#endif
