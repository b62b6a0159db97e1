/* settings.h: what can be set about a run. One table feeds the struct, the defaults, the flags, their range checks and
 * the help; the launcher hands its settings to the workers as flags again.
 * Owns: nothing; texts point into the arguments or are constants. Threads: read-only after settings_parse. */
#ifndef GRPO_WORDS_SETTINGS_H
#define GRPO_WORDS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* name, default, help */
#define SETTINGS_TEXTS(X)                                                                                              \
    X(controller, "", "address of the controller; a launcher starts its own")                                          \
    X(words, "/usr/share/dict/words", "the word list, a word a line")                                                  \
    X(output, "grpo_words.out", "folder for picture, curve and logs")

/* name, default, least, most, help */
#define SETTINGS_NUMBERS(X)                                                                                            \
    X(seed, 1, 0, 4294967295, "of everything that is drawn at random")                                                 \
    X(steps, 400, 10, 100000, "training steps")                                                                        \
    X(groups, 96, 1, 4096, "prompts a step; a multiple of `chunk`")                                                    \
    X(group_size, 8, 2, 64, "completions of a prompt, compared with each other")                                       \
    X(chunk, 16, 1, 4096, "prompts that travel together")                                                              \
    X(staleness, 2, 0, 100, "how many versions of the policy the rollout may be behind")                               \
    X(time_limit_s, 300, 1, 86400, "after this a run has failed")

/* name, default, least, most, help */
#define SETTINGS_REALS(X)                                                                                              \
    X(learning_rate, 0.05, 0, 10, "of Adam; 0: nothing is learned")                                                    \
    X(clip, 0.2, 0.001, 1, "of the probability ratio")                                                                 \
    X(kl_weight, 0.01, 0, 10, "of the divergence from the reference")                                                  \
    X(temperature, 1, 0.1, 10, "of drawing")

struct settings {
#define SETTINGS_TEXT_FIELD_(name, standard, help)                const char *name;
#define SETTINGS_NUMBER_FIELD_(name, standard, least, most, help) uint64_t name;
#define SETTINGS_REAL_FIELD_(name, standard, least, most, help)   double name;
    SETTINGS_TEXTS(SETTINGS_TEXT_FIELD_)
    SETTINGS_NUMBERS(SETTINGS_NUMBER_FIELD_)
    SETTINGS_REALS(SETTINGS_REAL_FIELD_)
#undef SETTINGS_TEXT_FIELD_
#undef SETTINGS_NUMBER_FIELD_
#undef SETTINGS_REAL_FIELD_
};

enum { SETTINGS_ARGUMENTS_MAX = 32, SETTINGS_ARGUMENT_BYTES = 300 };

/* The settings as arguments, `--name=value` each. */
struct settings_arguments {
    char text[SETTINGS_ARGUMENTS_MAX][SETTINGS_ARGUMENT_BYTES];
    size_t count;
};

/* Reads `--name=value` and `--name value` over the defaults. False: `why` says in one line which argument is wrong and
 * what was expected. */
bool settings_parse(struct settings *settings, int argc, char *const *argv, char *why, size_t why_bytes);
/* What settings_parse reads back as equal settings. False when a text is too long. */
bool settings_print(const struct settings *settings, struct settings_arguments *arguments);
/* One line a setting: flag, default, what it is. */
void settings_help(FILE *out);
/* Completions in a chunk, and chunks in a step. */
size_t settings_chunk_samples(const struct settings *settings);
size_t settings_step_chunks(const struct settings *settings);

#endif
