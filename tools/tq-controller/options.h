/* tools/tq-controller/options.h: the flags of tq-controller: struct, defaults, checks, --help and documentation. */
#ifndef TQ_CONTROLLER_OPTIONS_H
#define TQ_CONTROLLER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* kind, type, member, name, default, min, max, choices, placeholder, help */
#define TQ_CONTROLLER_OPTIONS(X)                                                                                       \
    X(TEXT, const char *, listen, "listen", "tcp://127.0.0.1:7600", 0, 0, NULL, "ADDRESS",                             \
      "where to serve; port 0: a free one")                                                                            \
    X(TEXT, const char *, advertise, "advertise", NULL, 0, 0, NULL, "ADDRESS",                                         \
      "what peers are told instead of the bound address")                                                              \
    X(TEXT, const char *, config, "config", NULL, 0, 0, NULL, "FILE", "reserved: no configuration file is read yet")   \
    X(TEXT, const char *, name, "name", NULL, 0, 0, NULL, "NAME", "in the logs of peers")                              \
    X(NUMBER, uint64_t, heartbeat_ms, "heartbeat-ms", "1000", 20, 60000, NULL, "MS",                                   \
      "how often units report; three missed: lost")                                                                    \
    X(SWITCH, bool, insecure, "insecure", "false", 0, 0, NULL, "",                                                     \
      "allow other than loopback and unix sockets: trusted networks only")                                             \
    X(TEXT, const char *, cluster_id, "cluster-id", NULL, 0, 0, NULL, "HEX",                                           \
      "32 hexadecimal digits; without it a new one each time")                                                         \
    X(CHOICE, const char *, log_level, "log-level", "info", 0, 0, "debug|info|warn|error|off", "LEVEL",                \
      "what goes to stderr")                                                                                           \
    X(NUMBER, uint64_t, drain_ms, "drain-ms", "5000", 0, 600000, NULL, "MS",                                           \
      "how long running calls may take after SIGTERM")

struct tq_controller_options {
#define TQ_OPTION_MEMBER_(kind, type, member, name, initial, min, max, choices, value, help) type member;
    TQ_CONTROLLER_OPTIONS(TQ_OPTION_MEMBER_)
#undef TQ_OPTION_MEMBER_
};

#endif
