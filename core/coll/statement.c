/* SPDX-License-Identifier: BSD-3-Clause */
/* See statement.h. */
#include "core/coll/statement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/coll/algorithm.h"
#include "core/coll/traits.h"
#include "core/datatype/signature.h"

/* --- amounts ------------------------------------------------------------------------------------------------------ */

/* A run of equal elements is one item, however the datatype was made. */
struct signature_sum {
    uint64_t sum;
    const struct pl_type *element;
    MPI_Count elements;
    bool packed;
};

static void signature_sum_add(struct signature_sum *s)
{
    if (s->elements == 0)
        return;
    uint64_t kind = (uint64_t)s->element->basic << 32 | (uint64_t)s->element->size;
    s->sum = (s->sum ^ kind) * 0x9e3779b97f4a7c15u;
    s->sum = ((s->sum ^ s->sum >> 29) + (uint64_t)s->elements) * 0xbf58476d1ce4e5b9u;
}

static bool signature_sum_visit(void *context, const struct pl_type *element, MPI_Count elements)
{
    struct signature_sum *s = context;
    bool same = s->element && s->element->basic == element->basic && s->element->size == element->size;
    s->packed |= element->basic == PL_NONE;
    if (!same)
        signature_sum_add(s);
    s->elements = same ? s->elements + elements : elements;
    s->element = element;
    return true;
}

static uint64_t signature_sum_of(struct pl_block block)
{
    struct signature_sum s = { .sum = 1 };
    pl_signature_walk(block.type, block.count, signature_sum_visit, &s);
    signature_sum_add(&s);
    return s.packed ? 0 : s.sum | 1;
}

struct pl_amount pl_amount_of(struct pl_block block)
{
    struct pl_amount amount = { .count = -1 };
    char name[MPI_MAX_OBJECT_NAME];
    if (!block.type)
        return amount;
    amount.count = block.count;
    amount.bytes = (int64_t)pl_block_size(block);
    amount.signature = signature_sum_of(block);
    snprintf(amount.type, sizeof amount.type, "%.39s", pl_type_label(block.type, name));
    return amount;
}

void pl_amount_tidy(struct pl_amount *amount)
{
    amount->type[sizeof amount->type - 1] = '\0';
}

static bool amount_is_said(const struct pl_amount *amount)
{
    return amount->count >= 0;
}

/* MPI_SUCCESS also where nothing is said of one. */
static int amounts_compare(const struct pl_amount *a, const struct pl_amount *b)
{
    if (!amount_is_said(a) || !amount_is_said(b))
        return MPI_SUCCESS;
    if (a->bytes != b->bytes)
        return MPI_ERR_COUNT;
    bool same = a->bytes == 0 || a->signature == 0 || b->signature == 0 || a->signature == b->signature;
    return same ? MPI_SUCCESS : MPI_ERR_TYPE;
}

/* --- making a statement ------------------------------------------------------------------------------------------- */

/* What goes between this rank and one other. The types of blocks of which nothing is known are NULL. */
static void statement_pair(struct pl_statement *statement, const struct pl_coll *coll, int to)
{
    const struct pl_comm *comm = coll->comm;
    const struct pl_coll_traits *traits = &pl_coll_traits[coll->kind];
    bool in_place = pl_coll_in_place(coll), root = pl_coll_is_root(comm, coll->root);
    struct pl_block sends = { 0 }, expects = { 0 };
    switch (traits->shape) {
    case PL_SHAPE_TO_ROOT:
        if (root)
            expects = pl_recv_block(coll, to);
        else if (coll->root == to)
            sends = pl_coll_sent(coll);
        break;
    case PL_SHAPE_FROM_ROOT:
        if (root)
            sends = pl_send_block(coll, to);
        else if (coll->root == to)
            expects = pl_coll_received(coll);
        break;
    case PL_SHAPE_TO_ALL:
        sends = in_place ? pl_recv_block(coll, comm->rank) : pl_coll_sent(coll);
        expects = pl_recv_block(coll, to);
        break;
    case PL_SHAPE_PAIRS:
        sends = in_place ? pl_recv_block(coll, to) : pl_send_block(coll, to);
        expects = pl_recv_block(coll, to);
        break;
    case PL_SHAPE_PARTS: /* what each of the two says that the other and itself get */
        if (traits->counts == PL_COUNTS_ONE || pl_comm_is_inter(comm))
            break;
        sends = pl_block(NULL, pl_count_at(coll->recvcounts, to), coll->recvtype);
        expects = pl_block(NULL, pl_count_at(coll->recvcounts, comm->rank), coll->recvtype);
        break;
    default: break;
    }
    statement->sends = pl_amount_of(sends);
    statement->expects = pl_amount_of(expects);
}

/* What all ranks have alike: in an intercommunicator's scatters, the elements of all blocks of a group. */
static struct pl_block statement_same(const struct pl_coll *coll)
{
    const struct pl_coll_traits *traits = &pl_coll_traits[coll->kind];
    int size = coll->comm->size;
    if (traits->shape != PL_SHAPE_VECTOR && traits->shape != PL_SHAPE_PARTS)
        return (struct pl_block){ 0 };
    if (traits->shape == PL_SHAPE_VECTOR || !pl_comm_is_inter(coll->comm))
        return pl_coll_one_block(coll);
    if (traits->counts == PL_COUNTS_ONE)
        return pl_block(NULL, coll->recvcount * size, coll->recvtype);
    return pl_block(NULL, (MPI_Count)pl_counts_sum(coll->recvcounts, size), coll->recvtype);
}

static uint64_t statement_counts(const struct pl_coll *coll)
{
    uint64_t sum = PL_HASH_BEGIN;
    for (int i = 0; coll->kind == PL_COLL_REDUCE_SCATTER && i < coll->comm->size; i++)
        sum = pl_hash_add(sum, (uint64_t)pl_count_at(coll->recvcounts, i));
    return sum;
}

void pl_statement_make(struct pl_statement *statement, const struct pl_coll *coll, enum pl_coll_form form,
                       const char *function, int to)
{
    const struct pl_comm *comm = coll->comm;
    *statement = (struct pl_statement){
        .kind = coll->kind,
        .form = form,
        .rank = comm->rank,
        .process = PL_PROC_RANK(pl_group_proc(comm->group, comm->rank)),
        .root = pl_coll_traits[coll->kind].root ? coll->root : PL_NO_ROOT,
        .counts = statement_counts(coll),
        .same = pl_amount_of(statement_same(coll)),
    };
    snprintf(statement->function, sizeof statement->function, "%.39s", function);
    if (coll->op && pl_op_is_user(coll->op))
        snprintf(statement->op, sizeof statement->op, "a user-defined operation%s",
                 coll->op->commute ? "" : " that does not commute");
    else if (coll->op)
        snprintf(statement->op, sizeof statement->op, "%.47s", coll->op->name);
    statement_pair(statement, coll, to);
}

void pl_statement_tidy(struct pl_statement *statement)
{
    statement->function[sizeof statement->function - 1] = statement->op[sizeof statement->op - 1] = '\0';
    pl_amount_tidy(&statement->same);
    pl_amount_tidy(&statement->sends);
    pl_amount_tidy(&statement->expects);
}

/* --- words -------------------------------------------------------------------------------------------------------- */

/* A text that is cut where it does not fit. */
struct words {
    char *text;
    size_t size, length;
};

static PL_PRINTF(2, 3) void words_add(struct words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(words->text + words->length, words->size - words->length, format, arguments);
    va_end(arguments);
    words->length += length < 0 ? 0 : (size_t)length;
    if (words->length >= words->size)
        words->length = words->size - 1;
}

/* In an intercommunicator a rank alone does not say in which group. */
static void words_add_rank(struct words *words, const struct pl_statement *statement, bool inter)
{
    words_add(words, "rank %d", statement->rank);
    if (inter)
        words_add(words, " of its group (process %d)", statement->process);
}

static void words_add_amount(struct words *words, const struct pl_amount *amount)
{
    words_add(words, "%" PRId64 " x %s", amount->count, amount->type);
}

static void words_add_call(struct words *words, const struct pl_statement *statement)
{
    const char *before = " with ";
    words_add(words, "%s", statement->function);
    if (statement->root != PL_NO_ROOT) {
        words_add(words, "%sroot ", before);
        if (statement->root == MPI_ROOT || statement->root == MPI_PROC_NULL)
            words_add(words, statement->root == MPI_ROOT ? "MPI_ROOT" : "MPI_PROC_NULL");
        else
            words_add(words, "%d", statement->root);
        before = ", ";
    }
    if (amount_is_said(&statement->same)) {
        words_add(words, "%s", before);
        words_add_amount(words, &statement->same);
        before = ", ";
    }
    if (statement->op[0])
        words_add(words, "%s%s", before, statement->op);
}

static const char *words_for(int class)
{
    return class == MPI_ERR_ROOT    ? "roots"
           : class == MPI_ERR_OP    ? "operations"
           : class == MPI_ERR_COUNT ? "counts"
           : class == MPI_ERR_TYPE  ? "datatypes"
                                    : "collectives";
}

/* Both calls, the lower rank's first. Returns the class. */
static int statements_fail(int class, const struct pl_statement *a, const struct pl_statement *b, bool inter,
                           char text[PL_DETAIL_MAX])
{
    struct words words = { text, PL_DETAIL_MAX, 0 };
    bool swap = inter ? b->process < a->process : b->rank < a->rank;
    const struct pl_statement *first = swap ? b : a, *second = swap ? a : b;
    words_add(&words, "the %s of the ranks differ: ", words_for(class));
    words_add_rank(&words, first, inter);
    words_add(&words, " is in ");
    words_add_call(&words, first);
    words_add(&words, "; ");
    words_add_rank(&words, second, inter);
    words_add(&words, " is in ");
    words_add_call(&words, second);
    return class;
}

/* What one rank has for another, and what that expects of it. */
static int pair_fail(int class, const struct pl_statement *from, const struct pl_statement *to, bool inter,
                     char text[PL_DETAIL_MAX])
{
    struct words words = { text, PL_DETAIL_MAX, 0 };
    bool counted = from->kind == PL_COLL_REDUCE_SCATTER;
    words_add(&words, "the %s of the ranks differ in %s: ", words_for(class), from->function);
    words_add_rank(&words, from, inter);
    words_add(&words, counted ? " counts " : " sends ");
    words_add_amount(&words, &from->sends);
    words_add(&words, counted ? " for " : " to ");
    words_add_rank(&words, to, inter);
    words_add(&words, counted ? ", which counts " : ", which expects ");
    words_add_amount(&words, &to->expects);
    return class;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* On an intercommunicator each rank compares its root with those of all ranks of the other group. */
static bool roots_fit(const struct pl_statement *told, const struct pl_statement *heard, bool inter)
{
    if (!inter || told->root == PL_NO_ROOT)
        return told->root == heard->root;
    if (told->root >= 0)
        return heard->root == (heard->rank == told->root ? MPI_ROOT : MPI_PROC_NULL);
    return heard->root >= 0 && (heard->root == told->rank) == (told->root == MPI_ROOT);
}

int pl_statements_compare(const struct pl_statement *told, const struct pl_statement *heard, bool inter,
                          char text[PL_DETAIL_MAX])
{
    int class = MPI_SUCCESS;
    if (told->kind != heard->kind || told->form != heard->form)
        class = MPI_ERR_OTHER;
    else if (!roots_fit(told, heard, inter))
        class = MPI_ERR_ROOT;
    else if (told->op[0] && heard->op[0] && strcmp(told->op, heard->op) != 0)
        class = MPI_ERR_OP;
    else
        class = amounts_compare(&told->same, &heard->same);
    if (class)
        return statements_fail(class, told, heard, inter, text);
    if ((class = amounts_compare(&told->sends, &heard->expects)) != MPI_SUCCESS)
        return pair_fail(class, told, heard, inter, text);
    if ((class = amounts_compare(&heard->sends, &told->expects)) != MPI_SUCCESS)
        return pair_fail(class, heard, told, inter, text);
    return MPI_SUCCESS;
}

int pl_statements_compare_group(const struct pl_statement *one, const struct pl_statement *other,
                                char text[PL_DETAIL_MAX])
{
    return one->counts == other->counts ? MPI_SUCCESS : statements_fail(MPI_ERR_COUNT, one, other, true, text);
}

int pl_amounts_compare_edge(const struct pl_amount *sent, int source, const struct pl_amount *expected, int rank,
                            const char *function, char text[PL_DETAIL_MAX])
{
    struct words words = { text, PL_DETAIL_MAX, 0 };
    int class = amounts_compare(sent, expected);
    if (class == MPI_SUCCESS)
        return MPI_SUCCESS;
    words_add(&words, "the %s of the ranks differ in %s: rank %d sends ", words_for(class), function, source);
    words_add_amount(&words, sent);
    words_add(&words, " to rank %d, which expects ", rank);
    words_add_amount(&words, expected);
    return class;
}

/* --- for job reports ---------------------------------------------------------------------------------------------- */

static const char *described_op(const struct pl_op *op)
{
    return pl_op_is_user(op) ? "a user's operation" : op->name;
}

void pl_coll_describe(const void *context, struct pl_job_item *item)
{
    const struct pl_coll *part = context, *coll = part->comm->coll.named ? part->comm->coll.named : part;
    if (!coll->comm)
        return;
    struct pl_block block = pl_coll_one_block(coll);
    char name[MPI_MAX_OBJECT_NAME];
    if (pl_coll_traits[coll->kind].root)
        item->root = coll->root;
    if (pl_coll_traits[coll->kind].op) /* else the fast paths leave it as it is on the stack */
        snprintf(item->op, sizeof item->op, "%.23s", described_op(coll->op));
    if (block.type)
        snprintf(item->data, sizeof item->data, "%lld x %.24s", (long long)block.count,
                 pl_type_label(block.type, name));
    if (block.type && !pl_comm_is_inter(coll->comm))
        item->bytes = (int64_t)pl_block_size(block);
}

static void describe_name(int kind, bool persistent, char *name, size_t size)
{
    const char *word = pl_coll_traits[kind].name;
    if (persistent)
        snprintf(name, size, "MPI_%c%s_init", word[0] - 'a' + 'A', word + 1);
    else
        snprintf(name, size, "MPI_I%s", word);
}

void pl_coll_describe_started(const struct pl_schedule *schedule, bool persistent, struct pl_job_item *item)
{
    describe_name(schedule->kind, persistent, item->call, sizeof item->call);
    item->tag = schedule->tag;
    if (pl_coll_traits[schedule->kind].root)
        item->root = schedule->root;
    for (int i = 0; i < schedule->count && !item->op[0]; i++)
        if (schedule->steps[i].kind == PL_STEP_REDUCE)
            snprintf(item->op, sizeof item->op, "%.23s", described_op(schedule->steps[i].reduce.op));
}

void pl_coll_words(const struct pl_coll *part, char *text, size_t size)
{
    const struct pl_coll *coll = part->comm->coll.named ? part->comm->coll.named : part;
    struct words words = { text, size, 0 };
    const char *name = pl_coll_traits[coll->kind].name;
    words_add(&words, "MPI_%c%s", name[0] - 'a' + 'A', name + 1);
    if (pl_coll_traits[coll->kind].root && coll->root >= 0)
        words_add(&words, " with root %d", coll->root);
}

void pl_coll_words_started(const struct pl_schedule *schedule, char *text, size_t size)
{
    struct words words = { text, size, 0 };
    struct pl_job_item item = { .root = PL_NO_ROOT };
    pl_coll_describe_started(schedule, false, &item);
    words_add(&words, "%s", item.call);
    if (item.root >= 0)
        words_add(&words, " with root %d", item.root);
}
