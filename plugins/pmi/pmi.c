/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap through a PMI-1 server: MPICH's mpiexec (hydra), Slurm's `srun --mpi=pmi2`, Flux.
 *
 * Cards are published as names, which other processes find at once, without a barrier. A server without names has keys,
 * which other processes see after a barrier that all of them have entered. This process enters it when it has published
 * a card, and does not wait: a lookup finds nothing until all have. There a card can be published once.
 *
 * The connection lasts from the first open() to the end of the process, because servers accept no second one. For the
 * same reason a library that contains this code stays loaded.
 *
 * Locking: the caller's, as core/job/process.h says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/base/words.h"
#include "core/engine/transport.h"
#include "core/job/process.h"
#include "core/object/plugin.h"
#include "plugins/pmi/copies.h"
#include "plugins/pmi/mapping.h"
#include "plugins/pmi/pmi_wire.h"

enum { RETRY_FIRST_MS = 1, RETRY_LAST_MS = 100, TEXT_MAX = (PL_CARD_MAX + 2) / 3 * 4 + 1 };

static struct {
    pid_t pid; /* of the process that has connected; 0: none has */
    struct pl_identity identity;
    char *local_ranks;
    uint64_t tenant; /* the key of this copy's name; 0: the program's own copy */
} known;

enum names { NAMES_UNKNOWN, NAMES_YES, NAMES_NO };
static enum names names; /* Does the server have names? */
static bool published[PL_CARD_SLOTS];

/* When to ask again for the card of a rank that was not there. */
struct pause {
    int64_t until;
    int length;
};
static struct pause *pauses; /* [PL_CARD_SLOTS * size] */

/* --- cards as text ------------------------------------------------------------------------------------------- */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void pmi_encode(const unsigned char *from, size_t length, char text[TEXT_MAX])
{
    for (size_t i = 0; i < length; i += 3) {
        unsigned bits = (unsigned)from[i] << 16;
        bits |= i + 1 < length ? (unsigned)from[i + 1] << 8 : 0;
        bits |= i + 2 < length ? from[i + 2] : 0;
        for (int k = 0; k < 4 && i * 8 + (size_t)k * 6 < length * 8; k++)
            *text++ = letters[bits >> (18 - 6 * k) & 63];
    }
    *text = '\0';
}

/* False: the text is not a card. */
static bool pmi_decode(const char *text, unsigned char card[PL_CARD_MAX], size_t *length)
{
    unsigned bits = 0;
    size_t used = 0;
    for (int have = 0; *text; text++) {
        const char *letter = strchr(letters, *text);
        if (!letter)
            return false;
        bits = bits << 6 | (unsigned)(letter - letters);
        have += 6;
        if (have < 8)
            continue;
        have -= 8;
        if (used == PL_CARD_MAX)
            return false;
        card[used++] = (unsigned char)(bits >> have);
    }
    *length = used;
    return used > 0;
}

/* --- cards --------------------------------------------------------------------------------------------------- */

static const char *pmi_key_of(int rank, enum pl_card_slot slot, char key[64])
{
    int length = snprintf(key, 64, "plenum.%s.%d", slot == PL_CARD_LISTENER ? "door" : "world", rank);
    if (known.tenant)
        snprintf(key + length, 64 - (size_t)length, ".%016llx", (unsigned long long)known.tenant);
    return key;
}

/* The names of all jobs of a launcher are in one space, so the job is a part of them; keys are in the job's space. */
static int pmi_withdraw(enum pl_card_slot slot)
{
    char key[64], answer[PL_PMI_LINE];
    if (!published[slot] || names != NAMES_YES)
        return MPI_SUCCESS;
    published[slot] = false;
    return pl_pmi_wire_ask("unpublish_result", answer, "cmd=unpublish_name service=%s.%s",
                           pmi_key_of(known.identity.rank, slot, key), known.identity.nspace);
}

static int pmi_publish_name(const char *key, const char *text)
{
    char answer[PL_PMI_LINE];
    int err = pl_pmi_wire_ask("publish_result", answer, "cmd=publish_name service=%s.%s port=%s", key,
                              known.identity.nspace, text);
    if (err || !pl_pmi_wire_refused(answer)) {
        names = err ? names : NAMES_YES;
        return err;
    }
    if (names == NAMES_YES)
        return pl_fail(MPI_ERR_OTHER, "the launcher's PMI server does not publish this process's address: %.200s",
                       answer);
    names = NAMES_NO;
    pl_log("pmi", 2, "the server has no names: cards are keys");
    return MPI_SUCCESS;
}

static int pmi_put(const char *key, const char *text)
{
    char answer[PL_PMI_LINE];
    int err =
        pl_pmi_wire_ask("put_result", answer, "cmd=put kvsname=%s key=%s value=%s", known.identity.nspace, key, text);
    if (!err && pl_pmi_wire_refused(answer))
        err = pl_fail(MPI_ERR_OTHER, "the launcher's PMI server does not store this process's address: %.200s", answer);
    return err ? err : pl_pmi_wire_barrier();
}

static int pmi_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    char key[64], text[TEXT_MAX];
    int err = pmi_withdraw(slot);
    if (err || length == 0)
        return err;
    if (published[slot])
        return pl_fail(MPI_ERR_OTHER, "the launcher's PMI server has no names, so sessions and communicators from "
                                      "groups cannot begin again: use a launcher with PMIx, or Plenum's mpiexec");
    pmi_encode(card, length, text);
    pmi_key_of(known.identity.rank, slot, key);
    if (names != NAMES_NO)
        err = pmi_publish_name(key, text);
    if (!err && names == NAMES_NO)
        err = pmi_put(key, text);
    published[slot] = !err;
    return err;
}

static bool pmi_replaces(void)
{
    return names != NAMES_NO;
}

static int pmi_ask_for_card(const char *key, char answer[PL_PMI_LINE], const char **word)
{
    *word = names == NAMES_NO ? "value" : "port";
    if (names == NAMES_NO)
        return pl_pmi_wire_ask("get_result", answer, "cmd=get kvsname=%s key=%s", known.identity.nspace, key);
    return pl_pmi_wire_ask("lookup_result", answer, "cmd=lookup_name service=%s.%s", key, known.identity.nspace);
}

static int pmi_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    char key[64], answer[PL_PMI_LINE], text[TEXT_MAX];
    const char *word;
    struct pause *pause = &pauses[PL_CARD_SLOTS * rank + (int)slot];
    if ((names == NAMES_NO && pl_pmi_wire_barriers() == 0) || pl_clock_ms() < pause->until)
        return PL_AGAIN;
    int err = pmi_ask_for_card(pmi_key_of(rank, slot, key), answer, &word);
    if (err)
        return err;
    if (pl_pmi_wire_refused(answer) || !pl_words_value(answer, word, text, sizeof text)) {
        pause->length = pause->length ? pause->length * 2 : RETRY_FIRST_MS;
        pause->length = pause->length < RETRY_LAST_MS ? pause->length : RETRY_LAST_MS;
        pause->until = pl_clock_ms() + pause->length;
        return PL_AGAIN;
    }
    *pause = (struct pause){ 0 };
    return pmi_decode(text, card, length)
               ? MPI_SUCCESS
               : pl_fail(MPI_ERR_OTHER, "the launcher's PMI server gives a damaged address of rank %d", rank);
}

/* --- the identity -------------------------------------------------------------------------------------------- */

/* MPICH's server says -1 for what it does not know. */
static int pmi_ask_number(const char *request, const char *expected, const char *key, int missing)
{
    char answer[PL_PMI_LINE];
    long number;
    if (pl_pmi_wire_ask(expected, answer, "cmd=%s", request) || pl_pmi_wire_refused(answer) ||
        !pl_pmi_wire_number(answer, key, &number) || number < 0 || number > INT32_MAX)
        return missing;
    return (int)number;
}

static int pmi_learn_name(struct pl_identity *identity)
{
    char answer[PL_PMI_LINE];
    int err = pl_pmi_wire_ask("my_kvsname", answer, "cmd=get_my_kvsname");
    if (!err && !pl_words_value(answer, "kvsname", identity->nspace, sizeof identity->nspace))
        err = pl_fail(MPI_ERR_OTHER, "the launcher's PMI server does not name this job: %.200s", answer);
    return err;
}

/* Without a mapping every process is taken to be alone on its node: then the network connects all of them. */
static void pmi_learn_node(struct pl_identity *identity)
{
    char answer[PL_PMI_LINE], mapping[PL_PMI_LINE];
    const char *slurm = secure_getenv("SLURM_CPUS_ON_NODE");
    long online = sysconf(_SC_NPROCESSORS_ONLN), given = slurm ? strtol(slurm, NULL, 10) : 0;
    identity->slots = (int)(given > 0 && given < online ? given : online);
    identity->local_size = 1;
    if (pl_pmi_wire_ask("get_result", answer, "cmd=get kvsname=%s key=PMI_process_mapping", identity->nspace) ||
        !pl_words_value(answer, "value", mapping, sizeof mapping))
        return;
    int count;
    known.local_ranks = pl_pmi_mapping_local(mapping, identity->rank, identity->size, &count);
    if (!known.local_ranks)
        return;
    identity->local_size = count;
    identity->local_ranks = known.local_ranks;
}

/* A launcher takes a process that ends without this for a failed one. Children made by fork() must not say it. It runs
 * after the functions of atexit(): one of MPICH 4.2 finalizes, and is killed if the connection is closed already. */
__attribute__((destructor)) static void pmi_finalize_at_exit(void)
{
    if (known.pid && known.pid == getpid())
        pl_pmi_wire_close();
}

/* Learns the rank of this process, and its job. */
static int pmi_begin(struct pl_identity *identity)
{
    char answer[PL_PMI_LINE], name[PL_TENANT_NAME];
    *identity = (struct pl_identity){ .generation = 1 };
    int err = pl_pmi_wire_open(&identity->rank, &identity->size);
    if (!err)
        err = pl_pmi_wire_ask("maxes", answer, "cmd=get_maxes"); /* some servers want to be asked first */
    if (!err)
        err = pmi_learn_name(identity);
    if (err)
        return err;
    identity->appnum = pmi_ask_number("get_appnum", "appnum", "appnum", -1);
    identity->universe = pmi_ask_number("get_universe_size", "universe_size", "size", 0);
    pmi_learn_node(identity);
    pl_pmi_copies_enter(name);
    known.tenant = name[0] ? pl_tenant_key(name) : 0;
    pl_plugin_stay_loaded();
    pauses = pl_calloc((size_t)identity->size * PL_CARD_SLOTS, sizeof *pauses);
    return pauses ? MPI_SUCCESS : pl_fail_memory("the ranks of a job");
}

static int pmi_connect(void)
{
    int err = pmi_begin(&known.identity);
    if (err) {
        pl_pmi_wire_forget();
        free(known.local_ranks);
        known.local_ranks = NULL;
        return err;
    }
    known.pid = getpid();
    return MPI_SUCCESS;
}

static int pmi_open(struct pl_identity *identity)
{
    if (secure_getenv(PL_JOB_ENV)) /* Plenum's own launcher, whose job segment decides */
        return PL_UNREACHABLE;
    int err = known.pid ? MPI_SUCCESS : pmi_connect();
    if (err)
        return err;
    if (known.pid != getpid())
        return pl_fail(MPI_ERR_OTHER,
                       "this process was forked from process %d, which is the launcher's rank %d: to use MPI here "
                       "alone, set PLENUM_ALONE=1",
                       (int)known.pid, known.identity.rank);
    *identity = known.identity;
    return MPI_SUCCESS;
}

static void pmi_close(void)
{
    for (int slot = 0; slot < PL_CARD_SLOTS; slot++)
        pmi_withdraw((enum pl_card_slot)slot);
}

enum { ABORT_LINE_MS = 500 };

/* hydra drops what it has not read of a rank's output when the rank asks for the end of the job. */
static void pmi_wait_until_read(int pipe)
{
    int unread;
    for (int ms = 0; ms < ABORT_LINE_MS && ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0; ms++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* The server ends the job, and does not show the reason. */
static void pmi_abort(int code, const char *object, const char *message)
{
    (void)object;
    pl_process_wait_for_launcher(code);
    fprintf(stderr, "%s\n", message);
    fflush(stderr);
    pmi_wait_until_read(STDERR_FILENO);
    pl_pmi_wire_abort(code);
}

/* These servers notice by themselves when a process ends without having finalized. */
static void pmi_state(enum pl_process_state state)
{
    (void)state;
}

const struct pl_bootstrap_ops pl_bootstrap_pmi = {
    .abi = PL_BOOTSTRAP_ABI,
    .name = "pmi",
    .open = pmi_open,
    .close = pmi_close,
    .publish = pmi_publish,
    .lookup = pmi_lookup,
    .abort = pmi_abort,
    .state = pmi_state,
    .replaces = pmi_replaces,
};
