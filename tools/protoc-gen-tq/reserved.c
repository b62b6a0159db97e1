#include "tools/protoc-gen-tq/reserved.h"

#include <stddef.h>
#include <string.h>

static const char *const escaped_words[] = {
    "and",         "and_eq",    "asm",
    "auto",        "bitand",    "bitor",
    "bool",        "break",     "case",
    "catch",       "char",      "class",
    "compl",       "const",     "continue",
    "const_cast",  "default",   "delete",
    "do",          "double",    "dynamic_cast",
    "else",        "enum",      "explicit",
    "extern",      "false",     "float",
    "for",         "friend",    "goto",
    "if",          "inline",    "int",
    "long",        "mutable",   "namespace",
    "new",         "not",       "not_eq",
    "operator",    "or",        "or_eq",
    "private",     "protected", "public",
    "register",    "return",    "short",
    "signed",      "sizeof",    "reinterpret_cast",
    "static",      "struct",    "switch",
    "template",    "this",      "throw",
    "static_cast", "true",      "try",
    "typedef",     "typeid",    "typename",
    "union",       "unsigned",  "using",
    "virtual",     "void",      "volatile",
    "wchar_t",     "while",     "xor",
    "xor_eq",
};

/* Words of C11 to C23 and C++11 to C++20 that protoc-gen-c does not know. */
static const char *const other_words[] = {
    "alignas",  "alignof",   "char16_t",  "char32_t",      "char8_t",       "co_await",     "co_return", "co_yield",
    "concept",  "consteval", "constexpr", "constinit",     "decltype",      "export",       "noexcept",  "nullptr",
    "requires", "restrict",  "typeof",    "static_assert", "typeof_unqual", "thread_local",
};

/* Object-like macros in lower case of the headers of C17, POSIX and Linux, as gcc and clang list them with -dM, and of
 * the GNU dialects of the language. Field names are written in lower case, so others cannot meet a member. */
static const char *const macros[] = {
    "basename",
    "complex",
    "d_fileno",
    "errno",
    "h_addr",
    "h_errno",
    "i386",
    "imaginary",
    "linux",
    "ifa_broadaddr",
    "ifa_dstaddr",
    "ifc_buf",
    "ifc_req",
    "ifr_addr",
    "ifr_data",
    "ifr_dstaddr",
    "ifr_bandwidth",
    "ifr_broadaddr",
    "ifr_flags",
    "ifr_hwaddr",
    "ifr_ifindex",
    "ifr_map",
    "ifr_metric",
    "ifr_mtu",
    "ifr_name",
    "ifr_netmask",
    "ifr_newname",
    "ifr_qlen",
    "ifr_slave",
    "msg_cbytes",
    "noreturn",
    "math_errhandling",
    "s6_addr",
    "s6_addr16",
    "s6_addr32",
    "sa_handler",
    "si_addr",
    "sa_sigaction",
    "sched_priority",
    "si_addr_lsb",
    "si_arch",
    "si_band",
    "si_fd",
    "si_int",
    "si_call_addr",
    "si_lower",
    "si_overrun",
    "si_pid",
    "si_pkey",
    "si_ptr",
    "si_status",
    "si_stime",
    "si_syscall",
    "si_timerid",
    "si_uid",
    "si_upper",
    "si_utime",
    "si_value",
    "st_atime",
    "st_ctime",
    "st_mtime",
    "stderr",
    "stdin",
    "stdout",
    "unix",
    "sigev_notify_attributes",
    "sigev_notify_function",
};

/* A member called like the type of a member behind it is no C++. */
static const char *const types[] = { "int32_t", "int64_t", "uint32_t", "uint64_t", "uint8_t", "protobuf_c_boolean",
                                     "size_t" };

/* First parts of names that belong to the C library or to libraries that we link. */
static const char *const taken_packages[] = {
    "pb", "posix", "protobuf", "pthread", "sched", "sem", "ucp", "ucs", "zmq"
};

#define IS_IN(table, name) is_in(table, sizeof(table) / sizeof((table)[0]), name)

static bool is_in(const char *const *table, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i], name) == 0)
            return true;
    return false;
}

bool reserved_is_escaped_by_protoc_gen_c(const char *name)
{
    return IS_IN(escaped_words, name);
}

const char *reserved_member(const char *name)
{
    if (IS_IN(escaped_words, name) || IS_IN(other_words, name))
        return "a keyword of C or C++";
    if (IS_IN(macros, name))
        return "a macro in headers of the system";
    if (IS_IN(types, name))
        return "a type in headers of the system";
    return NULL;
}

/* Under "tq" the runtime has its own names; a version (tq_v1_...) keeps clear of them. */
static bool is_version(const char *part)
{
    return part[0] == 'v' && part[1] >= '0' && part[1] <= '9';
}

bool reserved_is_taken_package(const char *package)
{
    char first[16];
    const char *end = strchr(package, '_');
    size_t len = end == NULL ? strlen(package) : (size_t)(end - package);
    if (len >= sizeof(first))
        return false;
    memcpy(first, package, len);
    first[len] = '\0';
    if (strcmp(first, "tq") == 0)
        return end == NULL || !is_version(end + 1);
    return IS_IN(taken_packages, first);
}
