/* tests/support/cmocka_all.h: cmocka with the headers that it wants in front of it. */
#ifndef TQ_TESTS_SUPPORT_CMOCKA_ALL_H
#define TQ_TESTS_SUPPORT_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif
