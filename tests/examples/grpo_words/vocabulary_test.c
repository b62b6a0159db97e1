#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/grpo_words/vocabulary.h"

#include "tests/support/cmocka_all.h"

/* Opens a list with this content through a file that is gone afterwards. */
static bool open_list(const char *content, struct vocabulary **out, char *why, size_t why_bytes)
{
    char path[] = "/tmp/grpo_words_list_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const size_t length = strlen(content);
    assert_int_equal(write(fd, content, length), length);
    assert_int_equal(close(fd), 0);
    const bool opened = vocabulary_open(path, out, why, why_bytes);
    assert_int_equal(unlink(path), 0);
    return opened;
}

static bool has(const struct vocabulary *words, const char *text)
{
    return vocabulary_has(words, text, strlen(text));
}

static void keeps_lower_case_words_of_three_to_eight_letters(void **state)
{
    (void)state;
    struct vocabulary *words = NULL;
    char why[200];
    assert_true(open_list("cat\nsea\nsea\nCat's\nit\nParis\nhumility\nhumiliate\nna\xc3\xafve\ncr\r\nzoo", &words, why,
                          sizeof(why)));
    assert_int_equal(vocabulary_size(words), 4);
    assert_true(has(words, "cat") && has(words, "sea") && has(words, "humility"));
    assert_true(has(words, "zoo")); /* the last line has no end */
    assert_false(has(words, "it"));
    assert_false(has(words, "humiliat")); /* a line too long is no word, nor is its beginning */
    assert_false(has(words, "humiliate"));
    assert_false(has(words, "paris"));
    vocabulary_close(words);
}

static void a_word_is_a_word_only_whole_and_exact(void **state)
{
    (void)state;
    struct vocabulary *words = NULL;
    char why[200];
    assert_true(open_list("cater\n", &words, why, sizeof(why)));
    assert_true(has(words, "cater"));
    assert_false(has(words, "cate"));
    assert_false(has(words, "caters"));
    assert_false(has(words, "Cater"));
    assert_false(has(words, "c`ter"));
    assert_false(has(words, "c\xe1ter"));
    assert_false(has(words, ""));
    vocabulary_close(words);
}

static void a_list_that_cannot_be_used_is_refused_by_name(void **state)
{
    (void)state;
    struct vocabulary *words = NULL;
    char why[200];
    assert_false(vocabulary_open("/nonexistent/words", &words, why, sizeof(why)));
    assert_non_null(strstr(why, "/nonexistent/words"));
    assert_non_null(strstr(why, "No such file"));
    assert_false(vocabulary_open("/tmp", &words, why, sizeof(why)));
    assert_non_null(strstr(why, "directory"));
    assert_false(open_list("", &words, why, sizeof(why)));
    assert_false(open_list("A\nBB\nX-ray\n", &words, why, sizeof(why)));
    assert_non_null(strstr(why, "no line is a word"));
    assert_null(words);
}

static void a_prompt_begins_a_word_and_leaves_a_letter(void **state)
{
    (void)state;
    static const char *const list[] = { "cat", "humility", "zest" };
    struct vocabulary *words = NULL;
    char why[200];
    unsigned seen[3][PROMPT_LONGEST + 1] = { { 0 } };
    struct dice dice;
    dice_init(&dice, 5);
    assert_true(open_list("cat\nhumility\nzest\n", &words, why, sizeof(why)));
    for (size_t i = 0; i < 600; i++) {
        char prompt[PROMPT_LONGEST];
        const size_t length = vocabulary_draw_prompt(words, &dice, prompt);
        size_t which = 0;
        assert_in_range(length, PROMPT_SHORTEST, PROMPT_LONGEST);
        while (which < 3 && strncmp(list[which], prompt, length) != 0)
            which++;
        assert_true(which < 3);
        seen[which][length]++;
    }
    assert_in_range(seen[0][2], 150, 250); /* "cat" has only one beginning */
    assert_int_equal(seen[0][3], 0);
    assert_true(seen[1][2] > 50 && seen[1][3] > 50 && seen[2][2] > 50 && seen[2][3] > 50);
    vocabulary_close(words);
}

static void the_packaged_list_is_what_we_think(void **state)
{
    (void)state;
    struct vocabulary *words = NULL;
    char why[200] = "";
    if (!vocabulary_open(VOCABULARY_PATH, &words, why, sizeof(why)))
        fail_msg("%s (package wamerican)", why);
    assert_true(vocabulary_size(words) > 20000);
    assert_true(has(words, "tree") && has(words, "reward") && has(words, "gradient"));
    assert_false(has(words, "xqzt"));
    vocabulary_close(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_lower_case_words_of_three_to_eight_letters),
        cmocka_unit_test(a_word_is_a_word_only_whole_and_exact),
        cmocka_unit_test(a_list_that_cannot_be_used_is_refused_by_name),
        cmocka_unit_test(a_prompt_begins_a_word_and_leaves_a_letter),
        cmocka_unit_test(the_packaged_list_is_what_we_think),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
