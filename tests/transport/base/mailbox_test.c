#include "transport/base/mailbox.h"

#include <poll.h>

#include "tests/support/cmocka_all.h"

enum { POSTERS = 4, LETTERS = 5000, PATIENCE_MS = 20000 };

struct letter {
    int poster, number;
    struct tq_list link;
};

static struct letter letters[POSTERS][LETTERS];
static struct tq_mailbox box;

static void *post_all(void *poster)
{
    struct letter *mine = poster;
    for (int i = 0; i < LETTERS; i++) {
        mine[i].number = i;
        if (!tq_mailbox_post(&box, &mine[i].link))
            return poster;
    }
    return NULL;
}

static bool readable(int timeout_ms)
{
    struct pollfd fd = { .fd = box.wake_fd, .events = POLLIN };
    return poll(&fd, 1, timeout_ms) == 1;
}

/* Every letter arrives once, those of one poster in order, and the signal is never lost: a wait always ends. */
static void nothing_is_lost_and_no_wake_up_is_missed(void **state)
{
    (void)state;
    pthread_t threads[POSTERS];
    int next[POSTERS] = { 0 }, taken = 0;
    assert_int_equal(tq_mailbox_open(&box, NULL), TQ_OK);
    for (int p = 0; p < POSTERS; p++) {
        letters[p][0].poster = p;
        for (int i = 0; i < LETTERS; i++)
            letters[p][i].poster = p;
        assert_int_equal(pthread_create(&threads[p], NULL, post_all, letters[p]), 0);
    }
    while (taken < POSTERS * LETTERS) {
        struct tq_list some;
        assert_true(readable(PATIENCE_MS));
        tq_mailbox_take_all(&box, &some);
        for (struct tq_list *node; (node = tq_list_take_head(&some)) != NULL; taken++) {
            const struct letter *letter = tq_container_of(node, struct letter, link);
            assert_int_equal(letter->number, next[letter->poster]++);
        }
    }
    for (int p = 0; p < POSTERS; p++) {
        void *refused;
        pthread_join(threads[p], &refused);
        assert_null(refused);
    }
    struct tq_list none;
    tq_mailbox_take_all(&box, &none); /* clears a signal that was posted for letters already taken */
    assert_true(tq_list_empty(&none));
    assert_false(readable(0));
    tq_mailbox_close(&box);
}

static void a_shut_box_refuses_and_a_wake_needs_no_letter(void **state)
{
    (void)state;
    struct letter late;
    struct tq_list some;
    assert_int_equal(tq_mailbox_open(&box, NULL), TQ_OK);
    tq_mailbox_wake(&box);
    assert_true(readable(0));
    tq_mailbox_take_all(&box, &some);
    assert_true(tq_list_empty(&some));
    tq_mailbox_shut(&box);
    assert_false(tq_mailbox_post(&box, &late.link));
    assert_false(readable(0));
    tq_mailbox_close(&box);
    tq_mailbox_close(&(struct tq_mailbox){ 0 }); /* never opened */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_and_no_wake_up_is_missed),
        cmocka_unit_test(a_shut_box_refuses_and_a_wake_needs_no_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
