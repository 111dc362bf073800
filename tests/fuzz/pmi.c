/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PMI-1 server answers: its lines in chunks, valid, damaged or of another kind, mappings of any shape, cards of
 * any text. The connection is replaced by functions that answer as the input says, and end it where the input ends. */
#include "fuzz.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

static ssize_t fuzz_send(const char *line, size_t length);
static ssize_t fuzz_receive(void *to, size_t most);
static int fuzz_poll(const struct pollfd *one);
static int fuzz_resolve(const char *host, const char *port, const struct addrinfo *wanted, struct addrinfo **all);

#define send(fd, line, length, flags)     fuzz_send(line, length)
#define recv(fd, to, most, flags)         fuzz_receive(to, most)
#define poll(fds, count, ms)              fuzz_poll(fds)
#define getaddrinfo(host, port, how, all) fuzz_resolve(host, port, how, all)
#define freeaddrinfo(all)                 ((void)(all))
#define connect(fd, to, length)           0
#define atexit(function)                  ((void)(function))
/* clang-format off: the files share a namespace here */
#include "plugins/pmi/mapping.c"
#include "plugins/pmi/pmi.c"
#include "plugins/pmi/pmi_wire.c"
/* clang-format on */
#undef send
#undef recv
#undef poll
#undef connect
#undef atexit

#include "core/base/config.h"

enum { RANKS = 4, QUESTIONS = 12 };

static int inherited[2];

static void start(void)
{
    FUZZ_CHECK(pl_config_load() == MPI_SUCCESS && socketpair(AF_UNIX, SOCK_STREAM, 0, inherited) == 0);
}

FUZZ(start, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02")

/* --- the server -------------------------------------------------------------------------------------------------- */

static struct fuzz *input;
static char reply[2 * PL_PMI_LINE];
static size_t reply_length;

static void put_mapping(char *text, size_t size)
{
    int used = snprintf(text, size, "(vector");
    for (unsigned n = 1 + fuzz_byte(input) % 3; n > 0 && used < (int)size; n--)
        used += snprintf(text + used, size - (size_t)used, ",(%d,%d,%d)", (int)fuzz_number(input),
                         fuzz_byte(input) % 8 ? (int)fuzz_byte(input) % 4 : (int)fuzz_number(input),
                         fuzz_byte(input) % 8 ? (int)fuzz_byte(input) % 4 : (int)fuzz_number(input));
    if (used < (int)size)
        snprintf(text + used, size - (size_t)used, ")");
}

static void put_card(char text[TEXT_MAX + 8])
{
    size_t length = fuzz_byte(input) % 8 == 7 ? TEXT_MAX + fuzz_byte(input) % 8 : fuzz_byte(input);
    memset(text, 'A' + (int)fuzz_byte(input) % 26, length);
    text[length < TEXT_MAX + 8 ? length : TEXT_MAX + 7] = '\0';
    for (unsigned n = fuzz_byte(input) % 4; n > 0 && length > 0; n--)
        text[fuzz_byte(input) % length] =
            (char)(fuzz_byte(input) % 2 ? letters[fuzz_byte(input) % 64] : fuzz_byte(input));
}

/* The answer to a request, by its first word. */
static void put_answer(const char *request, char *line, size_t size)
{
    static const struct {
        const char *request, *answer;
    } fixed[] = {
        { "cmd=initack", "cmd=initack\ncmd=set size=4\ncmd=set rank=1\ncmd=set debug=0" },
        { "cmd=init", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0" },
        { "cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024" },
        { "cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_1_2_3" },
        { "cmd=get_appnum", "cmd=appnum appnum=1" },
        { "cmd=get_universe_size", "cmd=universe_size size=9" },
        { "cmd=publish_name", "cmd=publish_result rc=0 info=ok" },
        { "cmd=unpublish_name", "cmd=unpublish_result rc=0 info=ok" },
        { "cmd=put", "cmd=put_result rc=0" },
        { "cmd=barrier_in", "cmd=barrier_out rc=0" },
        { "cmd=finalize", "cmd=finalize_ack" },
    };
    char value[PL_PMI_LINE] = "";
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strncmp(request, fixed[i].request, strlen(fixed[i].request)) == 0) {
            snprintf(line, size, "%s", fixed[i].answer);
            return;
        }
    if (strstr(request, "PMI_process_mapping"))
        put_mapping(value, sizeof value);
    else
        put_card(value);
    bool lookup = strncmp(request, "cmd=lookup", 10) == 0;
    snprintf(line, size, "cmd=%s rc=0 %s=%s", lookup ? "lookup_result" : "get_result", lookup ? "port" : "value",
             value);
}

static ssize_t fuzz_send(const char *line, size_t length)
{
    char request[PL_PMI_LINE], answer[PL_PMI_LINE + 1000];
    FUZZ_CHECK(length > 0 && length <= PL_PMI_LINE && line[length - 1] == '\n');
    FUZZ_CHECK(memchr(line, '\n', length) == line + length - 1);
    snprintf(request, sizeof request, "%.*s", (int)length - 1, line);
    if (fuzz_byte(input) % 32 == 31) {
        errno = fuzz_byte(input) % 2 ? EPIPE : EINTR;
        return -1;
    }
    put_answer(request, answer, sizeof answer);
    size_t bytes = strlen(answer);
    if (fuzz_byte(input) % 8 == 7)
        bytes = fuzz_damage(input, (unsigned char *)answer, bytes);
    if (fuzz_byte(input) % 16 == 15)
        snprintf(answer, sizeof answer, "%s", fuzz_byte(input) % 2 ? "cmd=barrier_out" : "cmd=x rc=1 info=no");
    bytes = bytes < strlen(answer) ? bytes : strlen(answer);
    answer[bytes++] = '\n';
    bytes = bytes < sizeof reply - reply_length ? bytes : sizeof reply - reply_length;
    memcpy(reply + reply_length, answer, bytes);
    reply_length += bytes;
    return (ssize_t)length;
}

/* Now and then a line that the client has not asked for. */
static ssize_t fuzz_receive(void *to, size_t most)
{
    size_t chunk = fuzz_byte(input) % 4 == 3 ? fuzz_byte(input) : most;
    if (fuzz_byte(input) % 64 == 63) {
        errno = fuzz_byte(input) % 2 ? ECONNRESET : EINTR;
        return -1;
    }
    chunk = chunk < most ? chunk : most;
    chunk = chunk < reply_length ? chunk : reply_length;
    memcpy(to, reply, chunk);
    reply_length -= chunk;
    memmove(reply, reply + chunk, reply_length);
    return (ssize_t)chunk;
}

static int fuzz_poll(const struct pollfd *one)
{
    FUZZ_CHECK(one->fd >= 0);
    return reply_length > 0 || fuzz_byte(input) % 8 == 7; /* ready without bytes: the connection is closed */
}

static int fuzz_resolve(const char *host, const char *port, const struct addrinfo *wanted, struct addrinfo **all)
{
    static struct addrinfo one = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    FUZZ_CHECK(host && port && wanted->ai_socktype == SOCK_STREAM);
    *all = &one;
    return fuzz_byte(input) % 16 == 15;
}

/* --- the client -------------------------------------------------------------------------------------------------- */

static void set_number(const char *name, int number)
{
    char text[24];
    unsigned kind = fuzz_byte(input);
    snprintf(text, sizeof text, "%d", number);
    if (kind % 16 == 15)
        snprintf(text, sizeof text, "%lld", (long long)fuzz_number(input) % 100000);
    if (kind % 32 == 31)
        snprintf(text, sizeof text, "%c%c", (char)(1 + fuzz_byte(input) % 255), (char)(1 + fuzz_byte(input) % 255));
    setenv(name, text, 1);
}

static void set_environment(void)
{
    char fd[16];
    snprintf(fd, sizeof fd, "%d", inherited[0]);
    unsetenv("PMI_FD");
    if (fuzz_byte(input) % 2) {
        setenv("PMI_FD", fuzz_byte(input) % 16 ? fd : "-1", 1);
    } else {
        setenv("PMI_PORT", fuzz_byte(input) % 16 ? "host:1234" : "host", 1);
        setenv("PMI_ID", "3", 1);
    }
    set_number("PMI_RANK", 1);
    set_number("PMI_SIZE", RANKS);
}

static void ask(void)
{
    unsigned char card[PL_CARD_MAX];
    size_t length = 1 + fuzz_byte(input) % PL_CARD_MAX;
    enum pl_card_slot slot = fuzz_byte(input) % 2 ? PL_CARD_LISTENER : PL_CARD_WORLD;
    int rank = (int)fuzz_byte(input) % known.identity.size;
    memset(card, (int)length, sizeof card);
    if (fuzz_byte(input) % 2) {
        pmi_publish(slot, card, length);
        return;
    }
    pauses[PL_CARD_SLOTS * rank + (int)slot].until = 0;
    int err = pmi_lookup(rank, slot, card, &length);
    if (err == MPI_SUCCESS)
        FUZZ_CHECK(length > 0 && length <= PL_CARD_MAX);
    else if (err != PL_AGAIN)
        FUZZ_ONE_LINE(pl_error_detail(NULL));
}

/* As at the end of a process. */
static void forget(void)
{
    if (known.pid)
        pl_pmi_wire_close();
    if (wire.fd >= 0 && wire.fd != inherited[0])
        close(wire.fd);
    free(known.local_ranks);
    free(pauses);
    pauses = NULL;
    memset(&known, 0, sizeof known);
    memset(published, 0, sizeof published);
    names = NAMES_UNKNOWN;
    memset(&wire, 0, sizeof wire);
    wire.fd = wire.claim = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct pl_identity identity;
    input = &from;
    reply_length = 0;
    set_environment();
    int err = pmi_open(&identity);
    if (err) {
        if (err != PL_UNREACHABLE)
            FUZZ_ONE_LINE(pl_error_detail(NULL));
        FUZZ_CHECK(wire.claim < 0 && wire.fd < 0); /* the next session may try again */
    } else {
        FUZZ_CHECK(identity.rank >= 0 && identity.rank < identity.size && identity.local_size <= identity.size);
        FUZZ_CHECK(memchr(identity.nspace, '\0', sizeof identity.nspace));
        for (int i = 0; i < QUESTIONS && fuzz_left(&from) > 0; i++)
            ask();
        pmi_close();
    }
    forget();
    return 0;
}
