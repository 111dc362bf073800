/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host whose jobs find each other: launches every job that an argument describes in JSON, at once, in one runtime.
 * Their output goes to its own; the exit code is the first one of a job's that is not 0. "--apart" before a
 * description: in a runtime of its own.
 */
#include "embedder.h"

static struct plenum_runtime *runtime[2];

/* True when it was the end of a job. */
static bool take(struct plenum_event *event, int *code)
{
    bool finished = event->kind == PLENUM_EVENT_FINISHED;
    if (event->kind == PLENUM_EVENT_OUTPUT)
        fwrite(event->text, 1, event->length, event->stream == 2 ? stderr : stdout);
    if (finished && event->code && !*code)
        *code = event->code;
    plenum_event_free(event);
    return finished;
}

int main(int argc, char **argv)
{
    int running = 0, code = 0;
    for (int r = 0; r < 2; r++)
        EXPECT(plenum_runtime_open(&runtime[r]) == PLENUM_OK);
    for (int i = 1; i < argc; i++) {
        struct plenum_job *job;
        bool apart = strcmp(argv[i], "--apart") == 0;
        i += apart;
        EXPECT(plenum_job_create_json(runtime[apart], argv[i], &job) == PLENUM_OK);
        EXPECT(plenum_job_launch(job) == PLENUM_OK);
        plenum_job_close(job);
        running++;
    }
    while (running > 0) {
        struct pollfd polled[2];
        struct plenum_event *event;
        for (int r = 0; r < 2; r++)
            polled[r] = (struct pollfd){ .fd = plenum_runtime_fd(runtime[r]), .events = POLLIN };
        EXPECT(poll(polled, 2, 60000) > 0, "nothing happens: %d jobs are left", running);
        for (int r = 0; r < 2; r++)
            while (plenum_runtime_next_event(runtime[r], &event) == PLENUM_OK && event)
                running -= take(event, &code);
    }
    for (int r = 0; r < 2; r++)
        plenum_runtime_close(runtime[r]);
    return code;
}
