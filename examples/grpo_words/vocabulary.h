/* vocabulary.h: the word list: which letter strings are words, and prompts that some word begins with.
 * Owns: its own copy of the words. Threads: read-only once open, so any thread; a struct dice belongs to one. */
#ifndef GRPO_WORDS_VOCABULARY_H
#define GRPO_WORDS_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/grpo_words/dice.h"

/* Debian's package wamerican puts its list here. */
#define VOCABULARY_PATH "/usr/share/dict/words"

enum {
    VOCABULARY_SHORTEST = 3,
    VOCABULARY_LONGEST = 8,
    PROMPT_SHORTEST = 2,
    PROMPT_LONGEST = 3,
};

struct vocabulary;

/* Reads the words of `path` (one a line; kept are those of 3 to 8 letters, all of them a to z) and sets *out. False
 * when the file cannot be read or has no such word; then `why` holds one line that names the file. */
bool vocabulary_open(const char *path, struct vocabulary **out, char *why, size_t why_bytes);
/* NULL is allowed. */
void vocabulary_close(struct vocabulary *words);
/* How many different words there are; never zero. */
size_t vocabulary_size(const struct vocabulary *words);
/* Whether the `length` characters at `text` are a word. Any bytes are allowed and any length. */
bool vocabulary_has(const struct vocabulary *words, const char *text, size_t length);
/* Writes the first letters of a word drawn at random (no terminator) and returns how many: PROMPT_SHORTEST to
 * PROMPT_LONGEST, and always fewer than the word has. Frequent beginnings are drawn more often. */
size_t vocabulary_draw_prompt(const struct vocabulary *words, struct dice *dice, char prompt[PROMPT_LONGEST]);

#endif
