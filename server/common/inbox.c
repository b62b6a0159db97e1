#include "server/common/inbox.h"

#include "transport/base/assert.h"

void tq_inbox_init(struct tq_inbox *inbox, struct tq_server *server)
{
    *inbox = (struct tq_inbox){ .server = server };
    pthread_mutex_init(&inbox->lock, NULL);
    tq_list_init(&inbox->letters);
}

void tq_inbox_take_all(struct tq_inbox *inbox)
{
    struct tq_list *node;
    do {
        pthread_mutex_lock(&inbox->lock);
        node = tq_list_take_head(&inbox->letters);
        inbox->is_announced = inbox->is_announced && node != NULL;
        pthread_mutex_unlock(&inbox->lock);
        if (node != NULL) {
            struct tq_letter *letter = tq_container_of(node, struct tq_letter, node);
            letter->take(letter->user);
        }
    } while (node != NULL);
}

static void look(void *user)
{
    tq_inbox_take_all(user);
}

void tq_inbox_post(struct tq_inbox *inbox, struct tq_letter *letter)
{
    pthread_mutex_lock(&inbox->lock);
    tq_list_add_tail(&inbox->letters, &letter->node);
    if (inbox->server != NULL && !inbox->is_announced)
        inbox->is_announced = tq_server_post(inbox->server, look, inbox);
    pthread_mutex_unlock(&inbox->lock);
}

void tq_inbox_shut(struct tq_inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->server = NULL;
    pthread_mutex_unlock(&inbox->lock);
}

void tq_inbox_fini(struct tq_inbox *inbox)
{
    if (inbox->letters.next == NULL)
        return;
    TQ_ASSERT(tq_list_empty(&inbox->letters));
    pthread_mutex_destroy(&inbox->lock);
    *inbox = (struct tq_inbox){ 0 };
}
