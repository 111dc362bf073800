/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec, its configuration file and host file, and the command lines of other launchers that are
 * made of it. A word "@" is a file with what follows the first NUL of the input. */
#include "api/mpiexec/allocation.c"
#include "api/mpiexec/apply.c"
#include "api/mpiexec/apply_output.c"
#include "api/mpiexec/apply_place.c"
#include "api/mpiexec/configfile.c"
#include "api/mpiexec/handover.c"
#include "api/mpiexec/handover_prte.c"
#include "api/mpiexec/handover_words.c"
#include "api/mpiexec/machine.c"
#include "api/mpiexec/options.c"
#include "api/mpiexec/others.c"
#include "api/mpiexec/parse.c"
#include "api/mpiexec/rankfile.c"
#include "api/mpiexec/suggest.c"
#include "api/mpiexec/word.c"

#include "fuzz.h"

enum { WORDS = 64 };

FUZZ(NULL, "-n 3 -wdir /tmp -env A b prog x : -n 2 other", "--pset app://a 0-3,7 --timeout 10 --tag p",
     "-configfile @ x", "--hostfile @ -n 2 p", "--host a:2,b --launcher slurm -n 4 p", "-genvlist A,B -soft 1:3 p",
     "--bind core --map socket --grace 2 --pmix off --stdin 1 p", "--output o.%r --json-events - --dry-run=json p",
     "--launcher prte --host localhost -N 2 p", "-n=2 --errhandler mpi_abort --export A=1 --keep-going p")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    char *text = fuzz_rest(&from), *rest = NULL, error[512] = "";
    char *argv[WORDS + 1] = { (char *)"mpiexec" };
    size_t length = strlen(text), file = length + 1 < size ? length + 1 : size;
    const char *path = fuzz_file(text + file, size - file);
    int argc = 1;
    for (char *word = strtok_r(text, " \n", &rest); word && argc < WORDS; word = strtok_r(NULL, " \n", &rest))
        argv[argc++] = strcmp(word, "@") == 0 ? (char *)path : word;
    struct options options = { 0 };
    if (options_parse(&options, argc, argv, error, sizeof error)) {
        FUZZ_CHECK(options.help || options.version || options.job || options.sections > 0);
        for (int i = 0; i < options.sections && !options.help && !options.version && !options.job; i++)
            FUZZ_CHECK(options.section[i].argc > 0 && options.section[i].ranks > 0 &&
                       !options.section[i].argv[options.section[i].argc]);
        for (int launcher = 0; launcher < 2 && options.sections > 0; launcher++) {
            struct handover h = { .options = &options };
            const char *without = launcher ? handover_words_prte(&h) : handover_words_slurm(&h);
            for (int i = 0; !without && i < h.count; i++)
                FUZZ_CHECK(h.word[i]);
            handover_free(&h);
        }
    } else {
        FUZZ_CHECK(*error);
    }
    options_free(&options);
    free(text);
    return 0;
}
