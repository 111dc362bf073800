/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plenum.h
 * The Plenum runtime: launches MPI jobs from inside any process, follows them, and ends them.
 *
 * An embedding program (a workflow engine, a service, mpiexec) opens a runtime, describes jobs by calls, launches them,
 * and reads what happens to them as events. One descriptor tells when there is something to read:
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
 * **The embedding program.** The runtime touches no signal handler, umask, working directory or standard stream of it,
 * leaves no child for its wait(), and changes its environment only while a PMIx server starts
 * (plenum_runtime_want_pmix()). The runtime has no thread of its own: it advances when the embedding program calls
 * plenum_runtime_next_event() or plenum_job_wait(). When the embedding program dies, even by SIGKILL, its jobs die
 * with it.
 *
 * **Threads.** Any thread may call any function at any time. A thread may close a job or a runtime while others are
 * inside functions on it. These end with PLENUM_ERR_CLOSED, those that wait at once, and the object is freed when the
 * last one has left. A call that begins after that is a mistake that is not always noticed. A program whose threads do
 * not know of each other calls plenum_runtime_stop(), which frees nothing, and closes the runtime when they are done.
 *
 * **fork().** A child that the embedding program forks cannot use the runtimes of its parent: functions on them return
 * PLENUM_ERR_CLOSED, and closing them, also at its exit, does nothing. It may open its own, without a PMIx server if
 * its parent has one.
 *
 * **Blocking.** A function that "does not block" waits for no process; it may wait for the mutex of its runtime.
 * Functions that hold this mutex for longer say what they wait for.
 *
 * **Errors.** Functions return PLENUM_OK or another enum plenum_error, and an error leaves one line of explanation in
 * plenum_error(). After an error nothing has changed and outputs keep their values, unless the function says otherwise.
 * A job or runtime that is NULL is PLENUM_ERR_ARGUMENT, and one that is closed is PLENUM_ERR_CLOSED. Functions that
 * return no error then do nothing, or return what they say for NULL.
 *
 * **Ownership.** The library copies every text and array that it is given. It takes over no pointer and no descriptor.
 */
#ifndef PLENUM_H
#define PLENUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header as MAJOR.MINOR.PATCH. @since 0.1 */
#define PLENUM_VERSION "0.1.0"

/** Marks a function that libplenum exports. @since 0.1 */
#if defined(__GNUC__)
#define PLENUM_API __attribute__((visibility("default")))
#else
#define PLENUM_API
#endif

/** A runtime: a launch daemon (the keeper, a small process that is the parent of all ranks), jobs and a queue of
 *  events. Opaque; from plenum_runtime_open() to plenum_runtime_close(). @since 0.1 */
struct plenum_runtime;

/** A job: its description, and after the launch its processes. Opaque; from plenum_job_create() or
 *  plenum_job_create_json() to plenum_job_close(). @since 0.1 */
struct plenum_job;

/** What functions return. New values are added at the end. @since 0.1 */
enum plenum_error {
    PLENUM_OK,                 /**< no error; the value is 0 */
    PLENUM_ERR_ARGUMENT,       /**< an argument is out of its range */
    PLENUM_ERR_STATE,          /**< wrong moment in the job's life: a launched job cannot be described further */
    PLENUM_ERR_NOT_FOUND,      /**< the program does not exist */
    PLENUM_ERR_NOT_EXECUTABLE, /**< the program exists but cannot be executed */
    PLENUM_ERR_WDIR,           /**< the working directory does not exist or may not be entered */
    PLENUM_ERR_LIMIT,          /**< a limit of the system: descriptors, processes, size of a file */
    PLENUM_ERR_MEMORY,         /**< out of memory */
    PLENUM_ERR_TIMEOUT,        /**< the time limit has passed; nothing has changed */
    PLENUM_ERR_SYSTEM,         /**< a system call failed in a way that has no name above */
    PLENUM_ERR_CLOSED          /**< the runtime or the job was closed, or belongs to the process that forked this one */
};

/** Returns the explanation of the calling thread's last error.
 *  A call that succeeds may change it too: read it at once after the error. Does not block. Any thread.
 *  @return one line of at most 1023 bytes, NUL-terminated, "" if there was no error; never NULL. Control characters,
 *          and bytes that are not UTF-8, appear as \\xNN.
 *          Borrowed until the thread's next call into the library
 *  @since 0.1 */
PLENUM_API const char *plenum_error(void);

/* --- the runtime ------------------------------------------------------------------------------------------- */

/** Opens a runtime and starts its keeper, the small process that will start, watch and end the ranks.
 *  Open it early: the keeper begins as a copy-on-write copy of the embedding program. A process may open several
 *  runtimes. Does not block. Any thread.
 *  @param[out] runtime  the runtime; the caller closes it with plenum_runtime_close()
 *  @retval PLENUM_OK            the runtime is open
 *  @retval PLENUM_ERR_ARGUMENT  `runtime` is NULL
 *  @retval PLENUM_ERR_LIMIT     too many descriptors or processes
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @retval PLENUM_ERR_SYSTEM    another system call failed
 *  @since 0.1 */
PLENUM_API int plenum_runtime_open(struct plenum_runtime **runtime);

/** Kills what still runs, with SIGKILL and without grace; every other function on the runtime and its jobs then returns
 *  PLENUM_ERR_CLOSED.
 *  That is true of functions in which other threads are or wait, too. plenum_runtime_fd() becomes readable and stays
 *  so. Only plenum_runtime_close() frees, and plenum_job_close() gives a handle back. Events that were not taken are
 *  lost. Blocks until the keeper has killed every process of every job. Any thread.
 *  @param[in] runtime  borrowed; NULL is ignored, and so is a second call
 *  @since 0.1 */
PLENUM_API void plenum_runtime_stop(struct plenum_runtime *runtime);

/** Kills what still runs, as plenum_runtime_stop() does, and frees the runtime.
 *  Frees all jobs of the runtime, also those with open handles, and all events that are still in its queue. Events
 *  that the caller has taken stay the caller's; their `job` is dead. Blocks until the keeper has killed every process
 *  of every job, and until other threads have left the functions that they are in. Any thread.
 *  @param[in] runtime  stolen; NULL is ignored
 *  @since 0.1 */
PLENUM_API void plenum_runtime_close(struct plenum_runtime *runtime);

/** Returns the descriptor to poll for reading.
 *  It is readable when plenum_runtime_next_event() has work to do, which need not produce an event. The caller only
 *  polls it. Does not block. Any thread.
 *  @param[in] runtime  borrowed; may be NULL
 *  @return the descriptor, borrowed until plenum_runtime_close(); -1 when `runtime` is NULL or the parent process's
 *  @since 0.1 */
PLENUM_API int plenum_runtime_fd(const struct plenum_runtime *runtime);

/** Options of plenum_runtime_set(). @since 0.1 */
enum plenum_runtime_option {
    /** Slots for all jobs together, 0 to 2147483647; 0 (default): no limit. See plenum_job_launch(). */
    PLENUM_RUNTIME_SLOTS = 1,
    /** Which of the waiting jobs starts next: enum plenum_policy; default PLENUM_POLICY_FIFO. */
    PLENUM_RUNTIME_POLICY,
    /** Milliseconds after which a silent host counts as lost, 0 to 2147483647; 0 (default): never. Four times in this
     *  period the runtime asks each agent for an answer. A host that gives none for the whole period is lost, and an
     *  agent that is asked for none kills all that it has started and ends. So the caller must take events, or wait for
     *  a job, more often than that; following plenum_runtime_fd() is enough. */
    PLENUM_RUNTIME_HEARTBEAT
};

/** Values of PLENUM_RUNTIME_POLICY. Jobs of a higher PLENUM_JOB_PRIORITY go first, and jobs of the same priority in the
 *  order of their launches. The policy says what happens when the first of them finds too little. @since 0.1 */
enum plenum_policy {
    PLENUM_POLICY_FIFO, /**< all wait for the first */
    /** A later job that fits starts if it does not delay the first one. Either it ends, by its time limit, before
     *  enough is free for the first one, or it takes only what is left beside it. When the time limits of the jobs that
     *  run do not tell by when the first one can start, at most 16 later jobs start before it. */
    PLENUM_POLICY_BACKFILL
};

/** Sets an option of a runtime, at any time.
 *  Starts the queued jobs that fit now, as plenum_job_launch() does, and may block as that does; jobs that run are left
 *  alone. A queued job that cannot be started reports it as an event. Any thread.
 *  @param[in] runtime  borrowed
 *  @param[in] option   which one
 *  @param[in] value    its value
 *  @retval PLENUM_OK            the option is set
 *  @retval PLENUM_ERR_ARGUMENT  no such option, or `value` is out of its range
 *  @since 0.1 */
PLENUM_API int plenum_runtime_set(struct plenum_runtime *runtime, enum plenum_runtime_option option, long value);

/** Says how many the runtime has of a resource: GPUs, licences, anything that can be counted.
 *  Jobs ask for resources with plenum_job_resource(), and wait until enough of them are free. What is taken has numbers
 *  from 0. For the name "gpu" these are positions in the lists CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and
 *  ZE_AFFINITY_MASK that the embedding program has in its environment at this call. Without them they are numbers of
 *  devices. Does not block. Any thread.
 *  @param[in] runtime  borrowed
 *  @param[in] name     1 to 31 lower-case letters, digits and underscores, a letter first; copied
 *  @param[in] count    how many there are, 0 to 65536
 *  @retval PLENUM_OK            jobs may ask for the resource
 *  @retval PLENUM_ERR_ARGUMENT  `name` cannot be a name, or `count` is out of its range
 *  @retval PLENUM_ERR_STATE     jobs that run or wait have asked for the resource
 *  @retval PLENUM_ERR_LIMIT     the runtime has 15 resources
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_runtime_resource(struct plenum_runtime *runtime, const char *name, int count);

/* --- hosts ------------------------------------------------------------------------------------------------- */

/** What a host of a runtime is doing. New values are added at the end. @since 0.1 */
enum plenum_host_state {
    PLENUM_HOST_STARTING, /**< its agent is being started; jobs may be placed there already */
    PLENUM_HOST_READY,    /**< the agent answers */
    PLENUM_HOST_LEAVING,  /**< removed; it ends with the last process that runs there */
    PLENUM_HOST_LOST      /**< the agent could not be started or has ended, and with it all processes there */
};

/** A host of a runtime, as plenum_runtime_host() describes it. New fields are added at the end. @since 0.1 */
struct plenum_host {
    char name[256];               /**< NUL-terminated */
    char reason[256];             /**< why it is lost, one line; "" otherwise; "..." ends what is cut */
    enum plenum_host_state state; /**< what it is doing */
    int slots;                    /**< ranks that are placed there before another host gets more than its slots */
    int ranks;                    /**< that run there, or are being started */
    int places[8];                /**< by enum plenum_bind: those that ranks can be bound to there, as
                                       plenum_place_count() counts them; 0 until the agent has told */
};

/** Adds a host to a runtime, and starts an agent there, which starts and ends the ranks of that host.
 *  A runtime with hosts starts all jobs on them, and none on the machine of the embedding program unless that is one
 *  of them. A job goes to the first host with a free slot for each of its ranks, else to the free slots of all hosts in
 *  the order in which they were added. Ranks beyond the slots are spread in that order too. Unless PLENUM_RUNTIME_SLOTS
 *  is set, the slots of the hosts are those of the runtime.
 *
 *  `command` starts a program on the host and passes on its standard streams. These are the only connection: the
 *  runtime opens no port. The words of the command are separated by blanks; %h is the name of the host. The program of
 *  the agent is added as the last word: lib/plenum/plenum-agent of this installation, which must be at the same place
 *  there. Examples: "docker exec -i %h", "kubectl exec -i %h --", "srun -N1 -n1 --overlap -w %h", and "" for this
 *  machine. NULL is
 *  "ssh -x -o BatchMode=yes -o ServerAliveInterval=15 %h".
 *
 *  Does not wait for the agent: an event HOST tells when it is ready or lost. Jobs that are placed there before start
 *  when it has answered, which plenum_runtime_next_event() and plenum_job_wait() notice. A lost host may be added
 *  again. Any thread.
 *  @param[in] runtime  borrowed
 *  @param[in] name     1 to 255 bytes without blanks; copied
 *  @param[in] slots    1 to 65536
 *  @param[in] command  copied; may be NULL
 *  @retval PLENUM_OK                  the agent is being started
 *  @retval PLENUM_ERR_ARGUMENT        an argument is not as described
 *  @retval PLENUM_ERR_STATE           the runtime has a host of this name that is not lost
 *  @retval PLENUM_ERR_NOT_FOUND       the program of the command does not exist
 *  @retval PLENUM_ERR_NOT_EXECUTABLE  it exists but cannot be executed
 *  @retval PLENUM_ERR_LIMIT           too many descriptors or processes
 *  @retval PLENUM_ERR_MEMORY          out of memory
 *  @retval PLENUM_ERR_SYSTEM          another system call failed
 *  @since 0.1 */
PLENUM_API int plenum_runtime_host_add(struct plenum_runtime *runtime, const char *name, int slots,
                                       const char *command);

/** Removes a host. It gets no further ranks, and its agent ends with the last one that runs there.
 *  Does not block. Any thread.
 *  @param[in] runtime  borrowed
 *  @param[in] name     of the host; borrowed
 *  @retval PLENUM_OK             the host is removed, or will be
 *  @retval PLENUM_ERR_ARGUMENT   `name` is NULL
 *  @retval PLENUM_ERR_NOT_FOUND  the runtime has no host of this name
 *  @since 0.1 */
PLENUM_API int plenum_runtime_host_remove(struct plenum_runtime *runtime, const char *name);

/** The count with which plenum_runtime_host_resource() makes the agent count. @since 0.1 */
enum { PLENUM_COUNT = -1 };

/** Says how many of something a host has: GPUs, or anything else with numbers from 0.
 *  Jobs ask for it with plenum_job_resource(): for each rank, of the host where it runs, or with PLENUM_WHOLE_JOB for
 *  all ranks on the same host together. A job is placed where there is enough, and waits until there is. Its ranks find
 *  their numbers in PLENUM_RESOURCE_NAME. For "gpu" these are positions in the lists CUDA_VISIBLE_DEVICES,
 *  ROCR_VISIBLE_DEVICES and ZE_AFFINITY_MASK of the agent. With PLENUM_COUNT the agent counts the entries of these
 *  lists, or else the device files of GPUs; jobs that ask for them wait until it has. A host that is added has none of
 *  anything. A queued job for which there is too little on all hosts together, even if no other runs, ends with
 *  UNSTARTED. Does not block. Any thread.
 *  @param[in] runtime  borrowed
 *  @param[in] host     the name of a host; borrowed
 *  @param[in] name     as for plenum_runtime_resource(); copied
 *  @param[in] count    how many it has, 0 to 65536; for "gpu" also PLENUM_COUNT
 *  @retval PLENUM_OK             jobs may ask for it
 *  @retval PLENUM_ERR_ARGUMENT   `name` cannot be a name, `count` is out of its range, or `host` is NULL
 *  @retval PLENUM_ERR_NOT_FOUND  the runtime has no host of this name, or it is leaving or lost
 *  @retval PLENUM_ERR_STATE      jobs have some of it on this host, or the runtime itself has a resource of this name
 *  @retval PLENUM_ERR_LIMIT      the runtime and its hosts have 15 resources
 *  @retval PLENUM_ERR_MEMORY     out of memory
 *  @since 0.1 */
PLENUM_API int plenum_runtime_host_resource(struct plenum_runtime *runtime, const char *host, const char *name,
                                            int count);

/** Is the agent of a host, from the call until the connection to the runtime ends: the program plenum-agent.
 *  Speaks on descriptors 0 and 1, ignores SIGPIPE, and kills what it has started before it returns. An embedding
 *  program that is to be an agent itself calls it in a process of its own, before it has other threads. Blocks.
 *  @return the exit code of the process
 *  @since 0.1 */
PLENUM_API int plenum_agent_main(void);

/** Describes a host of a runtime.
 *  Does not block. Any thread.
 *  @param[in] runtime  borrowed
 *  @param[in] number   0 is the host that was added first
 *  @param[out] host    filled in
 *  @param[in] size     sizeof *host: more recent libraries fill in as much as the caller knows
 *  @retval PLENUM_OK             `host` is filled in
 *  @retval PLENUM_ERR_ARGUMENT   `host` is NULL, or `size` is 0
 *  @retval PLENUM_ERR_NOT_FOUND  there are not so many hosts
 *  @since 0.1 */
PLENUM_API int plenum_runtime_host(struct plenum_runtime *runtime, int number, struct plenum_host *host, size_t size);

/* --- events ------------------------------------------------------------------------------------------------ */

/** Kinds of events. Each says which fields it sets beyond `kind`, `flags`, `job_id`, `job`, `user` and `rank`; the
 *  others are 0 or NULL. @since 0.1 */
enum plenum_event_kind {
    /** All processes of the job were started; `code` is their number. `rank` is -1. Before every EXITED and LOST of the
     *  job, unless the keeper died or the job was ended while its processes were being started. */
    PLENUM_EVENT_STARTED = 1,
    /** A process (`rank`), or the job (-1), could not be started: `code` is the errno, 0 if there is none, and `text`
     *  says why. Only the first failure is reported. */
    PLENUM_EVENT_UNSTARTED,
    /** `text` holds whole lines with their newlines, `length` bytes, from `rank` on `stream`. */
    PLENUM_EVENT_OUTPUT,
    /** Process `rank` (`pid`) ended with exit code `code`. */
    PLENUM_EVENT_EXITED,
    /** Process `rank` (`pid`) was killed by `signal`; `code` is 128 + `signal`. */
    PLENUM_EVENT_LOST,
    /** `rank` (-1: not known) ended the job with error `code`, on `object`, because of `text`. */
    PLENUM_EVENT_ABORTED,
    /** The time limit of `code` milliseconds is reached; the job is being ended. `rank` is -1. */
    PLENUM_EVENT_TIMEOUT,
    /** No process is left; `code` is the job's exit code. `rank` is -1. The job's last event. */
    PLENUM_EVENT_FINISHED,
    /** The job waits until slots and resources are free; `code` jobs are before it in the queue. `rank` is -1. */
    PLENUM_EVENT_QUEUED,
    /** Published process sets were added, changed or withdrawn. `text` has one line "NAME VERSION RANKS" for each of
     *  the `code` sets that exist now, such as "app://mesh 7 0-3,8". `rank` is -1. One event may cover several
     *  changes. */
    PLENUM_EVENT_PSETS,
    /** `text` has lines that say what the processes of the job and of those that it has spawned are doing (`rank` is
     *  -1), or where `rank` (`pid`) crashed with `signal`; `report` has the same as JSON. */
    PLENUM_EVENT_REPORT,
    /** `rank` hands over an error with code `code` on `object`; `text` says what was wrong. It comes from the handler
     *  plenum://callback in a program without a callback (docs/errors.md). */
    PLENUM_EVENT_ERROR = 12,
    /** A host of the runtime (plenum_runtime_host_add()), with the name `object`, is in the state `code`, an enum
     *  plenum_host_state, because of `text`. It comes when the host is ready, and when it is lost; then before the
     *  events LOST of the processes that were there. It is of no job: `job_id` is 0. `rank` is -1. */
    PLENUM_EVENT_HOST
};

/** Bits in plenum_event::flags. @since 0.1 */
enum plenum_event_flag {
    PLENUM_EVENT_EXPECTED = 1,    /**< EXITED, LOST: while the job, or this part of it, was being ended */
    PLENUM_EVENT_UNFINALIZED = 2, /**< EXITED: between initialization and finalization of MPI */
    PLENUM_EVENT_PARTIAL = 4,     /**< OUTPUT: the last line has no newline (a line above 1 MiB, or the end) */
    PLENUM_EVENT_CORE = 8,        /**< LOST: it dumped core */
    PLENUM_EVENT_CANCELLED = 16   /**< FINISHED: because of plenum_job_cancel() */
};

/** What happened. The library makes it, the embedding program only reads it; all pointers except `job` and `user`
 *  belong to the event, until plenum_event_free(). New fields are added at the end. @since 0.1 */
struct plenum_event {
    enum plenum_event_kind kind; /**< what happened */
    unsigned flags;              /**< bits of enum plenum_event_flag */
    uint64_t job_id;             /**< plenum_job_id() of the job */
    struct plenum_job *job;      /**< borrowed until plenum_job_close(); NULL: the handle was closed before */
    void *user;                  /**< of plenum_job_set_user(), as it was when the event was made */
    int rank;                    /**< -1: the job as a whole; spawned processes count on from plenum_job_size() */
    int pid;                     /**< process ID; 0: not known, or no process */
    int code;                    /**< exit code, error code, errno or number, as the kind says */
    int signal;                  /**< number of the signal; 0: none */
    int stream;                  /**< 1: standard output, 2: standard error; 0: none */
    const char *text;            /**< [length] bytes, followed by a NUL; NULL: none */
    size_t length;               /**< bytes of `text` without the NUL */
    const char *object;          /**< ABORTED, ERROR: communicator, window, file or session by name; HOST: the name of
                                      the host; NULL: none */
    const char *report;          /**< REPORT: one JSON object (docs/RUNTIME.md), NUL-terminated; NULL: none */
    int64_t time_us;             /**< when it happened, in microseconds since 1970 (CLOCK_REALTIME) */
    int64_t run_us;              /**< EXITED, LOST: microseconds that the process ran; FINISHED: that the job ran, 0 for
                                      one that was never started */
    int64_t user_us;   /**< EXITED, LOST: microseconds of processor time in the program, with the children that
                                      it has waited for; FINISHED: of all processes */
    int64_t system_us; /**< the same in the kernel */
    int64_t peak;      /**< EXITED, LOST: the most bytes of memory that the process, or a child that it has
                                      waited for, has had; FINISHED: of the process with the most */
};

/** Advances the runtime and takes the next event.
 *  Handles what is ready: ends of processes, their output, deadlines, queued jobs that can start now. Does not wait for
 *  an event. Blocks only in rare cases: for a second or two when the keeper has died, while it kills what is left of
 *  the jobs; and as plenum_job_launch() does when a queued or spawned job starts. Any thread; each event goes to one
 *  thread.
 *  @param[in] runtime  borrowed
 *  @param[out] event   owned by the caller, freed with plenum_event_free(); NULL when there is none at present, and
 *                      between two rounds of handling. So a loop that takes all events ends, however fast output
 *                      comes; the descriptor tells that there is more
 *  @retval PLENUM_OK            also when there is no event
 *  @retval PLENUM_ERR_ARGUMENT  `runtime` or `event` is NULL
 *  @since 0.1 */
PLENUM_API int plenum_runtime_next_event(struct plenum_runtime *runtime, struct plenum_event **event);

/** Frees an event, also after its runtime was closed. Does not block. Any thread.
 *  @param[in] event  stolen; NULL is ignored
 *  @since 0.1 */
PLENUM_API void plenum_event_free(struct plenum_event *event);

/** Writes an event in words for a person, without a newline: "rank 3 (pid 4711) was killed by signal 11 (Segmentation
 *  fault)".
 *  Does not block. Any thread.
 *  @param[in] event  borrowed; NULL: "no event"
 *  @param[out] text  [size], NUL-terminated if `size` is not 0, cut short if it is too small; may be NULL if it is 0
 *  @param[in] size   bytes, with the NUL
 *  @return the bytes that the whole text has without the NUL, as snprintf() does
 *  @since 0.1 */
PLENUM_API int plenum_event_describe(const struct plenum_event *event, char *text, size_t size);

/** Writes an event as one JSON object without a newline (docs/RUNTIME.md lists the keys).
 *  Does not block. Any thread.
 *  @param[in] event  borrowed
 *  @return NUL-terminated UTF-8, owned by the caller, freed with free(); NULL when memory is short or `event` is NULL
 *  @since 0.1 */
PLENUM_API char *plenum_event_json(const struct plenum_event *event);

/* --- describing a job -------------------------------------------------------------------------------------- */

/** Stands for a number of a program or a rank. @since 0.1 */
enum {
    PLENUM_ALL = -1 /**< all programs of a job, or all its ranks */
};

/** Makes a new job without programs.
 *  Does not block. Any thread.
 *  @param[in] runtime  borrowed until the job is freed
 *  @param[out] job     the job; the caller closes it with plenum_job_close()
 *  @retval PLENUM_OK            the job was created
 *  @retval PLENUM_ERR_ARGUMENT  `runtime` or `job` is NULL
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_create(struct plenum_runtime *runtime, struct plenum_job **job);

/** Makes a new job described by JSON (docs/RUNTIME.md lists the keys).
 *  Nothing is launched, and calls may add to the description. Does not block. Any thread.
 *  @param[in] runtime  borrowed until the job is freed
 *  @param[in] text     one JSON object, NUL-terminated, UTF-8; borrowed
 *  @param[out] job     the job; the caller closes it with plenum_job_close()
 *  @retval PLENUM_OK            the job was created
 *  @retval PLENUM_ERR_ARGUMENT  an argument is NULL, or a mistake in `text`: plenum_error() names the place in the text
 *                               and what is allowed there
 *  @retval PLENUM_ERR_LIMIT     too many descriptors, for a stream that is `null`
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @retval PLENUM_ERR_SYSTEM    `/dev/null` cannot be opened, for a stream that is `null`
 *  @since 0.1 */
PLENUM_API int plenum_job_create_json(struct plenum_runtime *runtime, const char *text, struct plenum_job **job);

/** Writes the description of a job as JSON for plenum_job_create_json(), before and after the launch.
 *  Left out are descriptors of plenum_job_redirect(), which mean something in this process only. Does not block. Any
 *  thread.
 *  @param[in] job  borrowed
 *  @return NUL-terminated UTF-8 of several lines, owned by the caller, freed with free(); NULL when memory is short,
 *          `job` is NULL, or a text is not UTF-8: plenum_error() says which
 *  @since 0.1 */
PLENUM_API char *plenum_job_json(const struct plenum_job *job);

/** Gives the handle back.
 *  A job that runs or waits in the queue goes on, and its events come with `job` NULL. A job that was never launched,
 *  or has finished, is freed. Other threads that wait for it return with PLENUM_ERR_CLOSED. Does not block. Any
 *  thread.
 *  @param[in] job  stolen; NULL is ignored
 *  @since 0.1 */
PLENUM_API void plenum_job_close(struct plenum_job *job);

/** Returns a number that no other job of this process has had.
 *  Does not block. Any thread.
 *  @param[in] job  borrowed; may be NULL
 *  @return 1 or more; 0 when `job` is NULL
 *  @since 0.1 */
PLENUM_API uint64_t plenum_job_id(const struct plenum_job *job);

/** Sets a pointer that comes back as plenum_event::user with every event of the job that is made from now on.
 *  At any time. Does not block. Any thread.
 *  @param[in] job   borrowed; NULL is ignored
 *  @param[in] user  any pointer, NULL at first; the library only hands it back
 *  @since 0.1 */
PLENUM_API void plenum_job_set_user(struct plenum_job *job, void *user);

/** Adds a program. The programs get consecutive ranks in the order in which they were added.
 *  Does not block. Any thread.
 *  @param[in] job       borrowed
 *  @param[in] ranks     processes, at least 1; a job has at most 65536
 *  @param[in] argv      [n] strings, followed by NULL; copied. argv[0] must not be empty. Without a slash it is
 *                       looked up at the launch, in plenum_job_path() and then in the PATH that the process will have;
 *                       with a slash it is relative to the working directory of the program
 *  @param[out] program  its number, from 0, for the functions below; may be NULL
 *  @retval PLENUM_OK            the program is added
 *  @retval PLENUM_ERR_ARGUMENT  `ranks` is out of its range, or there is no argv[0]
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_add_program(struct plenum_job *job, int ranks, const char *const argv[], int *program);

/** Sets or unsets an environment variable.
 *  What is not set comes from the environment of the embedding program as it is at the launch. The setting of one
 *  program overrides that of PLENUM_ALL. PLENUM_JOB, PLENUM_RANK, PLENUM_SIZE and the variables of a PMIx
 *  client (PMIX_* but PMIX_MCA_*, PMI_RANK, PMI_SIZE, PMI_FD) are the runtime's: what is set here is not passed on.
 *  A set-user-ID program passes none of PLENUM_*, PMIX_*, UCX_* and HWLOC_* from its user's environment to the
 *  processes, only what is set here. Does not block. Any thread.
 *  @param[in] job      borrowed
 *  @param[in] program  its number, or PLENUM_ALL: also for programs that are added later
 *  @param[in] name     not empty and without "="; copied
 *  @param[in] value    copied; NULL: unset
 *  @retval PLENUM_OK            the variable is set or unset
 *  @retval PLENUM_ERR_ARGUMENT  no such program, or `name` cannot be the name of a variable
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_env(struct plenum_job *job, int program, const char *name, const char *value);

/** Starts all programs from an empty environment instead of that of the embedding program.
 *  What plenum_job_env() sets, and what the runtime itself sets, is added. Does not block. Any thread.
 *  @param[in] job  borrowed
 *  @retval PLENUM_OK            the environment will be empty
 *  @retval PLENUM_ERR_ARGUMENT  `job` is NULL
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @since 0.1 */
PLENUM_API int plenum_job_env_clear(struct plenum_job *job);

/** Sets the working directory of a program; the default is that of the embedding program.
 *  The launch checks it. Does not block. Any thread.
 *  @param[in] job        borrowed
 *  @param[in] program    its number, or PLENUM_ALL: the programs that were added so far
 *  @param[in] directory  copied; relative to the working directory that the embedding program has at the launch
 *  @retval PLENUM_OK            the directory is set
 *  @retval PLENUM_ERR_ARGUMENT  no such program, or `directory` is NULL or empty
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory; with PLENUM_ALL some programs may have it
 *  @since 0.1 */
PLENUM_API int plenum_job_wdir(struct plenum_job *job, int program, const char *directory);

/** Sets the directories where a program is looked up before PATH.
 *  Does not block. Any thread.
 *  @param[in] job      borrowed
 *  @param[in] program  its number, or PLENUM_ALL: the programs that were added so far
 *  @param[in] path     a list with colons, copied; relative directories are relative to the working directory of the
 *                      program, and an empty one is that directory
 *  @retval PLENUM_OK            the directories are set
 *  @retval PLENUM_ERR_ARGUMENT  no such program, or `path` is NULL
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory; with PLENUM_ALL some programs may have it
 *  @since 0.1 */
PLENUM_API int plenum_job_path(struct plenum_job *job, int program, const char *path);

/** Describes a process set of the job, which stays as it is while the job runs.
 *  The launch checks that the ranks are in the job. Does not block. Any thread.
 *  @param[in] job     borrowed
 *  @param[in] name    a URI such as "app://ocean", of at most 1023 bytes; copied
 *  @param[in] ranges  [count] pairs: first rank, last rank; copied. A repeated rank is taken once, where it comes
 *                     first. NULL if `count` is 0
 *  @param[in] count   pairs; 0: an empty set
 *  @retval PLENUM_OK            the set is described
 *  @retval PLENUM_ERR_ARGUMENT  `name` is not a URI, is of a scheme that is Plenum's own (mpi, plenum, hwloc), or names
 *                               a set that is described already; a range is not one
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_pset(struct plenum_job *job, const char *name, const int (*ranges)[2], int count);

/** Connects a standard stream to a descriptor instead of to /dev/null (stream 0) or to OUTPUT events (1 and 2).
 *  The last of several redirections of a stream takes effect. The launch checks that the rank is in the job. Does not
 *  block. Any thread.
 *  @param[in] job     borrowed
 *  @param[in] rank    the rank, or PLENUM_ALL
 *  @param[in] stream  0: standard input, 1: standard output, 2: standard error
 *  @param[in] fd      duplicated, the caller keeps its own; negative: /dev/null
 *  @retval PLENUM_OK            the stream is redirected
 *  @retval PLENUM_ERR_ARGUMENT  no such stream, or `rank` is below -1
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_LIMIT     too many descriptors
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @retval PLENUM_ERR_SYSTEM    `fd` is not an open descriptor, or /dev/null cannot be opened
 *  @since 0.1 */
PLENUM_API int plenum_job_redirect(struct plenum_job *job, int rank, int stream, int fd);

/** Connects a standard stream to a file, which the start of the job opens: read (stream 0), or written anew (1 and 2).
 *  Ranks that share a name share the file, and each write is appended. The last of several redirections of a stream
 *  takes effect. A FIFO is opened without waiting for its other end: one for output needs a reader at the start of the
 *  job, and one for input is at its end until it has a writer. Does not block. Any thread.
 *  @param[in] job     borrowed
 *  @param[in] rank    the rank, or PLENUM_ALL
 *  @param[in] stream  0: standard input, 1: standard output, 2: standard error
 *  @param[in] file    its name, copied; "%r" stands for the rank, "%%" for a percent sign. Relative to the working
 *                     directory of the embedding program at this call. The resulting name must have less than 4084
 *                     bytes
 *  @retval PLENUM_OK            the stream is redirected
 *  @retval PLENUM_ERR_ARGUMENT  no such stream, `rank` is below -1, `file` is NULL or empty, or another "%" is in it
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory, or the working directory no longer has a name
 *  @since 0.1 */
PLENUM_API int plenum_job_redirect_file(struct plenum_job *job, int rank, int stream, const char *file);

/** Values of PLENUM_JOB_BIND: what a rank is bound to. @since 0.1 */
enum plenum_bind {
    PLENUM_BIND_NONE,   /**< nothing */
    PLENUM_BIND_CORE,   /**< one core, with all its hardware threads */
    PLENUM_BIND_SOCKET, /**< the cores of one socket */
    PLENUM_BIND_NUMA,   /**< the cores of one NUMA node */
    PLENUM_BIND_THREAD, /**< one hardware thread */
    PLENUM_BIND_L3CACHE /**< the cores that share one cache of the last level */
};

/** Binds one rank to cores of its own choice, whatever PLENUM_JOB_BIND says about all.
 *  The launch checks that the rank is in the job, and that the cores exist and may be used; on another host its agent
 *  does. Does not block. Any thread.
 *  @param[in] job    borrowed
 *  @param[in] rank   the rank; or PLENUM_ALL: all ranks without cores of their own, and `cores` may be several lists
 *                    with blanks between them, such as "0 1 4-5". The ranks of each host take these in turn
 *  @param[in] cores  a list such as "0-2,5": cores of the machine with all their hardware threads, numbered from 0,
 *                    those of the first socket first. "1:0-2" are cores of socket 1 and "1:*" all of these; "p0-2" are
 *                    processors by the kernel's numbers. A semicolon is between lists of these forms. Copied. NULL: as
 *                    PLENUM_JOB_BIND says
 *  @retval PLENUM_OK            the rank will be bound
 *  @retval PLENUM_ERR_ARGUMENT  `cores` is not such a list, or `rank` is neither PLENUM_ALL nor from 0 to 65535
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_place(struct plenum_job *job, int rank, const char *cores);

/** Says on which host of the runtime (plenum_runtime_host_add()) a rank runs, whatever slots that has. The others are
 *  placed as PLENUM_JOB_MAP says, on the slots that are left. The launch checks that the rank is in the job and that
 *  the runtime has the host. Does not block. Any thread.
 *  @param[in] job   borrowed
 *  @param[in] rank  the rank
 *  @param[in] host  its name. Copied. NULL: as PLENUM_JOB_MAP says
 *  @retval PLENUM_OK            the rank will run there
 *  @retval PLENUM_ERR_ARGUMENT  `host` is empty, or `rank` is not from 0 to 65535
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_host(struct plenum_job *job, int rank, const char *host);

/** Counts the places of this machine to which ranks can be bound: those with a processor that the calling thread may
 *  use. Does not block. Any thread.
 *  @param[in]  bind   what a place is; not PLENUM_BIND_NONE
 *  @param[out] count  the number of places, at least 1
 *  @retval PLENUM_OK            `count` is set
 *  @retval PLENUM_ERR_ARGUMENT  no such value of enum plenum_bind, or `count` is NULL
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @retval PLENUM_ERR_SYSTEM    a system call failed
 *  @since 0.1 */
PLENUM_API int plenum_place_count(enum plenum_bind bind, int *count);

/** Values of PLENUM_JOB_MAP: in which order the ranks take what they are bound to, and the hosts. @since 0.1 */
enum plenum_map {
    PLENUM_MAP_SLOT,   /**< one after the other */
    PLENUM_MAP_SOCKET, /**< from each socket in turn */
    PLENUM_MAP_NUMA,   /**< from each NUMA node in turn */
    PLENUM_MAP_NODE,   /**< a rank on each host in turn; on one host as PLENUM_MAP_SLOT */
    PLENUM_MAP_L3CACHE /**< from each cache of the last level in turn */
};

/** Values of PLENUM_JOB_RANK: which rank gets which of the places that PLENUM_JOB_MAP chooses. On one host this
 *  concerns what the ranks are bound to. @since 0.1 */
enum plenum_rank {
    PLENUM_RANK_MAPPED, /**< in the order of the mapping */
    PLENUM_RANK_SLOT,   /**< all of a host in the order of the mapping, then those of the next host */
    PLENUM_RANK_NODE,   /**< one of each host in turn */
    PLENUM_RANK_FILL,   /**< all of a host, and there all of a socket, or of what PLENUM_JOB_MAP takes in turn */
    PLENUM_RANK_SPAN    /**< one of each of these in turn; over several hosts as PLENUM_RANK_MAPPED */
};

/** Values of PLENUM_JOB_PMIX: whether there is a PMIx server, for programs that are PMIx clients. Programs that use
 *  Plenum's library are not. @since 0.1 */
enum plenum_pmix {
    PLENUM_PMIX_OFF, /**< no server */
    PLENUM_PMIX_ON,  /**< a server; the launch fails when there can be none */
    /** A server if one is available, unless all programs surely use this Plenum's library. Unless they do, this value
     *  and PLENUM_PMIX_ON also connect each process with a PMI-1 server, for programs of MPICH. */
    PLENUM_PMIX_AUTO
};

/** Options of plenum_job_set(). A value is from 0 to 2147483647 unless the option says otherwise. @since 0.1 */
enum plenum_job_option {
    PLENUM_JOB_TIME_LIMIT = 1, /**< milliseconds from the start until the job is ended; 0 (default): no limit */
    PLENUM_JOB_GRACE,          /**< milliseconds between SIGTERM and SIGKILL when a job is ended; default 2000 */
    PLENUM_JOB_KEEP_GOING,     /**< 1: the others go on when a process fails; 0 (default): the job is ended */
    PLENUM_JOB_PMIX,           /**< enum plenum_pmix; default PLENUM_PMIX_OFF */
    PLENUM_JOB_SLOTS,          /**< cores that the job may use; 0 (default): those that the embedding program may use */
    PLENUM_JOB_BIND,           /**< enum plenum_bind; default PLENUM_BIND_NONE */
    PLENUM_JOB_UNIVERSE,       /**< the MPI_UNIVERSE_SIZE of the job; 0 (default): not set */
    PLENUM_JOB_MAP,            /**< enum plenum_map; default PLENUM_MAP_SLOT */
    /** 1: standard output that arrives as events comes from a pseudo-terminal, which changes nothing in it. Programs
     *  take it for a terminal and write each line when it is complete. Where there is none it is a pipe. 0 (default): a
     *  pipe, to which most programs write blocks: better for gigabytes of lines. */
    PLENUM_JOB_TERMINAL,
    /** 1 (default): before a job that has used MPI and reached its time limit is ended, its processes are asked what
     *  they are doing, as plenum_job_report() does. That takes up to half a second, or up to 10 s if hosts do not
     *  answer. 0: it is ended at once. */
    PLENUM_JOB_REPORT,
    /** The number of cores, or of what PLENUM_JOB_BIND names, that each rank is bound to; 0 (default): one. They are of
     *  one socket if a socket has enough. */
    PLENUM_JOB_BIND_COUNT,
    /** From -2147483647 to 2147483647; default 0. A job in the queue goes before those of a lower priority. It may also
     *  be set while the job waits there: the job is then the last of its new priority, and may start at once, as
     *  plenum_job_launch() does. */
    PLENUM_JOB_PRIORITY,
    PLENUM_JOB_RANK, /**< enum plenum_rank; default PLENUM_RANK_MAPPED */
    /** 1: each process stops before the first instruction of its program, until plenum_job_signal() sends it SIGCONT.
     *  STARTED comes when all are stopped, so that a debugger can attach to each. Not for spawned processes. 0
     *  (default): they run. */
    PLENUM_JOB_STOPPED
};

/** Values of `scope` in plenum_job_resource(). @since 0.1 */
enum plenum_scope {
    PLENUM_EACH_RANK, /**< `count` for each rank, which no other rank has */
    PLENUM_WHOLE_JOB  /**< `count` that all ranks of the job share */
};

/** Asks for some of a resource of the runtime (plenum_runtime_resource()), from the start of the job to its end.
 *  Each rank finds its numbers, and those that it shares, in PLENUM_RESOURCE_NAME, as "0,2"; NAME is in upper case. For
 *  "gpu" its devices are also in CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and ZE_AFFINITY_MASK, except in a variable
 *  that plenum_job_env() sets or unsets. A later call for the same name and scope overrides an earlier one. Does not
 *  block. Any thread.
 *  @param[in] job    borrowed
 *  @param[in] name   of the resource, as for plenum_runtime_resource(); copied
 *  @param[in] count  how many, 0 to 65536
 *  @param[in] scope  for each rank, or for the job
 *  @retval PLENUM_OK            the launch will ask for them
 *  @retval PLENUM_ERR_ARGUMENT  `name` cannot be a name, or another argument is out of its range
 *  @retval PLENUM_ERR_STATE     the job was launched
 *  @retval PLENUM_ERR_LIMIT     the job asks for 16 other resources
 *  @since 0.1 */
PLENUM_API int plenum_job_resource(struct plenum_job *job, const char *name, int count, enum plenum_scope scope);

/** Writes the numbers of a resource that a rank has, with those that it shares, or would get if the job were launched
 *  now, as a list such as "0,2".
 *  Does not block. Any thread.
 *  @param[in] job    borrowed
 *  @param[in] rank   the rank
 *  @param[in] name   of the resource
 *  @param[out] text  [size], NUL-terminated if `size` is not 0, cut short if it is too small. "" when the rank has none
 *                    (also because the job waits or has finished), and when memory is short. May be NULL if `size` is
 *                    0
 *  @param[in] size   bytes, with the NUL
 *  @return the bytes that the whole text has without the NUL, as snprintf() does
 *  @since 0.1 */
PLENUM_API int plenum_job_numbers(const struct plenum_job *job, int rank, const char *name, char *text, size_t size);

/** Sets an option of a job.
 *  Does not block. Any thread.
 *  @param[in] job     borrowed
 *  @param[in] option  which one
 *  @param[in] value   its value
 *  @retval PLENUM_OK            the option is set
 *  @retval PLENUM_ERR_ARGUMENT  no such option, or `value` is out of its range
 *  @retval PLENUM_ERR_STATE     the job was launched; with PLENUM_JOB_PRIORITY: and does not wait in the queue
 *  @since 0.1 */
PLENUM_API int plenum_job_set(struct plenum_job *job, enum plenum_job_option option, long value);

/** Writes the processors that a rank is bound to, or would be if the job were launched now, as a list such as "0-3,8".
 *  A job that starts takes the processors that the running jobs of the runtime use least. Among equals jobs take turns:
 *  the next job begins where the last one ended. Of a job on hosts the processors are known from STARTED on. Reads
 *  sysfs; does not block. Any thread.
 *  @param[in] job    borrowed
 *  @param[in] rank   the rank
 *  @param[out] text  [size], NUL-terminated if `size` is not 0, cut short if it is too small. "" when the rank is not
 *                    bound or not in the job, `job` is NULL, and when memory is short. May be NULL if `size` is 0.
 *  @param[in] size   bytes, with the NUL
 *  @return the bytes that the whole text has without the NUL, as snprintf() does
 *  @since 0.1 */
PLENUM_API int plenum_job_cpus(const struct plenum_job *job, int rank, char *text, size_t size);

/** Opens the PMIx server of the process ahead of the first job that needs it.
 *  There is one for all runtimes, and it stays until the process ends. It costs some 20 ms, in which the call blocks,
 *  and two threads. While it starts, `environ` is a list without the variables PMIX_*, which other threads see. Any
 *  thread; must not be called together with setenv() or its like.
 *  @param[in] runtime  not used; may be NULL
 *  @retval PLENUM_OK          the server is open, or was already
 *  @retval PLENUM_ERR_LIMIT   too many descriptors, or all free descriptors have too large numbers
 *  @retval PLENUM_ERR_MEMORY  out of memory
 *  @retval PLENUM_ERR_SYSTEM  no network interface is up, or the PMIx library refuses
 *  @since 0.1 */
PLENUM_API int plenum_runtime_want_pmix(struct plenum_runtime *runtime);

/* --- running a job ----------------------------------------------------------------------------------------- */

/** Checks the description and starts the processes.
 *  After an error nothing runs, and the description may be mended and launched again. What happens later comes as
 *  events, the last of which is FINISHED.
 *
 *  When the runtime has a number of slots, a job takes PLENUM_JOB_SLOTS of them, or one for each rank, from its start
 *  to its end. It also takes what plenum_job_resource() asks for. A job that finds too little waits in the queue, with
 *  the event QUEUED. PLENUM_JOB_PRIORITY and PLENUM_RUNTIME_POLICY decide which job starts next; by default jobs start
 *  in the order of their launches. A queued job starts with the environment and the programs of the launch. A job that
 *  takes more slots than the runtime has runs alone. A queued job whose start fails reports UNSTARTED and FINISHED.
 *
 *  Does not wait for the processes. May block while a PMIx server starts (plenum_runtime_want_pmix()), while the keeper
 *  takes a large job, and while a file of plenum_job_redirect_file() is opened, but not for the other end of a FIFO.
 *  Any thread.
 *  @param[in] job  borrowed
 *  @retval PLENUM_OK                  the processes are being started, or the job is in the queue
 *  @retval PLENUM_ERR_ARGUMENT        there is no program; a redirection or a process set has ranks outside of the job;
 *                                     the job asks for more of a resource than the runtime has. On hosts: it asks
 *                                     for a PMIx server (PLENUM_PMIX_ON)
 *  @retval PLENUM_ERR_STATE           the job was launched already, or all hosts of the runtime are lost or leaving
 *  @retval PLENUM_ERR_NOT_FOUND       a program does not exist; on hosts an event reports it; so for the next two
 *  @retval PLENUM_ERR_NOT_EXECUTABLE  a program exists but cannot be executed, or is a directory
 *  @retval PLENUM_ERR_WDIR            a working directory does not exist or may not be entered
 *  @retval PLENUM_ERR_LIMIT           too many descriptors or processes, or a limit on the size of files (ulimit -f)
 *  @retval PLENUM_ERR_MEMORY          out of memory
 *  @retval PLENUM_ERR_SYSTEM          a file cannot be opened, the PMIx server is not available
 *                                     (PLENUM_PMIX_ON), or another system call failed
 *  @since 0.1 */
PLENUM_API int plenum_job_launch(struct plenum_job *job);

/** Sends a signal to the process group of a rank, or of all ranks and all processes that the job has spawned.
 *  Ranks that have ended are skipped. Does not block. Any thread.
 *  @param[in] job     borrowed
 *  @param[in] rank    the rank, below plenum_job_size(), or PLENUM_ALL
 *  @param[in] signal  its number
 *  @retval PLENUM_OK            the signal is on its way
 *  @retval PLENUM_ERR_ARGUMENT  no such signal, or `rank` is not in the job
 *  @retval PLENUM_ERR_STATE     the job does not run: not launched, in the queue, or finished
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @retval PLENUM_ERR_SYSTEM    the keeper cannot be reached
 *  @since 0.1 */
PLENUM_API int plenum_job_signal(struct plenum_job *job, int rank, int signal);

/** Publishes a process set in a job that runs, or changes one that is published.
 *  The processes of the job see it in their next query (docs/psets.md). They may publish, change and withdraw sets,
 *  too. Every change comes as an event PSETS. Waits for no process; while several publish at the same time it tries
 *  again, for about a second at most. Any thread.
 *  @param[in] job     borrowed
 *  @param[in] name    a URI such as "app://mesh", of at most 1023 bytes; copied
 *  @param[in] ranges  [count] pairs: first rank, last rank; copied. A repeated rank is taken once, where it comes
 *                     first. NULL if `count` is 0
 *  @param[in] count   pairs; 0: an empty set
 *  @retval PLENUM_OK            the set is published
 *  @retval PLENUM_ERR_ARGUMENT  `name` is not a URI, is of a scheme that is Plenum's own (mpi, plenum, hwloc), or names
 *                               a set of plenum_job_pset(); a range is not one of the job. Also when the
 *                               published sets of the job exceed their space (64 KiB, and 8 bytes for each rank), when
 *                               too many processes publish at the same time, and when memory for the new table is
 *                               short
 *  @retval PLENUM_ERR_STATE     the job does not run
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_pset_publish(struct plenum_job *job, const char *name, const int (*ranges)[2], int count);

/** Withdraws a set that was published, by a process of the job or by plenum_job_pset_publish().
 *  Sets of plenum_job_pset() stay. The change comes as an event PSETS. Blocks as plenum_job_pset_publish() does. Any
 *  thread.
 *  @param[in] job   borrowed
 *  @param[in] name  of the set; borrowed
 *  @retval PLENUM_OK            the set is withdrawn
 *  @retval PLENUM_ERR_ARGUMENT  the set is not published, or as for plenum_job_pset_publish()
 *  @retval PLENUM_ERR_STATE     the job does not run
 *  @retval PLENUM_ERR_MEMORY    out of memory
 *  @since 0.1 */
PLENUM_API int plenum_job_pset_withdraw(struct plenum_job *job, const char *name);

/** Ends the job: SIGTERM to all processes, and SIGKILL after the grace time.
 *  SIGKILL at once when the job is being ended already, by an earlier call or for another reason, and when
 *  PLENUM_JOB_GRACE is 0. Returns at once; the event FINISHED reports the end. The code of the job is that of the
 *  first process that did not exit with 0: as a rule 143 (SIGTERM), or 137 (SIGKILL) without grace. A job that waits in
 *  the queue has finished, with this code, without having been started. Does nothing when the job has finished. Does
 *  not block, except as plenum_job_launch() does when the end of a queued job lets others start. Any thread.
 *  @param[in] job  borrowed
 *  @retval PLENUM_OK            the job is being ended, or has finished
 *  @retval PLENUM_ERR_ARGUMENT  `job` is NULL
 *  @retval PLENUM_ERR_STATE     the job was not launched
 *  @since 0.1 */
PLENUM_API int plenum_job_cancel(struct plenum_job *job);

/** Asks all processes what they are doing.
 *  Processes that wait in MPI say for what, since when, and what is pending; for the others the report has what can be
 *  seen from outside. The jobs that it has spawned are asked, too. The answer comes as an event REPORT, within half a
 *  second if the runtime is advanced; calls until then share it. Hosts of the runtime that have not answered after 10 s
 *  are named in it. A job that has used MPI and reaches its time limit is asked before it is ended (PLENUM_JOB_REPORT).
 *  Nothing in the processes is interrupted. Does not block. Any thread.
 *  @param[in] job  borrowed
 *  @retval PLENUM_OK            the processes are asked
 *  @retval PLENUM_ERR_ARGUMENT  `job` is NULL
 *  @retval PLENUM_ERR_STATE     the job does not run
 *  @since 0.1 */
PLENUM_API int plenum_job_report(struct plenum_job *job);

/** Holds back the output of a job: back-pressure for one job, while the events of others go on.
 *  No OUTPUT event is made for what the processes write from now on, until they end. Their pipes fill up, and then they
 *  wait. What is in the pipes comes as events when output is no longer held, or when the process has ended. At any time
 *  before the job has finished, also before the launch. Does not block. Any thread.
 *  @param[in] job   borrowed
 *  @param[in] hold  1: hold, 0: go on (the default)
 *  @retval PLENUM_OK            output is held, or goes on
 *  @retval PLENUM_ERR_ARGUMENT  `job` is NULL
 *  @retval PLENUM_ERR_MEMORY    out of memory; the output of some processes may still be held
 *  @retval PLENUM_ERR_SYSTEM    the same for another reason
 *  @since 0.1 */
PLENUM_API int plenum_job_hold_output(struct plenum_job *job, int hold);

/** Waits until the job has finished, and advances the runtime meanwhile.
 *  Events of all jobs are kept for plenum_runtime_next_event(), output too: redirect it if nothing will read it.
 *  Blocks for as long as `timeout` says. Any thread, several at once; other threads may use the runtime meanwhile.
 *  @param[in] job      borrowed
 *  @param[in] timeout  milliseconds; 0: only checks; negative: no limit
 *  @param[out] code    the exit code of the job; may be NULL
 *  @retval PLENUM_OK            the job has finished
 *  @retval PLENUM_ERR_ARGUMENT  `job` is NULL
 *  @retval PLENUM_ERR_STATE     the job was not launched
 *  @retval PLENUM_ERR_TIMEOUT   the time limit has passed; the job goes on
 *  @retval PLENUM_ERR_CLOSED    another thread has closed the job, or closed or stopped the runtime
 *  @since 0.1 */
PLENUM_API int plenum_job_wait(struct plenum_job *job, int timeout, int *code);

/** States of a process. @since 0.1 */
enum plenum_process_state {
    PLENUM_PROCESS_NONE,    /**< it was not started, or could not be */
    PLENUM_PROCESS_STOPPED, /**< PLENUM_JOB_STOPPED has stopped it, and plenum_job_signal() has not continued it */
    PLENUM_PROCESS_RUNNING, /**< it was started */
    PLENUM_PROCESS_ENDED    /**< its pid may be another process's by now */
};

/** A process of a job, as plenum_job_process() describes it. New fields are added at the end. @since 0.1 */
struct plenum_process {
    enum plenum_process_state state; /**< as far as the runtime has been told */
    int pid;                         /**< on its host; 0: NONE. Of a job on hosts it is known from STARTED on */
    const char *program;             /**< the first argument as it was described, borrowed until plenum_job_close() */
    char host[256]; /**< the name of the host that runs it; "" for the machine of the embedding program,
                              and for a host that the job has left */
};

/** Describes a process of a job, for debuggers and monitors.
 *  Does not block. Any thread.
 *  @param[in] job       borrowed
 *  @param[in] rank      the rank, below plenum_job_size()
 *  @param[out] process  filled in
 *  @param[in] size      sizeof *process: more recent libraries fill in as much as the caller knows
 *  @retval PLENUM_OK            `process` is filled in
 *  @retval PLENUM_ERR_ARGUMENT  `rank` is not in the job, `process` is NULL, or `size` is 0
 *  @since 0.1 */
PLENUM_API int plenum_job_process(const struct plenum_job *job, int rank, struct plenum_process *process, size_t size);

/** Returns the number of ranks that were described, without processes that the job has spawned.
 *  Does not block. Any thread.
 *  @param[in] job  borrowed
 *  @return ranks; 0 for a job without programs, or NULL
 *  @since 0.1 */
PLENUM_API int plenum_job_size(const struct plenum_job *job);

#ifdef __cplusplus
}
#endif
#endif
