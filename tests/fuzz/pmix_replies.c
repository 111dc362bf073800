/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PMIx server answers: values of any type and size under the keys of cards and process sets. PMIx itself is
 * replaced where it would ask its server. */
#include "fuzz.h"

#include "plugins/pmix/cards.c"
#include "plugins/pmix/pmix_copy.c"
/* both have these names */
#define ANSWER_SECONDS PSETS_ANSWER_SECONDS
#define host           psets_host
#define self           psets_self
#include "plugins/pmix/pmix_psets.c"
#undef host
#undef self

enum { QUESTIONS = 12 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

static struct fuzz *input;

/* A value whose type fits its content, as PMIx guarantees it; what it is for is another question. */
static pmix_value_t *make_value(void)
{
    pmix_value_t *value = calloc(1, sizeof *value);
    size_t size;
    switch (fuzz_byte(input) % 6) {
    case 0:
        value->type = PMIX_STRING;
        value->data.string = malloc(40);
        snprintf(value->data.string, 40, "%c,app://%c,,%c", fuzz_byte(input), fuzz_byte(input), fuzz_byte(input));
        break;
    case 1:
        value->type = PMIX_UINT32;
        value->data.uint32 = (uint32_t)fuzz_number(input);
        break;
    case 2:
        value->type = PMIX_DATA_ARRAY;
        value->data.darray = calloc(1, sizeof(pmix_data_array_t));
        value->data.darray->type = fuzz_byte(input) % 2 ? PMIX_PROC : PMIX_UINT8;
        value->data.darray->size = fuzz_byte(input) % 5;
        value->data.darray->array = calloc(5, sizeof(pmix_proc_t));
        for (size_t i = 0; value->data.darray->type == PMIX_PROC && i < value->data.darray->size; i++) {
            pmix_proc_t *proc = (pmix_proc_t *)value->data.darray->array + i;
            proc->rank = (uint32_t)fuzz_number(input);
            memset(proc->nspace, fuzz_byte(input) % 8 ? 'j' : 'x', fuzz_byte(input) % 8 ? 3 : sizeof proc->nspace);
        }
        break;
    default:
        size = fuzz_byte(input) % 4 ? sizeof(struct published_card) : fuzz_byte(input);
        value->type = PMIX_BYTE_OBJECT;
        value->data.bo.size = size;
        value->data.bo.bytes = calloc(1, size + 1);
        for (size_t i = 0; i < size && i < 8; i++)
            value->data.bo.bytes[i] = (char)(fuzz_byte(input) % 4 ? fuzz_byte(input) % 3 : fuzz_byte(input));
    }
    return value;
}

static void free_value(pmix_value_t *value)
{
    if (value->type == PMIX_STRING)
        free(value->data.string);
    else if (value->type == PMIX_BYTE_OBJECT)
        free(value->data.bo.bytes);
    else if (value->type == PMIX_DATA_ARRAY) {
        free(value->data.darray->array);
        free(value->data.darray);
    }
    free(value);
}

static pmix_status_t make_status(void)
{
    static const pmix_status_t all[] = { PMIX_ERR_NOT_FOUND, PMIX_ERR_TIMEOUT, PMIX_ERR_PROC_ABORTED, PMIX_ERROR,
                                         1234 };
    unsigned pick = fuzz_byte(input) % 12;
    return pick < 5 ? all[pick] : PMIX_SUCCESS;
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t ninfo,
                          pmix_value_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)key, (void)info, (void)ninfo;
    if (fuzz_byte(input) % 8 == 7)
        return PMIX_ERR_UNREACH;
    pmix_value_t *value = fuzz_byte(input) % 8 ? make_value() : NULL;
    cbfunc(make_status(), value, cbdata);
    if (value)
        free_value(value);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Query_info_nb(pmix_query_t asked[], size_t count, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    (void)asked, (void)count;
    pmix_info_t info[2];
    if (fuzz_byte(input) % 8 == 7)
        return PMIX_ERR_UNREACH;
    memset(info, 0, sizeof info);
    pmix_value_t *value = make_value();
    info[0].value = *value;
    cbfunc(make_status(), info, fuzz_byte(input) % 8 != 7, cbdata, NULL, NULL);
    free_value(value);
    return PMIX_SUCCESS;
}

static int fuzz_fail(int class, const char *format, ...)
{
    (void)format;
    return class;
}

static void fuzz_log(const char *subsystem, int level, const char *format, ...)
{
    (void)subsystem, (void)level, (void)format;
}

static void fuzz_tenant(uint32_t number, char *name)
{
    (void)number;
    name[0] = '\0'; /* the program's own copy */
}

static const struct pl_bootstrap_host fuzz_host = { .fail = fuzz_fail, .log = fuzz_log, .tenant = fuzz_tenant };

static int found(void *to, const char *name, const int *ranks, int count)
{
    (void)to;
    FUZZ_CHECK(*name);
    for (int i = 0; i < count; i++)
        FUZZ_CHECK(ranks[i] >= 0);
    return fuzz_byte(input) % 8 == 7 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    pmix_proc_t proc = { .nspace = "jjj", .rank = 1 };
    char local[24] = "";
    unsigned char card[PL_CARD_MAX];
    size_t length;
    input = &from;
    for (unsigned i = 0; i < 10; i++)
        local[i] = "0123456789,,,- x"[fuzz_byte(&from) % 16];
    pl_pmix_copy_enter(&fuzz_host);
    pl_pmix_cards_open(&proc, 1, fuzz_byte(&from) % 4 ? local : NULL);
    for (int i = 0; i < QUESTIONS && fuzz_left(&from) > 0; i++)
        if (pl_pmix_cards_lookup((int)(fuzz_byte(&from) % 3), fuzz_byte(&from) % 2 ? PL_CARD_LISTENER : PL_CARD_WORLD,
                                 card, &length) == MPI_SUCCESS)
            FUZZ_CHECK(length > 0 && length <= PL_CARD_MAX);
    pl_pmix_cards_close();
    silent = false;
    pl_pmix_psets_each(&fuzz_host, &proc, found, NULL);
    return 0;
}
