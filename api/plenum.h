/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plenum.h
 * The Plenum runtime: launches MPI jobs from inside any process, follows them, and ends them.
 *
 * A host (a workflow engine, a service, mpiexec) opens a runtime, describes jobs by calls, launches them, and reads
 * what happens to them as events. Everything is followed through one descriptor:
 *
 *     struct plenum_runtime *rt;
 *     struct plenum_job *job;
 *     struct plenum_event *ev;
 *     const char *const argv[] = { "./ocean", "--days", "30", NULL };
 *
 *     plenum_runtime_open(&rt);
 *     plenum_job_create(rt, &job);
 *     plenum_job_add_program(job, 4, argv, NULL);
 *     plenum_job_launch(job);
 *     for (;;) {
 *         struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
 *         poll(&p, 1, -1);
 *         while (plenum_runtime_next_event(rt, &ev) == PLENUM_OK && ev) {
 *             ...
 *             plenum_event_free(ev);
 *         }
 *     }
 *
 * The runtime leaves its host alone: no signal handler, environment, umask, working directory or standard stream is
 * touched, and no child is left for the host's wait(). It has no thread of its own; it moves on when the host calls
 * plenum_runtime_next_event() or plenum_job_wait(). When the host dies, even by SIGKILL, its jobs die with it.
 *
 * Threads: every function may be called by any thread at any time, except that nobody may use an object while or
 * after it is closed. A child that the host forks must not use the runtimes of its parent.
 *
 * Errors: functions return PLENUM_OK or an error, and leave one line of explanation in plenum_error().
 */
#ifndef PLENUM_H
#define PLENUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLENUM_VERSION "0.1.0"

#if defined(__GNUC__)
#define PLENUM_API __attribute__((visibility("default")))
#else
#define PLENUM_API
#endif

struct plenum_runtime;
struct plenum_job;

enum plenum_error {
    PLENUM_OK,
    PLENUM_ERR_ARGUMENT,       /**< an argument is out of its range */
    PLENUM_ERR_STATE,          /**< not at this point: a launched job is not described any further */
    PLENUM_ERR_NOT_FOUND,      /**< the program does not exist */
    PLENUM_ERR_NOT_EXECUTABLE, /**< the program exists but cannot be executed */
    PLENUM_ERR_WDIR,           /**< the working directory does not exist or may not be entered */
    PLENUM_ERR_LIMIT,          /**< a limit of the system: descriptors, processes */
    PLENUM_ERR_MEMORY,
    PLENUM_ERR_TIMEOUT, /**< the time is over; nothing was changed */
    PLENUM_ERR_SYSTEM   /**< a system call failed in a way that has no name above */
};

/** The last error of the calling thread in one line without a newline; "" if there was none. Borrowed until the
 *  thread's next call into the library. */
PLENUM_API const char *plenum_error(void);

/* --- the runtime ------------------------------------------------------------------------------------------- */

/** Opens a runtime: starts its keeper, the small process that will start, watch and end the ranks. Open it early:
 *  the keeper begins as a copy-on-write copy of the host.
 *  @param[out] runtime  to be closed with plenum_runtime_close() */
PLENUM_API int plenum_runtime_open(struct plenum_runtime **runtime);

/** Kills what still runs, frees all jobs and events of the runtime, and gives everything back. NULL is ignored. */
PLENUM_API void plenum_runtime_close(struct plenum_runtime *runtime);

/** The descriptor to poll for reading: readable when plenum_runtime_next_event() has something to do. Borrowed;
 *  the host only polls it. */
PLENUM_API int plenum_runtime_fd(const struct plenum_runtime *runtime);

enum plenum_runtime_option {
    PLENUM_RUNTIME_SLOTS = 1 /**< slots for all jobs together; 0 (default): as many as they like. See
                                  plenum_job_launch() */
};
/** May be called at any time: jobs that fit now are started at once, those that run are left alone. */
PLENUM_API int plenum_runtime_set(struct plenum_runtime *runtime, enum plenum_runtime_option option, long value);

/* --- events ------------------------------------------------------------------------------------------------ */

enum plenum_event_kind {
    PLENUM_EVENT_STARTED = 1, /**< all processes run */
    PLENUM_EVENT_UNSTARTED,   /**< a process could not be started: `code` is the errno, `text` says why */
    PLENUM_EVENT_OUTPUT,      /**< `text`: whole lines of `length` bytes from `rank` on `stream` */
    PLENUM_EVENT_EXITED,      /**< process `rank` (`pid`) ended with exit code `code` */
    PLENUM_EVENT_LOST,        /**< process `rank` (`pid`) was killed by `signal` */
    PLENUM_EVENT_ABORTED,     /**< `rank` ended the job with error `code`, on `object`, because of `text` */
    PLENUM_EVENT_TIMEOUT,     /**< the time limit is reached; the job is being ended */
    PLENUM_EVENT_FINISHED,    /**< no process is left; `code` is the job's exit code. The job's last event */
    PLENUM_EVENT_QUEUED,      /**< the job waits until slots are free; `code` jobs are before it in the queue */
    PLENUM_EVENT_PSETS,  /**< published process sets have come, changed or gone; `text` has a line "NAME VERSION RANKS"
                                   for each of the `code` that there are now, as "app://mesh 7 0-3,8" */
    PLENUM_EVENT_REPORT, /**< `text`: lines that say what the processes of the job are in, or where `rank` crashed with
                                   `signal`; `report`: the same as JSON */
    PLENUM_EVENT_ERROR =
        12 /**< `rank` hands over an error with code `code` on `object`, `text` says what was wrong: the
                                  handler plenum://callback in a program without a callback (docs/errors.md) */
};

enum plenum_event_flag {
    PLENUM_EVENT_EXPECTED = 1,    /**< EXITED, LOST: while the job was being ended anyway */
    PLENUM_EVENT_UNFINALIZED = 2, /**< EXITED: between initialization and finalization of MPI */
    PLENUM_EVENT_PARTIAL = 4,     /**< OUTPUT: the last line has no newline (a very long line, or the end) */
    PLENUM_EVENT_CORE = 8,        /**< LOST: it dumped core */
    PLENUM_EVENT_CANCELLED = 16   /**< FINISHED: because of plenum_job_cancel() */
};

/** What happened. Made by the library and only read by the host; new fields are added at the end. */
struct plenum_event {
    enum plenum_event_kind kind;
    unsigned flags;         /**< enum plenum_event_flag */
    uint64_t job_id;        /**< plenum_job_id() */
    struct plenum_job *job; /**< borrowed; NULL when the host has closed it */
    void *user;             /**< plenum_job_set_user() */
    int rank;               /**< -1: the job as a whole */
    int pid;
    int code;
    int signal;
    int stream;         /**< 1: standard output, 2: standard error */
    const char *text;   /**< [length], NUL-terminated too; NULL: none */
    size_t length;      /**< bytes */
    const char *object; /**< ABORTED, ERROR: communicator, window, file or session by name; NULL: none */
    const char *report; /**< REPORT: one JSON object (docs/RUNTIME.md); NULL: none */
};

/** Moves the runtime on and takes the next event, without blocking.
 *  @param[out] event  owned by the caller (plenum_event_free()); NULL when there is none at present */
PLENUM_API int plenum_runtime_next_event(struct plenum_runtime *runtime, struct plenum_event **event);

/** NULL is ignored. */
PLENUM_API void plenum_event_free(struct plenum_event *event);

/** The event in words for a person, without a newline: "rank 3 (pid 4711) was killed by signal 11 (Segmentation
 *  fault)".
 *  @return the length that the whole text has, as snprintf does */
PLENUM_API int plenum_event_describe(const struct plenum_event *event, char *text, size_t size);

/** The event as one JSON object without a newline, to be freed with free(); NULL when memory is short. */
PLENUM_API char *plenum_event_json(const struct plenum_event *event);

/* --- describing a job -------------------------------------------------------------------------------------- */

enum { PLENUM_ALL = -1 }; /**< all programs of a job, or all its ranks */

/** A new job without programs.
 *  @param[out] job  to be closed with plenum_job_close() */
PLENUM_API int plenum_job_create(struct plenum_runtime *runtime, struct plenum_job **job);

/** A new job described by JSON (docs/RUNTIME.md lists the keys). Nothing is launched, and calls may add to it.
 *  A mistake gives PLENUM_ERR_ARGUMENT, and plenum_error() names the place in the text and what is allowed there.
 *  @param text  one JSON object, NUL-terminated, UTF-8 */
PLENUM_API int plenum_job_create_json(struct plenum_runtime *runtime, const char *text, struct plenum_job **job);

/** The job as it is described, as JSON that plenum_job_create_json() takes; descriptors given by plenum_job_redirect()
 *  cannot be said in it and are left out. To be freed with free(); NULL when memory is short. */
PLENUM_API char *plenum_job_json(const struct plenum_job *job);

/** Gives the handle back. A job that runs or waits goes on, and its events come with `job` NULL; one that was never
 *  launched is gone. NULL is ignored. */
PLENUM_API void plenum_job_close(struct plenum_job *job);

/** A number that no other job of this process has had. */
PLENUM_API uint64_t plenum_job_id(const struct plenum_job *job);

/** A pointer of the host's that comes back with every event of the job. */
PLENUM_API void plenum_job_set_user(struct plenum_job *job, void *user);

/** Adds a program. The programs get consecutive ranks in the order in which they were added.
 *  @param ranks  how many processes, at least 1
 *  @param argv   NULL-terminated; copied. argv[0] without a slash is looked up in the PATH that the process will have
 *  @param[out] program  its number, for the functions below; may be NULL */
PLENUM_API int plenum_job_add_program(struct plenum_job *job, int ranks, const char *const argv[], int *program);

/** Sets (value) or unsets (NULL) a variable for one program or for PLENUM_ALL (also for those added later). What is
 *  not set comes from the host's environment as it is at the launch. */
PLENUM_API int plenum_job_env(struct plenum_job *job, int program, const char *name, const char *value);

/** Starts from an empty environment instead of the host's. */
PLENUM_API int plenum_job_env_clear(struct plenum_job *job);

/** The working directory of a program or of PLENUM_ALL; relative to the host's. */
PLENUM_API int plenum_job_wdir(struct plenum_job *job, int program, const char *directory);

/** A colon-separated list of directories where a program (or PLENUM_ALL) is looked up before PATH. */
PLENUM_API int plenum_job_path(struct plenum_job *job, int program, const char *path);

/** A named process set.
 *  @param name    a URI such as "app://ocean"
 *  @param ranges  [count] pairs: first rank, last rank; copied */
PLENUM_API int plenum_job_pset(struct plenum_job *job, const char *name, const int (*ranges)[2], int count);

/** Connects a standard stream of a rank (or of PLENUM_ALL) to a descriptor instead of to /dev/null (stream 0) or to
 *  OUTPUT events (streams 1 and 2).
 *  @param fd  duplicated; -1: /dev/null */
PLENUM_API int plenum_job_redirect(struct plenum_job *job, int rank, int stream, int fd);

/** The same with a file, which is opened when the job starts: read (stream 0) or written anew (1 and 2).
 *  @param file  its name, relative to the host's working directory; "%r" stands for the rank, "%%" for a percent sign.
 *               Ranks that share a name share the file, and each write is appended */
PLENUM_API int plenum_job_redirect_file(struct plenum_job *job, int rank, int stream, const char *file);

/** Values of PLENUM_JOB_BIND: what a rank is bound to. */
enum plenum_bind {
    PLENUM_BIND_NONE,
    PLENUM_BIND_CORE,   /**< one core, with all its hardware threads */
    PLENUM_BIND_SOCKET, /**< the cores of one socket */
    PLENUM_BIND_NUMA,   /**< the cores of one NUMA node */
    PLENUM_BIND_THREAD  /**< one hardware thread */
};

/** Values of PLENUM_JOB_MAP: in which order the ranks take what they are bound to. */
enum plenum_map {
    PLENUM_MAP_SLOT,   /**< one after the other */
    PLENUM_MAP_SOCKET, /**< from each socket in turn */
    PLENUM_MAP_NUMA    /**< from each NUMA node in turn */
};

/** Values of PLENUM_JOB_PMIX: is there a PMIx server, for programs that are PMIx clients? Plenum's own are not. */
enum plenum_pmix {
    PLENUM_PMIX_OFF,
    PLENUM_PMIX_ON,
    PLENUM_PMIX_AUTO /**< if one can be had, and if not all programs are sure to be linked with this Plenum's library */
};

enum plenum_job_option {
    PLENUM_JOB_TIME_LIMIT = 1, /**< milliseconds from the start until the job is ended; 0 (default): none */
    PLENUM_JOB_GRACE,          /**< milliseconds between SIGTERM and SIGKILL when a job is ended; default 2000 */
    PLENUM_JOB_KEEP_GOING,     /**< 1: the others go on when a process fails; default 0: the job is ended */
    PLENUM_JOB_PMIX,           /**< enum plenum_pmix; default PLENUM_PMIX_OFF */
    PLENUM_JOB_SLOTS,          /**< cores that the job may use; default: those that the host may use */
    PLENUM_JOB_BIND,           /**< enum plenum_bind; default PLENUM_BIND_NONE */
    PLENUM_JOB_UNIVERSE,       /**< the MPI_UNIVERSE_SIZE of the job; default 0: not set */
    PLENUM_JOB_MAP             /**< enum plenum_map; default PLENUM_MAP_SLOT */
};
PLENUM_API int plenum_job_set(struct plenum_job *job, enum plenum_job_option option, long value);

/** The processors that a rank is bound to, or would be if the job were launched now, as a list such as "0-3,8"; "" when
 *  it is not bound. The jobs of a runtime take turns: the next job begins where the last one ended.
 *  @return the length that the whole text has, as snprintf does */
PLENUM_API int plenum_job_cpus(const struct plenum_job *job, int rank, char *text, size_t size);

/** Opens the PMIx server of the process ahead of the first job that needs it, which costs some 20 ms and two threads.
 *  It stays until the process ends. */
PLENUM_API int plenum_runtime_want_pmix(struct plenum_runtime *runtime);

/* --- running a job ----------------------------------------------------------------------------------------- */

/** Checks the description and starts the processes. An error means that nothing was started. What happens later
 *  comes as events, the last of which is FINISHED.
 *
 *  When the runtime has a number of slots, a job takes PLENUM_JOB_SLOTS of them, or one for each rank, from its start
 *  to its end. A job that finds too few waits in the queue, with the event QUEUED, and the jobs behind it wait too, so
 *  that the order is kept; it starts, with the environment and the programs that were there at the launch, when those
 *  before it have ended. A job that takes more than there are runs alone. */
PLENUM_API int plenum_job_launch(struct plenum_job *job);

/** Sends a signal to a rank and the processes that it started, or to PLENUM_ALL. */
PLENUM_API int plenum_job_signal(struct plenum_job *job, int rank, int signal);

/** Publishes a process set in a job that runs, or changes it: its processes find it with their next question
 *  (docs/psets.md). They may publish, change and withdraw sets, too; every change comes as an event PSETS.
 *  @param ranges  [count] pairs: first rank, last rank; a rank counts once, in the order given. count 0: an empty
 *                 set */
PLENUM_API int plenum_job_pset_publish(struct plenum_job *job, const char *name, const int (*ranges)[2], int count);

/** Withdraws a set that was published, by whomever. Those of plenum_job_pset() stay. */
PLENUM_API int plenum_job_pset_withdraw(struct plenum_job *job, const char *name);

/** Ends the job: SIGTERM, and SIGKILL after the grace time, at once when called a second time. Returns at once. One
 *  that waits in the queue has finished, with code 0, without having been started. The code of one that ran is that of
 *  the first process that did not exit with 0: as a rule 143 (SIGTERM) or 137 (SIGKILL). */
PLENUM_API int plenum_job_cancel(struct plenum_job *job);

/** Asks all processes what they are in: those that wait in MPI say for what, since when, and what is pending; of the
 *  others it is told what can be seen from outside. Returns at once; the answer comes as an event REPORT, within half a
 *  second. A job that reaches its time limit is asked before it is ended. Nothing in the processes is interrupted. */
PLENUM_API int plenum_job_report(struct plenum_job *job);

/** Waits until the job has finished. Events are kept for plenum_runtime_next_event(), output too: redirect it when
 *  nobody will read it.
 *  @param timeout  milliseconds, -1: as long as it takes; PLENUM_ERR_TIMEOUT when they are over
 *  @param[out] code  the exit code of the job; may be NULL */
PLENUM_API int plenum_job_wait(struct plenum_job *job, int timeout, int *code);

/** @return the number of ranks that were described */
PLENUM_API int plenum_job_size(const struct plenum_job *job);

#ifdef __cplusplus
}
#endif
#endif
