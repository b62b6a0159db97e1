#include "transport/base/seam.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "transport/base/assert.h"

static int64_t system_now_ns(void *self)
{
    (void)self;
    return tq_now_ns();
}

static void system_random(void *self, void *out, size_t len)
{
    (void)self;
    for (size_t done = 0; done < len;) {
        ssize_t got = getrandom((uint8_t *)out + done, len - done, 0);
        TQ_ASSERT(got >= 0 || errno == EINTR);
        done += got > 0 ? (size_t)got : 0;
    }
}

static void *system_alloc(void *self, size_t len)
{
    (void)self;
    return calloc(1, len);
}

static void system_free(void *self, void *memory)
{
    (void)self;
    free(memory);
}

static bool system_fault(void *self, enum tq_fault point)
{
    (void)self;
    (void)point;
    return false;
}

const struct tq_seam *tq_seam_system(void)
{
    static const struct tq_seam system = {
        NULL, system_now_ns, system_random, system_alloc, system_free, system_fault
    };
    return &system;
}

static const struct tq_seam *or_system(const struct tq_seam *seam)
{
    return seam != NULL ? seam : tq_seam_system();
}

int64_t tq_seam_now_ns(const struct tq_seam *seam)
{
    seam = or_system(seam);
    return seam->now_ns(seam->self);
}

void tq_seam_random(const struct tq_seam *seam, void *out, size_t len)
{
    seam = or_system(seam);
    seam->random(seam->self, out, len);
}

uint64_t tq_seam_random64(const struct tq_seam *seam)
{
    uint64_t number = 0;
    while (number == 0)
        tq_seam_random(seam, &number, sizeof(number));
    return number;
}

void *tq_seam_alloc(const struct tq_seam *seam, size_t len)
{
    seam = or_system(seam);
    return seam->alloc(seam->self, len > 0 ? len : 1);
}

void *tq_seam_alloc_array(const struct tq_seam *seam, size_t count, size_t size)
{
    size_t len;
    if (__builtin_mul_overflow(count, size, &len))
        return NULL;
    return tq_seam_alloc(seam, len);
}

void tq_seam_free(const struct tq_seam *seam, void *memory)
{
    if (memory == NULL)
        return;
    seam = or_system(seam);
    seam->free(seam->self, memory);
}

char *tq_seam_strdup(const struct tq_seam *seam, const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = tq_seam_alloc(seam, len);
    if (copy != NULL)
        memcpy(copy, text, len);
    return copy;
}

bool tq_seam_fault(const struct tq_seam *seam, enum tq_fault point)
{
    seam = or_system(seam);
    return seam->fault(seam->self, point);
}
