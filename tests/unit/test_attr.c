/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and keyvals: arguments and order of the callbacks, failing callbacks, lifetimes, threads. */
#include "fakes.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/error_codes.h"
#include "core/base/memory.h"
#include "core/datatype/datatype.h"
#include "core/job/process.h"
#include "core/object/attr.h"

/* What the callbacks did, as text: "copy a;" for every call, with the extra state as the name. */
static char events[1000];
static int fail_code; /* what they return */
static const void *seen_handle;

static void note(const char *what, const char *name)
{
    size_t used = strlen(events);
    snprintf(events + used, sizeof events - used, "%s %s;", what, name);
}

static int on_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)keyval;
    seen_handle = comm;
    note("copy", extra);
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return fail_code;
}

static int on_copy_refuse(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)in, (void)out;
    note("refuse", extra);
    *flag = 0;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value;
    seen_handle = comm;
    note("delete", extra);
    return fail_code;
}

static int make_keyval(MPI_Comm_copy_attr_function *copy, const char *name)
{
    int keyval;
    ck_assert_int_eq(MPI_Comm_create_keyval(copy, on_delete, &keyval, (void *)(uintptr_t)name), MPI_SUCCESS);
    ck_assert_int_ne(keyval, MPI_KEYVAL_INVALID);
    return keyval;
}

static void expect_events(const char *expected)
{
    ck_assert_str_eq(events, expected);
    events[0] = '\0';
}

static char slots[16];

/* The value as an index into `cells`, -1 when there is none. */
static int value_of(MPI_Comm comm, int keyval)
{
    void *value;
    int flag;
    ck_assert_int_eq(MPI_Comm_get_attr(comm, keyval, &value, &flag), MPI_SUCCESS);
    return flag ? (int)((char *)value - slots) : -1;
}

START_TEST(set_get_delete)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int a = make_keyval(on_copy, "a"), b = make_keyval(on_copy, "b");
    ck_assert_int_ne(a, b);
    ck_assert_int_eq(value_of(comm, a), -1);
    ck_assert_int_eq(MPI_Comm_set_attr(comm, a, &slots[1]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_set_attr(comm, b, &slots[2]), MPI_SUCCESS);
    ck_assert_int_eq(value_of(comm, a), 1);
    ck_assert_int_eq(value_of(comm, b), 2);
    expect_events("");
    ck_assert_int_eq(MPI_Comm_set_attr(comm, a, &slots[3]), MPI_SUCCESS); /* deletes the old value */
    expect_events("delete a;");
    ck_assert_ptr_eq(seen_handle, comm);
    ck_assert_int_eq(value_of(comm, a), 3);
    ck_assert_int_eq(MPI_Comm_delete_attr(comm, b), MPI_SUCCESS);
    expect_events("delete b;");
    ck_assert_int_eq(MPI_Comm_delete_attr(comm, b), MPI_SUCCESS); /* nothing there */
    expect_events("");
    ck_assert_int_eq(value_of(comm, b), -1);
    ck_assert_int_eq(pl_attrs_delete(&c->attrs, comm), MPI_SUCCESS);
    expect_events("delete a;");
    ck_assert_ptr_null(c->attrs);
    ck_assert_int_eq(MPI_Comm_free_keyval(&a), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_free_keyval(&b), MPI_SUCCESS);
    ck_assert_int_eq(a, MPI_KEYVAL_INVALID);
    fake_comm_free(c);
}
END_TEST

/* The last one set goes first; setting again counts as setting now. */
START_TEST(order)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    const char *names[] = { "a", "b", "c", "d" };
    int keyvals[4];
    for (int i = 0; i < 4; i++) {
        keyvals[i] = make_keyval(on_copy, names[i]);
        MPI_Comm_set_attr(comm, keyvals[i], &slots[i]);
    }
    MPI_Comm_set_attr(comm, keyvals[1], &slots[9]);
    expect_events("delete b;");
    ck_assert_int_eq(pl_attrs_delete(&c->attrs, comm), MPI_SUCCESS);
    expect_events("delete b;delete d;delete c;delete a;");
    for (int i = 0; i < 4; i++)
        MPI_Comm_free_keyval(&keyvals[i]);
    fake_comm_free(c);
}
END_TEST

START_TEST(copying)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1), *d = fake_comm("copy", 0, 1);
    MPI_Comm comm = (MPI_Comm)c, dup = (MPI_Comm)d;
    int mine = make_keyval(on_copy, "mine"), refuse = make_keyval(on_copy_refuse, "refuse"), same, never;
    ck_assert_int_eq(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &never, NULL), MPI_SUCCESS);
    MPI_Comm_set_attr(comm, refuse, &slots[1]);
    MPI_Comm_set_attr(comm, mine, &slots[2]);
    MPI_Comm_set_attr(comm, same, &slots[4]);
    MPI_Comm_set_attr(comm, never, &slots[6]);
    ck_assert_int_eq(pl_attrs_copy(&c->attrs, comm, &d->attrs), MPI_SUCCESS);
    expect_events("refuse refuse;copy mine;");
    ck_assert_ptr_eq(seen_handle, comm);
    ck_assert_int_eq(value_of(dup, mine), 3);
    ck_assert_int_eq(value_of(dup, same), 4);
    ck_assert_int_eq(value_of(dup, never), -1);
    ck_assert_int_eq(value_of(dup, refuse), -1);
    ck_assert_int_eq(value_of(comm, mine), 2);
    pl_attrs_delete(&c->attrs, comm);
    pl_attrs_delete(&d->attrs, dup);
    expect_events("delete mine;delete refuse;delete mine;");
    ck_assert_ptr_null(c->attrs);
    ck_assert_int_eq(pl_attrs_copy(&c->attrs, comm, &d->attrs), MPI_SUCCESS);
    ck_assert_ptr_null(d->attrs);
    MPI_Comm_free_keyval(&mine);
    MPI_Comm_free_keyval(&refuse);
    MPI_Comm_free_keyval(&same);
    MPI_Comm_free_keyval(&never);
    fake_comm_free(c);
    fake_comm_free(d);
}
END_TEST

START_TEST(failing_callbacks)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1), *d = fake_comm("copy", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int a = make_keyval(on_copy, "a"), b = make_keyval(on_copy, "b");
    MPI_Comm_set_attr(comm, a, &slots[1]);
    MPI_Comm_set_attr(comm, b, &slots[2]);

    fail_code = MPI_ERR_OTHER;
    ck_assert_int_eq(MPI_Comm_delete_attr(comm, a), MPI_ERR_OTHER);
    char expected[200];
    snprintf(expected, sizeof expected,
             "MPI_Comm_delete_attr: the delete callback of keyval %d returned 16 (MPI_ERR_OTHER)", a);
    ck_assert_str_eq(fake_string(MPI_ERR_OTHER), expected);
    ck_assert_int_eq(value_of(comm, a), 1);
    ck_assert_int_eq(MPI_Comm_set_attr(comm, a, &slots[3]), MPI_ERR_OTHER);
    ck_assert_int_eq(value_of(comm, a), 1);
    expect_events("delete a;delete a;");

    /* Deleting all stops there, and everything is still in its order. */
    ck_assert_int_eq(pl_attrs_delete(&c->attrs, comm), MPI_ERR_OTHER);
    expect_events("delete b;");
    ck_assert_int_eq(value_of(comm, b), 2);

    /* A user-defined code is passed on. */
    int class;
    MPI_Add_error_class(&class);
    fail_code = class;
    ck_assert_int_eq(pl_attrs_copy(&c->attrs, comm, &d->attrs), class);
    ck_assert_ptr_null(d->attrs);
    expect_events("copy a;");
    fail_code = 0;
    ck_assert_int_eq(pl_attrs_delete(&c->attrs, comm), MPI_SUCCESS);
    expect_events("delete b;delete a;");
    MPI_Comm_free_keyval(&a);
    MPI_Comm_free_keyval(&b);
    fake_comm_free(c);
    fake_comm_free(d);
}
END_TEST

static int fail_on(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)in, (void)out, (void)flag;
    note("fail", extra);
    return 12345;
}

/*
 * A copy that fails halfway leaves nothing behind, and freeing the object removes its attributes whatever the callbacks
 * return.
 */
START_TEST(half_a_copy)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1), *d = fake_comm("copy", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int a = make_keyval(on_copy, "a"), b = make_keyval(on_copy, "b"), bad = make_keyval(fail_on, "bad");
    MPI_Comm_set_attr(comm, a, &slots[1]);
    MPI_Comm_set_attr(comm, b, &slots[2]);
    MPI_Comm_set_attr(comm, bad, &slots[3]);
    ck_assert_int_eq(pl_attrs_copy(&c->attrs, comm, &d->attrs), 12345);
    expect_events("copy a;copy b;fail bad;delete b;delete a;");
    ck_assert_ptr_null(d->attrs);
    fail_code = 5;
    pl_attrs_discard(&c->attrs, comm);
    expect_events("delete bad;delete b;delete a;");
    ck_assert_ptr_null(c->attrs);
    MPI_Comm_free_keyval(&a);
    MPI_Comm_free_keyval(&b);
    MPI_Comm_free_keyval(&bad);
    fake_comm_free(c);
    fake_comm_free(d);
}
END_TEST

/*
 * A keyval that is freed while attributes live: they are read, copied and deleted as before, but no new ones are set.
 */
START_TEST(freed_keyval)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1), *d = fake_comm("copy", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int a = make_keyval(on_copy, "a"), number = a, gone;
    MPI_Comm_set_attr(comm, a, &slots[1]);
    ck_assert_int_eq(MPI_Comm_free_keyval(&a), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_free_keyval(&a), MPI_ERR_KEYVAL);
    gone = number;
    ck_assert_int_eq(MPI_Comm_free_keyval(&gone), MPI_SUCCESS); /* by its number, as a delete callback knows it */
    ck_assert_int_eq(gone, MPI_KEYVAL_INVALID);
    ck_assert_int_eq(value_of(comm, number), 1);
    ck_assert_int_eq(MPI_Comm_set_attr(comm, number, &slots[2]), MPI_ERR_KEYVAL);
    int other = make_keyval(on_copy, "other");
    ck_assert_int_ne(other, number);
    ck_assert_int_eq(pl_attrs_copy(&c->attrs, comm, &d->attrs), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_delete_attr(comm, number), MPI_SUCCESS);
    expect_events("copy a;delete a;");
    ck_assert_int_eq(value_of((MPI_Comm)d, number), 2);
    pl_attrs_delete(&d->attrs, d);
    expect_events("delete a;");
    void *value;
    int flag;
    ck_assert_int_eq(MPI_Comm_get_attr(comm, number, &value, &flag), MPI_ERR_KEYVAL);
    ck_assert_int_eq(MPI_Comm_free_keyval(&number), MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&other);
    pl_attrs_delete(&c->attrs, comm);
    expect_events("");
    fake_comm_free(c);
    fake_comm_free(d);
}
END_TEST

START_TEST(mistakes)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int a = make_keyval(on_copy, "a"), type_key, flag;
    void *value;
    ck_assert_int_eq(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL), MPI_SUCCESS);
    FAKE_EXPECT(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL,
                "MPI_Comm_set_attr: keyval is MPI_KEYVAL_INVALID (MPI_ERR_KEYVAL)");
    ck_assert_int_eq(MPI_Comm_set_attr(comm, type_key, NULL), MPI_ERR_KEYVAL);
    ck_assert_int_eq(MPI_Comm_get_attr(comm, 12345678, &value, &flag), MPI_ERR_KEYVAL);
    ck_assert_int_eq(MPI_Comm_get_attr(comm, -1, &value, &flag), MPI_ERR_KEYVAL);
    ck_assert_int_eq(MPI_Comm_delete_attr(comm, INT_MIN), MPI_ERR_KEYVAL);
    ck_assert_int_eq(MPI_Comm_get_attr(comm, a, NULL, &flag), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Comm_get_attr(comm, a, &value, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Comm_get_attr(MPI_COMM_NULL, a, &value, &flag), MPI_ERR_COMM);
    ck_assert_int_eq(MPI_Comm_create_keyval(on_copy, on_delete, NULL, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Comm_free_keyval(NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Type_free_keyval(&a), MPI_ERR_KEYVAL);
    ck_assert_int_eq(MPI_Win_get_attr(MPI_WIN_NULL, a, &value, &flag), MPI_ERR_WIN);
    MPI_Comm_free_keyval(&a);
    MPI_Type_free_keyval(&type_key);
    fake_comm_free(c);
}
END_TEST

START_TEST(predefined)
{
    fake_returning_errors();
    struct pl_instance *instance = fake_session();
    struct pl_comm *c = fake_comm("ocean", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int *value, flag, class;
    c->instance = instance;
    instance->world = true;
    const struct {
        int keyval, value;
    } expected[] = { { MPI_TAG_UB, INT_MAX },
                     { MPI_IO, MPI_ANY_SOURCE },
                     { MPI_HOST, MPI_PROC_NULL },
                     { MPI_WTIME_IS_GLOBAL, 0 },
                     { MPI_LASTUSEDCODE, MPI_ERR_LASTCODE },
                     { MPI_APPNUM, 3 },
                     { MPI_UNIVERSE_SIZE, 17 } };
    pl_process.identity.appnum = 3;
    pl_process.identity.universe = 17;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        int keyval = expected[i].keyval;
        ck_assert_int_eq(MPI_Comm_get_attr(comm, keyval, &value, &flag), MPI_SUCCESS);
        ck_assert(flag);
        ck_assert_int_eq(*value, expected[i].value);
        ck_assert_int_eq(MPI_Attr_get(comm, keyval, &value, &flag), MPI_SUCCESS);
        ck_assert_int_eq(*value, expected[i].value);
        ck_assert_int_eq(MPI_Comm_set_attr(comm, keyval, &class), MPI_ERR_KEYVAL);
        ck_assert_int_eq(MPI_Comm_delete_attr(comm, keyval), MPI_ERR_KEYVAL);
        ck_assert_int_eq(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
    }
    MPI_Comm_get_attr(comm, MPI_LASTUSEDCODE, &value, &flag);
    MPI_Add_error_class(&class);
    ck_assert_int_eq(*value, class); /* through the same pointer */
    pl_process.identity.appnum = -1;
    pl_process.identity.universe = 0;
    ck_assert_int_eq(MPI_Comm_get_attr(comm, MPI_APPNUM, &value, &flag), MPI_SUCCESS);
    ck_assert(!flag);
    ck_assert_int_eq(MPI_Comm_get_attr(comm, MPI_UNIVERSE_SIZE, &value, &flag), MPI_SUCCESS);
    ck_assert(!flag);
    instance->world = false;
    ck_assert_int_eq(MPI_Comm_get_attr(comm, MPI_WTIME_IS_GLOBAL, &value, &flag), MPI_SUCCESS);
    ck_assert(!flag);
    ck_assert_int_eq(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag), MPI_SUCCESS);
    ck_assert(flag && *value == INT_MAX);
    c->instance = NULL;
    fake_comm_free(c);
    fake_session_free(instance);
}
END_TEST

/* --- callbacks that use attributes themselves ---------------------------------------------------------------- */

static int helper_key;

static int meddle(MPI_Comm comm, int keyval, void *value, void *extra)
{
    void *got;
    int flag;
    (void)extra;
    note("meddle", "x");
    ck_assert_int_eq(MPI_Comm_get_attr(comm, keyval, &got, &flag), MPI_SUCCESS);
    ck_assert(flag && got == value);                                          /* still there while it is deleted */
    ck_assert_int_eq(MPI_Comm_delete_attr(comm, keyval), MPI_SUCCESS);        /* not deleted twice */
    ck_assert_int_eq(MPI_Comm_set_attr(comm, keyval, value), MPI_ERR_KEYVAL); /* nor set meanwhile */
    ck_assert_int_eq(MPI_Comm_set_attr(comm, helper_key, value), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_free_keyval(&keyval), MPI_SUCCESS);
    return MPI_SUCCESS;
}

START_TEST(callbacks_that_meddle)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int key;
    helper_key = make_keyval(on_copy, "helper");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meddle, &key, NULL);
    MPI_Comm_set_attr(comm, key, &slots[1]);
    ck_assert_int_eq(pl_attrs_delete(&c->attrs, comm), MPI_SUCCESS);
    expect_events("meddle x;delete helper;");
    MPI_Comm_free_keyval(&helper_key);
    fake_comm_free(c);
}
END_TEST

/* --- datatypes, deprecated names, memory, threads ------------------------------------------------------------ */

static int on_type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value;
    seen_handle = type;
    note("type", extra);
    return MPI_SUCCESS;
}

START_TEST(datatypes)
{
    fake_returning_errors();
    int key, flag;
    void *value;
    ck_assert_int_eq(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, on_type_delete, &key, (void *)(uintptr_t) "t"),
                     MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_set_attr(MPI_INT, key, &slots[5]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Type_get_attr(MPI_INT, key, &value, &flag), MPI_SUCCESS);
    ck_assert(flag && value == &slots[5]);
    ck_assert_int_eq(MPI_Type_get_attr(MPI_DOUBLE, key, &value, &flag), MPI_SUCCESS);
    ck_assert(!flag);
    ck_assert_int_eq(MPI_Type_delete_attr(MPI_INT, key), MPI_SUCCESS);
    expect_events("type t;");
    ck_assert_ptr_eq(seen_handle, MPI_INT);
    ck_assert_int_eq(MPI_Type_set_attr(MPI_DATATYPE_NULL, key, NULL), MPI_ERR_TYPE);
    struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT);
    ck_assert_int_eq(pl_attrs_delete(&type->attrs, MPI_INT), MPI_SUCCESS);
    MPI_Type_free_keyval(&key);
}
END_TEST

START_TEST(deprecated_names)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int key, flag;
    void *value;
    ck_assert_int_eq(MPI_Keyval_create(MPI_DUP_FN, on_delete, &key, (void *)(uintptr_t) "k"), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Attr_put(comm, key, &slots[5]), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Attr_get(comm, key, &value, &flag), MPI_SUCCESS);
    ck_assert(flag && value == &slots[5]);
    ck_assert_int_eq(MPI_Attr_delete(comm, key), MPI_SUCCESS);
    expect_events("delete k;");
    ck_assert_int_eq(MPI_Keyval_free(&key), MPI_SUCCESS);
    ck_assert_int_eq(key, MPI_KEYVAL_INVALID);
    pl_attrs_delete(&c->attrs, comm);
    fake_comm_free(c);
}
END_TEST

START_TEST(out_of_memory)
{
    fake_returning_errors();
    struct pl_comm *c = fake_comm("ocean", 0, 1), *d = fake_comm("copy", 0, 1);
    MPI_Comm comm = (MPI_Comm)c;
    int keys[40], failures;
    for (int i = 0; i < 40; i++) {
        for (int n = 1;; n++) {
            pl_memory_fail_at(n);
            int err = MPI_Comm_create_keyval(on_copy, on_delete, &keys[i], (void *)(uintptr_t) "k");
            bool failed = pl_memory_failed();
            pl_memory_fail_at(0);
            ck_assert_int_eq(err, failed ? MPI_ERR_NO_MEM : MPI_SUCCESS);
            if (!failed)
                break;
        }
        for (failures = 0; failures < 3; failures++) {
            pl_memory_fail_at(failures + 1);
            int err = MPI_Comm_set_attr(comm, keys[i], &slots[1]);
            pl_memory_fail_at(0);
            if (err == MPI_SUCCESS)
                break;
            ck_assert_int_eq(err, MPI_ERR_NO_MEM);
            ck_assert_int_eq(value_of(comm, keys[i]), -1);
        }
        ck_assert_int_eq(value_of(comm, keys[i]), 1);
    }
    for (int n = 1;; n++) {
        pl_memory_fail_at(n);
        int err = pl_attrs_copy(&c->attrs, comm, &d->attrs);
        bool failed = pl_memory_failed();
        pl_memory_fail_at(0);
        if (err == MPI_SUCCESS) { /* it may do with less memory, but not copy less */
            for (int i = 0; i < 40; i++)
                ck_assert_int_eq(value_of((MPI_Comm)d, keys[i]), 2);
        } else {
            ck_assert_int_eq(err, MPI_ERR_NO_MEM);
            ck_assert(failed);
            ck_assert_ptr_null(d->attrs);
        }
        if (!failed)
            break;
        pl_attrs_delete(&d->attrs, d);
    }
    pl_attrs_delete(&c->attrs, comm);
    pl_attrs_delete(&d->attrs, d);
    for (int i = 0; i < 40; i++)
        MPI_Comm_free_keyval(&keys[i]);
    fake_comm_free(c);
    fake_comm_free(d);
}
END_TEST

static _Atomic int copies, deletions;

static int count_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static struct pl_comm *busy;
static int busy_keys[3];
static _Atomic int sets;

static void *juggle(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < 3000; i++) {
        int key = busy_keys[unit_below(&seed, 3)], flag;
        struct pl_attrs *copy = NULL;
        void *value;
        switch (unit_below(&seed, 4)) {
        case 0: sets += MPI_Comm_set_attr((MPI_Comm)busy, key, &slots[1]) == MPI_SUCCESS; break;
        case 1: MPI_Comm_delete_attr((MPI_Comm)busy, key); break;
        case 2: MPI_Comm_get_attr((MPI_Comm)busy, key, &value, &flag); break;
        default:
            if (pl_attrs_copy(&busy->attrs, busy, &copy) == MPI_SUCCESS)
                pl_attrs_delete(&copy, busy);
        }
    }
    return NULL;
}

/* Every value that was set or copied is deleted once. */
START_TEST(threads)
{
    fake_returning_errors();
    pthread_t thread[3];
    busy = fake_comm("busy", 0, 1);
    for (int i = 0; i < 3; i++)
        MPI_Comm_create_keyval(count_copy, count_delete, &busy_keys[i], NULL);
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, juggle, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    pl_attrs_delete(&busy->attrs, busy);
    ck_assert_int_eq(deletions, sets + copies);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free_keyval(&busy_keys[i]);
    fake_comm_free(busy);
}
END_TEST

UNIT_MAIN("attr", set_get_delete, order, copying, failing_callbacks, half_a_copy, freed_keyval, mistakes, predefined,
          callbacks_that_meddle, datatypes, deprecated_names, out_of_memory, threads)
