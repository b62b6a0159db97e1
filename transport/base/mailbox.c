#include "transport/base/mailbox.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/base/assert.h"

tq_status tq_mailbox_open(struct tq_mailbox *box, struct tq_error *err)
{
    *box = (struct tq_mailbox){ .wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
    if (box->wake_fd < 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "DESCRIPTORS", "eventfd: %s", strerror(errno));
    pthread_mutex_init(&box->lock, NULL);
    tq_list_init(&box->letters);
    return TQ_OK;
}

void tq_mailbox_close(struct tq_mailbox *box)
{
    if (box->letters.next == NULL) /* never opened */
        return;
    TQ_ASSERT(tq_list_empty(&box->letters));
    close(box->wake_fd);
    pthread_mutex_destroy(&box->lock);
    *box = (struct tq_mailbox){ .wake_fd = -1 };
}

void tq_mailbox_wake(struct tq_mailbox *box)
{
    const uint64_t one = 1;
    ssize_t wrote = write(box->wake_fd, &one, sizeof(one));
    TQ_ASSERT(wrote == sizeof(one) || errno == EAGAIN); /* EAGAIN: the counter is full, so it is readable */
}

bool tq_mailbox_post(struct tq_mailbox *box, struct tq_list *letter)
{
    pthread_mutex_lock(&box->lock);
    bool accepted = !box->closed;
    bool was_empty = tq_list_empty(&box->letters);
    if (accepted)
        tq_list_add_tail(&box->letters, letter);
    pthread_mutex_unlock(&box->lock);
    if (accepted && was_empty)
        tq_mailbox_wake(box);
    return accepted;
}

void tq_mailbox_take_all(struct tq_mailbox *box, struct tq_list *out)
{
    uint64_t count;
    tq_list_init(out);
    ssize_t got = read(box->wake_fd, &count, sizeof(count)); /* before the letters: a later post signals again */
    TQ_ASSERT(got == sizeof(count) || errno == EAGAIN);
    pthread_mutex_lock(&box->lock);
    if (!tq_list_empty(&box->letters)) {
        *out = box->letters;
        out->next->prev = out->prev->next = out;
        tq_list_init(&box->letters);
    }
    pthread_mutex_unlock(&box->lock);
}

void tq_mailbox_shut(struct tq_mailbox *box)
{
    pthread_mutex_lock(&box->lock);
    box->closed = true;
    pthread_mutex_unlock(&box->lock);
}
