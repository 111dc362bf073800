/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of sections that a request still uses. A call that completes the request copies back what was received; the
 * copies of a persistent request stay until it is freed, and are filled again at each start.
 *
 * The copies belong to the Fortran procedures: a request that Fortran made with a section that needed a copy must be
 * completed in Fortran, too. Sections that became datatypes have no such limit.
 *
 * A number stands for one request only until that is complete; then another thread may get it for a new one. So a call
 * that may complete requests takes their records out of the table first.
 *
 * The same holds for a communicator that a request makes when it completes: its handle is converted then.
 *
 * Locking: `pending_lock` protects the table. With it held, no MPI function is called but MPI_Comm_toint, a local one.
 */
#include "api/fortran/pending.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/fortran/convert.h"
#include "api/fortran/section.h"

struct plf_pending {
    struct plf_pending *next;
    MPI_Fint request;
    int place;   /* of the request among those of the call that has claimed the record */
    bool active; /* what is received is not copied back yet */
    struct plf_section section;
    MPI_Fint *number; /* instead of a section: the place of a handle in Fortran; NULL: none */
    MPI_Comm made;    /* and that handle in C; NULL: not set */
};

enum { PENDING_BUCKETS = 256 }; /* sections that need copies in nonblocking operations are few */
static struct plf_pending *pending_table[PENDING_BUCKETS];
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;
int plf_pending_total;

static struct plf_pending **pending_bucket(MPI_Fint request)
{
    return &pending_table[((unsigned)request * 2654435761u) >> 24];
}

struct plf_pending *plf_pending_make(void)
{
    return malloc(sizeof(struct plf_pending));
}

static void pending_insert(struct plf_pending *p)
{
    pthread_mutex_lock(&pending_lock);
    struct plf_pending **bucket = pending_bucket(p->request);
    p->next = *bucket;
    *bucket = p;
    pthread_mutex_unlock(&pending_lock);
}

static void pending_destroy(struct plf_pending *p)
{
    __atomic_sub_fetch(&plf_pending_total, 1, __ATOMIC_RELAXED);
    plf_section_free(&p->section);
    free(p);
}

static void pending_copy_back(struct plf_pending *p)
{
    if (p->active && !p->number)
        plf_section_copy_out(&p->section);
    else if (p->active && p->made)
        *p->number = plf_comm_f(p->made);
    p->active = false;
}

void plf_pending_add(MPI_Request request, struct plf_section *section, bool persistent)
{
    struct plf_pending *added = section->pending;
    section->pending = NULL;
    *added = (struct plf_pending){ .request = MPI_Request_toint(request), .active = !persistent, .section = *section };
    __atomic_add_fetch(&plf_pending_total, 1, __ATOMIC_RELAXED);
    pending_insert(added);
}

struct plf_pending *plf_pending_make_comm(MPI_Fint *number, MPI_Comm **handle)
{
    struct plf_pending *made = calloc(1, sizeof *made);
    if (made) {
        made->number = number;
        *handle = &made->made;
    }
    return made;
}

void plf_pending_add_comm(MPI_Request request, struct plf_pending *made)
{
    made->request = MPI_Request_toint(request);
    made->active = true;
    __atomic_add_fetch(&plf_pending_total, 1, __ATOMIC_RELAXED);
    pending_insert(made);
}

/* Copies back what the request's operation has received; once an activation. */
static void pending_copy_out(MPI_Fint request)
{
    pthread_mutex_lock(&pending_lock);
    for (struct plf_pending *p = *pending_bucket(request); p; p = p->next)
        if (p->request == request)
            pending_copy_back(p);
    pthread_mutex_unlock(&pending_lock);
}

/* Forgets the sections of a request that is no more. */
static void pending_remove(MPI_Fint request)
{
    pthread_mutex_lock(&pending_lock);
    for (struct plf_pending **at = pending_bucket(request); *at;) {
        struct plf_pending *p = *at;
        if (p->request != request) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        pending_destroy(p);
    }
    pthread_mutex_unlock(&pending_lock);
}

static bool pending_has(MPI_Fint request)
{
    pthread_mutex_lock(&pending_lock);
    struct plf_pending *p = *pending_bucket(request);
    while (p && p->request != request)
        p = p->next;
    pthread_mutex_unlock(&pending_lock);
    return p != NULL;
}

struct plf_pending *plf_pending_claim(const MPI_Fint *requests, int count)
{
    struct plf_pending *claimed = NULL;
    pthread_mutex_lock(&pending_lock);
    for (int i = 0; i < count; i++) {
        for (struct plf_pending **at = pending_bucket(requests[i]); *at;) {
            struct plf_pending *p = *at;
            if (p->request != requests[i]) {
                at = &p->next;
                continue;
            }
            *at = p->next;
            p->place = i;
            p->next = claimed;
            claimed = p;
        }
    }
    pthread_mutex_unlock(&pending_lock);
    return claimed;
}

void plf_pending_unclaim(struct plf_pending *claimed, const MPI_Request *now)
{
    while (claimed) {
        struct plf_pending *p = claimed;
        claimed = p->next;
        bool gone = now && now[p->place] == MPI_REQUEST_NULL;
        int complete = gone;
        if (now && !gone && MPI_Request_get_status(now[p->place], &complete, MPI_STATUS_IGNORE))
            complete = 0;
        if (complete)
            pending_copy_back(p);
        if (gone)
            pending_destroy(p);
        else
            pending_insert(p);
    }
}

void plf_pending_settle_slow(MPI_Fint number, MPI_Request request)
{
    int complete = 0;
    if (pending_has(number) && MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete)
        pending_copy_out(number);
}

void plf_pending_start_slow(const MPI_Fint *requests, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(&pending_lock);
        for (struct plf_pending *p = *pending_bucket(requests[i]); p; p = p->next)
            if (p->request == requests[i]) {
                plf_section_copy_in(&p->section);
                p->active = true;
            }
        pthread_mutex_unlock(&pending_lock);
    }
}

void plf_pending_free_slow(MPI_Fint request)
{
    if (!pending_has(request))
        return;
    /* The operation still uses the copy, and nothing tells of its end after the request is freed. */
    MPI_Request pending = MPI_Request_fromint(request);
    int complete = 0;
    while (MPI_Request_get_status(pending, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && !complete)
        ;
    pending_copy_out(request);
    pending_remove(request);
}
