/* A word of up to eight letters is a number: five bits a letter, a = 1, the first letter in the highest bits used. The
 * list is a sorted array of such numbers. */
#include "examples/grpo_words/vocabulary.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LETTER_BITS = 5,
    WORDS_MAX = 1 << 20, /* ten times the longest list that is packaged; bounds what a wrong file can make us hold */
};

struct vocabulary {
    uint64_t *words; /* ascending, no two equal */
    size_t count;
    size_t room;
};

/* 0 when the text cannot be a word. */
static uint64_t word_pack(const char *text, size_t length)
{
    if (length < VOCABULARY_SHORTEST || length > VOCABULARY_LONGEST)
        return 0;
    uint64_t word = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < 'a' || text[i] > 'z')
            return 0;
        word = word << LETTER_BITS | (uint64_t)(text[i] - 'a' + 1);
    }
    return word;
}

static size_t word_unpack(uint64_t word, char text[VOCABULARY_LONGEST])
{
    size_t length = 0;
    for (uint64_t rest = word; rest != 0; rest >>= LETTER_BITS)
        length++;
    for (size_t i = length; i > 0; i--, word >>= LETTER_BITS)
        text[i - 1] = (char)('a' + (int)(word & 31) - 1);
    return length;
}

static int word_order(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool words_add(struct vocabulary *words, uint64_t word)
{
    if (words->count == words->room) {
        size_t room = words->room == 0 ? 4096 : words->room * 2;
        if (room > WORDS_MAX) {
            errno = EFBIG;
            return false;
        }
        uint64_t *grown = realloc(words->words, room * sizeof(*grown));
        if (grown == NULL)
            return false;
        words->words = grown;
        words->room = room;
    }
    words->words[words->count++] = word;
    return true;
}

/* A line longer than any word is read past, not kept. False with errno set when memory or the file fails. */
static bool words_read(struct vocabulary *words, FILE *file)
{
    char line[VOCABULARY_LONGEST + 1];
    size_t length = 0;
    for (;;) {
        int c = getc_unlocked(file);
        if (c != '\n' && c != EOF) {
            if (length < sizeof(line))
                line[length++] = (char)c;
            continue;
        }
        uint64_t word = word_pack(line, length);
        if (word != 0 && !words_add(words, word))
            return false;
        if (c == EOF)
            return ferror(file) == 0;
        length = 0;
    }
}

static void words_sort(struct vocabulary *words)
{
    qsort(words->words, words->count, sizeof(*words->words), word_order);
    size_t kept = 0;
    for (size_t i = 0; i < words->count; i++)
        if (i == 0 || words->words[i] != words->words[kept - 1])
            words->words[kept++] = words->words[i];
    words->count = kept;
}

bool vocabulary_open(const char *path, struct vocabulary **out, char *why, size_t why_bytes)
{
    struct vocabulary *words = calloc(1, sizeof(*words));
    FILE *file = fopen(path, "r");
    if (words == NULL || file == NULL || !words_read(words, file)) {
        snprintf(why, why_bytes, "word list %s: %s", path, strerror(errno));
        goto fail;
    }
    if (words->count == 0) {
        snprintf(why, why_bytes, "word list %s: no line is a word of %d to %d letters a to z", path,
                 VOCABULARY_SHORTEST, VOCABULARY_LONGEST);
        goto fail;
    }
    fclose(file);
    words_sort(words);
    *out = words;
    return true;
fail:
    if (file != NULL)
        fclose(file);
    vocabulary_close(words);
    return false;
}

void vocabulary_close(struct vocabulary *words)
{
    if (words == NULL)
        return;
    free(words->words);
    free(words);
}

size_t vocabulary_size(const struct vocabulary *words)
{
    return words->count;
}

bool vocabulary_has(const struct vocabulary *words, const char *text, size_t length)
{
    uint64_t word = word_pack(text, length);
    return word != 0 && bsearch(&word, words->words, words->count, sizeof(word), word_order) != NULL;
}

size_t vocabulary_draw_prompt(const struct vocabulary *words, struct dice *dice, char prompt[PROMPT_LONGEST])
{
    char text[VOCABULARY_LONGEST];
    size_t word_length = word_unpack(words->words[dice_below(dice, (uint32_t)words->count)], text);
    size_t longest = word_length - 1 < PROMPT_LONGEST ? word_length - 1 : PROMPT_LONGEST;
    size_t length = PROMPT_SHORTEST + dice_below(dice, (uint32_t)(longest - PROMPT_SHORTEST + 1));
    memcpy(prompt, text, length);
    return length;
}
