/* transport/base/list.h: intrusive doubly linked list. The node lives in the element, so that linking allocates
 * nothing. Owns: nothing. Threads: whoever owns the list. */
#ifndef TQ_BASE_LIST_H
#define TQ_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct tq_list {
    struct tq_list *next, *prev;
};

static inline void tq_list_init(struct tq_list *list)
{
    list->next = list->prev = list;
}

static inline bool tq_list_empty(const struct tq_list *list)
{
    return list->next == list;
}

static inline void tq_list_add_tail(struct tq_list *list, struct tq_list *node)
{
    node->prev = list->prev;
    node->next = list;
    list->prev->next = node;
    list->prev = node;
}

static inline void tq_list_add_head(struct tq_list *list, struct tq_list *node)
{
    tq_list_add_tail(list->next, node);
}

/* The node is a list of its own afterwards: removing it twice does no harm. */
static inline void tq_list_remove(struct tq_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    tq_list_init(node);
}

/* The first node, removed; NULL when empty. */
static inline struct tq_list *tq_list_take_head(struct tq_list *list)
{
    struct tq_list *node = list->next;
    if (node == list)
        return NULL;
    tq_list_remove(node);
    return node;
}

#define tq_container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#define tq_list_each(node, list) for (struct tq_list * (node) = (list)->next; (node) != (list); (node) = (node)->next)
/* Allows removal of `node` inside the loop. */
#define tq_list_each_safe(node, list)                                                                                  \
    for (struct tq_list * (node) = (list)->next, *after_##node = (node)->next; (node) != (list);                       \
         (node) = after_##node, after_##node = (node)->next)

#endif
