/* transport/base/environment.h: what UCX reads from the environment before ucp_init, because ucp_config_modify takes
 * these settings without complaint and without effect. tq_init() calls it, and nothing else of ours touches the
 * environment. Owns: nothing. Threads: before any other thread (setenv). */
#ifndef TQ_BASE_ENVIRONMENT_H
#define TQ_BASE_ENVIRONMENT_H

/* Sets what is unset; what the user has set stays. */
void tq_environment_prepare(void);

#endif
