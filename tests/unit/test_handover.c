/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that mpiexec hands over: the launcher, and the command line, with launchers that are empty files. */
#include "api/mpiexec/allocation.c"
#include "api/mpiexec/apply.c"
#include "api/mpiexec/apply_output.c"
#include "api/mpiexec/apply_place.c"
#include "api/mpiexec/configfile.c"
#include "api/mpiexec/machine.c"
#include "api/mpiexec/options.c"
#include "api/mpiexec/others.c"
#include "api/mpiexec/parse.c"
#include "api/mpiexec/rankfile.c"
#include "api/mpiexec/suggest.c"
/* both have a function of this name */
#define fail handover_fail
#include "api/mpiexec/handover.c"
#undef fail
#include "api/mpiexec/handover_prte.c"
#include "api/mpiexec/handover_words.c"
#include "api/mpiexec/word.c"

#include <fcntl.h>

#include "unit.h"

enum { WORDS = 64 };

static const char *directory;
static struct options parsed;
static struct handover made;

static void have(const char *program, const char *text)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", directory, program);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static bool hand_over(const char *line)
{
    static char text[1024];
    char error[512], *argv[WORDS + 1] = { (char *)"mpiexec" };
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && argc < WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;
    options_free(&parsed);
    handover_free(&made);
    memset(&parsed, 0, sizeof parsed);
    ck_assert_msg(options_parse(&parsed, argc, argv, error, sizeof error), "%s: %s", line, error);
    return handover_make(&made, &parsed);
}

static void gives(const char *line, const char *wanted)
{
    char *got = NULL;
    size_t size;
    ck_assert_msg(hand_over(line), "%s: %s", line, made.error);
    FILE *out = open_memstream(&got, &size);
    handover_print_words(&made, out);
    fclose(out);
    got[strcspn(got, "\n")] = '\0';
    ck_assert_msg(strcmp(got, wanted) == 0, "%s:\n%s\n%s", line, got, wanted);
    free(got);
}

static void refused(const char *line, const char *why)
{
    ck_assert_msg(!hand_over(line), "was handed over: %s", line);
    ck_assert_msg(strstr(made.error, why) && !strchr(made.error, '\n'), "%s: said \"%s\", not \"%s\"", line, made.error,
                  why);
}

static void start(void)
{
    static const char *const unset[] = { "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "PLENUM_JOB",
                                         "LD_LIBRARY_PATH" };
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        unsetenv(unset[i]);
    for (char **at = environ; *at;)
        if (strncmp(*at, "PLENUM_", 7) == 0) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
            unsetenv(name);
        } else
            at++;
    directory = unit_directory();
    setenv("PATH", directory, 1);
}

static void end(void)
{
    options_free(&parsed);
    handover_free(&made);
    memset(&parsed, 0, sizeof parsed);
    memset(&made, 0, sizeof made);
}

static void expect_launcher(const char *line, enum launcher launcher)
{
    ck_assert_msg(hand_over(line), "%s: %s", line, made.error);
    ck_assert_msg(made.launcher == launcher, "%s: %d, not %d", line, made.launcher, launcher);
}

START_TEST(who)
{
    start();
    expect_launcher("p", LAUNCHER_EMBEDDED);
    refused("-host elsewhere.example p", "elsewhere.example: only this machine");
    refused("-host localhost,elsewhere.example:3 p", "elsewhere.example: only");
    refused("--launcher slurm p", "no srun");
    refused("--launcher prte p", "no prterun");
    refused("--launcher openmpi p", "no mpirun of Open MPI");
    have("mpirun", "#!/bin/sh\necho HYDRA\n");
    refused("-host elsewhere.example p", "only this machine");
    have("mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 5.0.5'\n");
    expect_launcher("-host elsewhere.example p", LAUNCHER_OPENMPI);
    have("prterun", "");
    expect_launcher("-host localhost,elsewhere.example:3 p", LAUNCHER_PRTE);
    expect_launcher("-host localhost:4,127.0.0.1 p", LAUNCHER_EMBEDDED);
    have("srun", "");
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NUM_NODES", "1", 1);
    setenv("SLURM_JOB_NODELIST", "localhost", 1);
    expect_launcher("p", LAUNCHER_EMBEDDED); /* the allocation is this machine */
    setenv("SLURM_JOB_NODELIST", "elsewhere", 1);
    expect_launcher("p", LAUNCHER_SLURM);
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_JOB_NUM_NODES", "2", 1);
    expect_launcher("p", LAUNCHER_SLURM);
    expect_launcher("--launcher embedded p", LAUNCHER_EMBEDDED);
    refused("--launcher embedded -host elsewhere.example p", "with --launcher embedded");
    setenv("PLENUM_JOB", "x", 1);
    expect_launcher("p", LAUNCHER_EMBEDDED);
    refused("-N 3 -n 4 p", "need 2 machines; there is one");
    refused("-n 9 -N 4 p : q", "need 3 machines");
    end();
}
END_TEST

START_TEST(words_slurm)
{
    start();
    have("srun", "");
#define SRUN "srun --mpi=pmix --overcommit "
    gives("--launcher slurm p a", SRUN "--ntasks=1 --kill-on-bad-exit=1 --input=0 p a");
    gives("--launcher slurm -N 2 p", SRUN "--kill-on-bad-exit=1 --input=0 --ntasks-per-node=2 p");
    gives("--launcher slurm -n 4 -N 2 --stdin none --keep-going p",
          SRUN "--ntasks=4 --kill-on-bad-exit=0 --input=none --ntasks-per-node=2 p");
    gives("--launcher slurm -x A=b -env C d -n 2 --timeout 61.5 -q -l --stdin 1 -wdir /x p",
          "A=b C=d " SRUN "--ntasks=2 --kill-on-bad-exit=1 --input=1 --chdir=/x --time=1:02 --label --quiet p");
    gives("--launcher slurm --bind-to core --map-by socket --report-bindings -host a:2,b,a p", SRUN
          "--ntasks=4 --kill-on-bad-exit=1 --input=0 --distribution=block:cyclic --cpu-bind=verbose,cores --nodes=2 "
          "--nodelist=a,b p");
    gives("--launcher slurm --dry-run --output-filename d p",
          SRUN "--ntasks=1 --kill-on-bad-exit=1 --input=0 --output=d/rank.%t.out --error=d/rank.%t.err p");
    gives("--launcher slurm --outfile-pattern o%r%% --errfile-pattern e p",
          SRUN "--ntasks=1 --kill-on-bad-exit=1 --input=0 --output=o%t%% --error=e p");
    gives("--launcher slurm -n 4 --map-by node p",
          SRUN "--ntasks=4 --kill-on-bad-exit=1 --input=0 --distribution=cyclic:block p");
    gives("--launcher slurm -n 4 --bynode --rank-by node p",
          SRUN "--ntasks=4 --kill-on-bad-exit=1 --input=0 --distribution=cyclic:block p");
    gives("--launcher slurm -n 4 --rank-by slot p", SRUN "--ntasks=4 --kill-on-bad-exit=1 --input=0 p");
    refused("--launcher slurm -n 4 --rank-by node p", "--rank-by");
    refused("--launcher slurm -n 4 --map-by node --rank-by slot p", "--rank-by");
    refused("--launcher slurm -n 4 --rank-by fill p", "--rank-by");
    refused("--launcher slurm --pset a=0 p", "--pset cannot be passed on to srun");
    refused("--launcher slurm --genvnone p", "--genvnone");
    refused("--launcher slurm --timestamp-output p", "--timestamp-output");
    refused("--launcher slurm --prepend-pattern x p", "--prepend-pattern");
    refused("--launcher slurm --cpu-set 0 p", "--cpu-set");
    gives("--launcher slurm --bind-to user:0,2-3 --report-bindings p",
          SRUN "--ntasks=1 --kill-on-bad-exit=1 --input=0 --cpu-bind=verbose,map_cpu:0,2,3 p");
    refused("--launcher slurm --cpu-list 0 p", "--cpu-list"); /* cores, not the kernel's numbers */
    refused("--launcher slurm --usize 3 p", "--usize");
    gives("--launcher slurm --stdin all p", SRUN "--ntasks=1 --kill-on-bad-exit=1 --input=all p");
    refused("--launcher slurm --json-events f p", "--json-events");
    refused("--launcher slurm --map-by numa p", "--map-by numa");
    refused("--launcher slurm --map-by l3cache p", "--map-by l3cache");
    refused("--launcher slurm --bind-to l3cache p", "--bind-to l3cache");
    refused("--launcher slurm --map-by ppr:2:socket p", "--map-by ppr without -n");
    refused("--launcher slurm -path /x p", "--path");
    refused("--launcher slurm -wdir /x p : q", "--wdir for one");
    refused("--launcher slurm -env A b p : q", "--env for one");
    ck_assert(hand_over("--launcher slurm --grace 3 --pmix off p"));
    ck_assert_str_eq(made.not_passed, "--grace, --pmix");
    have("srun",
         "#!/bin/sh\n[ $1 = --mpi=list ] && printf 'MPI plugin types are...\n\tnone\n\tcray_shasta\n\tpmi2\n'\n");
    gives("--launcher slurm -n 2 p", "srun --mpi=pmi2 --overcommit --ntasks=2 --kill-on-bad-exit=1 --input=0 p");
    have("srun", "#!/bin/sh\n[ $1 = --mpi=list ] && printf '\tpmi2\n\tpmix\nspecific versions: pmix_v4\n' >&2\n");
    gives("--launcher slurm -n 2 p", SRUN "--ntasks=2 --kill-on-bad-exit=1 --input=0 p");
    end();
}
END_TEST

/* Inside an allocation a program without -n gets a process for each slot, and -N counts the nodes: srun would take the
 * number of tasks of the allocation. */
START_TEST(counts_slurm)
{
    start();
    have("srun", "");
    setenv("SLURM_JOB_ID", "1", 1);
    setenv("SLURM_JOB_NUM_NODES", "3", 1);
    setenv("SLURM_JOB_NODELIST", "a[1-3]", 1);
    setenv("SLURM_NTASKS", "5", 1);
    setenv("SLURM_TASKS_PER_NODE", "2(x2),1", 1);
    gives("p", SRUN "--ntasks=5 --kill-on-bad-exit=1 --input=0 p");
    gives("-N 4 p", SRUN "--ntasks=12 --kill-on-bad-exit=1 --input=0 --ntasks-per-node=4 p");
    gives("-N 4 -host a1,a3 p",
          SRUN "--ntasks=8 --kill-on-bad-exit=1 --input=0 --nodes=2 --nodelist=a1,a3 --ntasks-per-node=4 p");
    gives("-n 2 p", SRUN "--ntasks=2 --kill-on-bad-exit=1 --input=0 p");
    unsetenv("SLURM_NTASKS");
    setenv("SLURM_JOB_CPUS_PER_NODE", "8(x3)", 1);
    gives("p", SRUN "--ntasks=24 --kill-on-bad-exit=1 --input=0 p");
    setenv("SLURM_JOB_CPUS_PER_NODE", "8(x2),4", 1);
    gives("p", SRUN "--ntasks=20 --kill-on-bad-exit=1 --input=0 p");
    setenv("SLURM_JOB_CPUS_PER_NODE", "3,8,5", 1);
    gives("p", SRUN "--ntasks=16 --kill-on-bad-exit=1 --input=0 p");
    unsetenv("SLURM_TASKS_PER_NODE");
    unsetenv("SLURM_JOB_CPUS_PER_NODE");
    end();
}
END_TEST

static void expect_slots(const char *nodes, const char *each, const char *wanted)
{
    setenv("SLURM_JOB_NODELIST", nodes, 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", each, 1);
    gives("p", wanted);
}

/* Each slot gets a process also where they are more than -n can say; what cannot be counted is left to srun. */
START_TEST(limits_slurm)
{
    start();
    have("srun", "");
    setenv("SLURM_JOB_ID", "1", 1);
    setenv("SLURM_JOB_NUM_NODES", "1100", 1);
#define LEFT_TO_SRUN SRUN "--kill-on-bad-exit=1 --input=0 p"
    expect_slots("n[0001-1024]", "64(x1024)", SRUN "--ntasks=65536 --kill-on-bad-exit=1 --input=0 p");
    expect_slots("n[0001-1025]", "64(x1024),1", SRUN "--ntasks=65537 --kill-on-bad-exit=1 --input=0 p");
    expect_slots("n[0001-1100]", "64(x1100)", SRUN "--ntasks=70400 --kill-on-bad-exit=1 --input=0 p");
    expect_slots("a,b", "2147483646,1", SRUN "--ntasks=2147483647 --kill-on-bad-exit=1 --input=0 p");
    expect_slots("a,b", "2147483647,1", LEFT_TO_SRUN);
    expect_slots("a,b", "9223372036854775807(x2)", LEFT_TO_SRUN);
    expect_slots("n[1-70000]", "1(x70000)", LEFT_TO_SRUN); /* more hosts than mpiexec reads */
    unsetenv("SLURM_JOB_CPUS_PER_NODE");
    end();
}
END_TEST

/* The slots behind a colon count, as they do where mpiexec places the ranks. */
START_TEST(slots_slurm)
{
    start();
    have("srun", "");
#define EACH " --kill-on-bad-exit=1 --input=0 --distribution=arbitrary "
    gives("--launcher slurm -n 3 -host a:1,b:2 p", SRUN "--ntasks=3" EACH "--nodes=2 --nodelist=a,b,b p");
    gives("--launcher slurm -host a:2,b,a p", SRUN "--ntasks=4" EACH "--nodes=2 --nodelist=a,a,a,b p");
    gives("--launcher slurm -n 3 -host a:2,b:2 p", SRUN "--ntasks=3" EACH "--nodes=2 --nodelist=a,a,b p");
    gives("--launcher slurm -n 2 -host a,b:2,c:2 p", SRUN "--ntasks=2" EACH "--nodes=1 --nodelist=b,b p");
    gives("--launcher slurm -n 5 -host a:2,b:2 p",
          SRUN "--ntasks=5 --kill-on-bad-exit=1 --input=0 --nodes=2 --nodelist=a,b p");
    gives("--launcher slurm -n 2 -host a:2,b:2 --bynode p",
          SRUN "--ntasks=2 --kill-on-bad-exit=1 --input=0 --distribution=cyclic:block --nodes=2 --nodelist=a,b p");
    refused("--launcher slurm -n 4 --map-by ppr:1:socket p", "--map-by ppr cannot");
    end();
}
END_TEST

/* What follows `start` in the word that begins with it; NULL: there is none. */
static const char *word_after(const char *start)
{
    for (int i = 0; i < made.count; i++)
        if (strncmp(made.word[i], start, strlen(start)) == 0)
            return made.word[i] + strlen(start);
    return NULL;
}

static void expect_word(const char *start, const char *wanted)
{
    const char *got = word_after(start);
    if (wanted)
        ck_assert_str_eq(got ? got : "(none)", wanted);
    else
        ck_assert_msg(!got, "%s%s", start, got);
}

/* Is it node000,node001, ... of `hosts` hosts, each of them `times` times? */
static void expect_nodes(int hosts, int times)
{
    const char *list = word_after("--nodelist=");
    ck_assert_ptr_nonnull(list);
    ck_assert_uint_eq(strlen(list), (size_t)hosts * (size_t)times * 8 - 1);
    for (int n = 0; n < hosts * times; n++) {
        char name[32];
        snprintf(name, sizeof name, "node%03d", n / times);
        ck_assert_msg(memcmp(list + (size_t)n * 8, name, 7) == 0, "name %d is %.7s", n, list + (size_t)n * 8);
    }
    for (int i = 0; i < made.count; i++)
        ck_assert_uint_lt(strlen(made.word[i]), 110000); /* Linux takes 131071 */
}

/* Hands over with a file of 512 hosts of 64 slots, the last of them with `last`. */
static void hand_over_512(const char *arguments, int last)
{
    char file[16384], line[512];
    size_t used = 0;
    for (int i = 0; i < 512; i++)
        used += (size_t)snprintf(file + used, sizeof file - used, "node%03d:%d\n", i, i < 511 ? 64 : last);
    have("hosts", file);
    snprintf(line, sizeof line, "--launcher slurm -hostfile %s/hosts %s p", directory, arguments);
    ck_assert_msg(hand_over(line), "%s: %s", line, made.error);
}

/* A list with a name for each rank would be longer than what Linux takes as one word. */
START_TEST(many_slurm)
{
    start();
    have("srun", "");
    hand_over_512("", 64);
    expect_word("--ntasks=", "32768");
    expect_word("--nodes=", "512");
    expect_word("--ntasks-per-node=", "64");
    expect_word("--distribution=", "block");
    expect_nodes(512, 1);
    hand_over_512("--byslot -n 32704", 64); /* the last host is not used */
    expect_word("--ntasks=", "32704");
    expect_word("--nodes=", "511");
    expect_word("--ntasks-per-node=", "64");
    expect_word("--distribution=", "block:block");
    expect_nodes(511, 1);
    hand_over_512("", 63);
    expect_word("--ntasks=", "32767");
    expect_word("--nodes=", "512");
    expect_word("--ntasks-per-node=", NULL);
    expect_word("--distribution=", NULL);
    expect_nodes(512, 1);
    hand_over_512("-n 12800", 64); /* the longest list */
    expect_word("--ntasks=", "12800");
    expect_word("--nodes=", "200");
    expect_word("--ntasks-per-node=", NULL);
    expect_word("--distribution=", "arbitrary");
    expect_nodes(200, 64);
    hand_over_512("-n 12801", 64); /* one rank on the last host */
    expect_word("--ntasks=", "12801");
    expect_word("--nodes=", "201");
    expect_word("--ntasks-per-node=", NULL);
    expect_word("--distribution=", NULL);
    expect_nodes(201, 1);
    end();
}
END_TEST

/* Even a list with each name once may be too long: srun reads it from a file. */
START_TEST(long_slurm)
{
    enum { HOSTS = 9000 };
    char line[512], name[32];
    start();
    have("srun", "");
    snprintf(line, sizeof line, "%s/hosts", directory);
    FILE *file = fopen(line, "w");
    for (int i = 0; i < HOSTS; i++)
        fprintf(file, "node-%05d.cluster\n", i);
    fclose(file);
    snprintf(line, sizeof line, "--launcher slurm -hostfile %s/hosts p", directory);
    ck_assert_msg(hand_over(line), "%s: %s", line, made.error);
    expect_word("--nodes=", "9000");
    const char *list = word_after("--nodelist=");
    ck_assert_msg(list && list[0] == '/', "%.20s", list ? list : "(none)");
    ck_assert_ptr_nonnull(file = fopen(list, "r"));
    for (int i = 0; i < HOSTS; i++) {
        snprintf(name, sizeof name, "node-%05d.cluster\n", i);
        ck_assert(fgets(line, sizeof line, file) && strcmp(line, name) == 0);
    }
    ck_assert_ptr_null(fgets(line, sizeof line, file));
    fclose(file);
    end();
}
END_TEST

/* Without memory for the list there is an error, and no empty list. */
START_TEST(memory_slurm)
{
    static const char *const lines[] = { "-host a:2,b:2", "-host a:2,b:2 --map-by socket" };
    char line[64], *list;
    start();
    have("srun", "");
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "--launcher slurm %s p", lines[i]);
        ck_assert_msg(hand_over(line), "%s: %s", line, made.error);
        int before = made.kept_count;
        pl_memory_fail_at(1);
        const char *refused_words = slurm_add_hosts(&made);
        ck_assert(pl_memory_failed());
        ck_assert_str_eq(refused_words ? refused_words : "(none)", "the list of hosts (out of memory)");
        ck_assert_int_eq(made.kept_count, before);
    }
    for (int n = 1; pl_memory_fail_at(n), list = slurm_list(parsed.host, 4, true), pl_memory_failed(); n++)
        if (list) { /* it could not be made smaller */
            ck_assert_str_eq(list, "a,a,b,b");
            free(list);
        }
    pl_memory_fail_at(0);
    ck_assert_str_eq(list, "a,a,b,b");
    free(list);
    end();
}
END_TEST

/* srun reads the list of programs from memory. */
START_TEST(programs_slurm)
{
    char text[256] = "";
    start();
    have("srun", "");
    ck_assert(hand_over("--launcher slurm -n 3 p a\"b : q 'c\\%t"));
    ck_assert_str_eq(made.word[made.count - 2], "--multi-prog");
    int fd = open(made.word[made.count - 1], O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_gt(read(fd, text, sizeof text - 1), 0);
    ck_assert_str_eq(text, "0-2 p a\\\"b\n3 q \\'c\\\\\\%t\n");
    close(fd);
    end();
}
END_TEST

START_TEST(words_prte)
{
    const char *root = geteuid() == 0 ? "--allow-run-as-root " : "";
    char wanted[512];
    start();
    have("prterun", "");
    have("mpirun.openmpi", "");
#define GIVES(line, before, after)                                                                                     \
    do {                                                                                                               \
        snprintf(wanted, sizeof wanted, "%s %s%s", before, root, after);                                               \
        gives(line, wanted);                                                                                           \
    } while (0)
    GIVES("-host a:2,b --map-by socket:PE=2 p x", "prterun",
          "--map-by package:PE=2:OVERSUBSCRIBE --bind-to core --host a:2,b -np 3 p x");
    GIVES("-host a:2,b p x", "prterun", "--map-by slot:OVERSUBSCRIBE --bind-to none --host a:2,b -np 3 p x");
    GIVES("--launcher openmpi --bind-to socket --map-by socket -n 2 p", "mpirun.openmpi",
          "--map-by socket:OVERSUBSCRIBE --bind-to socket -np 2 p");
    GIVES("--launcher prte --bind-to socket --map-by numa -l --output-filename d -n 2 p", "prterun",
          "--output tag,dir=d --map-by numa:OVERSUBSCRIBE --bind-to package -np 2 p");
    GIVES(
        "--launcher openmpi -l --output-filename d --keep-going --timeout 1.2 --stdin none -N 2 p", "mpirun.openmpi",
        "--enable-recovery --timeout 2 --stdin none --tag-output --output-filename d --map-by ppr:2:node:OVERSUBSCRIBE "
        "--bind-to none p");
    GIVES("--launcher prte -n 4 --map-by node:PE=2 --rank-by fill --report-bindings p", "prterun",
          "--map-by node:PE=2:OVERSUBSCRIBE --rank-by slot --bind-to core --display bind -np 4 p");
    GIVES("--launcher prte -n 4 --map-by numa:PE=2 --bind-to none --rank-by span p", "prterun",
          "--map-by numa:OVERSUBSCRIBE --rank-by span --bind-to none -np 4 p");
    GIVES("--launcher prte -n 4 --map-by ppr:2:socket p", "prterun",
          "--map-by ppr:2:package:OVERSUBSCRIBE --rank-by fill --bind-to none -np 4 p");
    GIVES("--launcher prte -host a,b --map-by ppr:2:l3cache p", "prterun",
          "--map-by ppr:2:l3cache:OVERSUBSCRIBE --rank-by fill --bind-to none --host a,b p");
    GIVES("--launcher openmpi -n 4 --map-by ppr:2:core --rank-by node p", "mpirun.openmpi",
          "--map-by ppr:2:core:OVERSUBSCRIBE --rank-by node --bind-to none -np 4 p");
    GIVES("--launcher prte --bind-to l3cache --map-by ppr:2:l3cache -n 4 p", "prterun",
          "--map-by ppr:2:l3cache:OVERSUBSCRIBE --rank-by fill --bind-to l3cache -np 4 p");
    GIVES("--launcher openmpi -n 4 --map-by numa --rank-by span p", "mpirun.openmpi",
          "--map-by numa:OVERSUBSCRIBE --rank-by numa:span --bind-to none -np 4 p");
    GIVES("--launcher openmpi -n 4 --byslot --rank-by fill p", "mpirun.openmpi",
          "--map-by slot:OVERSUBSCRIBE --rank-by slot --bind-to none -np 4 p");
    GIVES("--launcher prte --cpu-list 0,2-3 -n 9 p", "prterun", "--map-by pe-list=0,2,3:OVERSUBSCRIBE -np 9 p");
    GIVES("--launcher prte --cpu-list 3,0-1 --bind-to cpulist:ordered --report-bindings -n 3 p", "prterun",
          "--map-by pe-list=3,0,1:ordered --display bind -np 3 p");
    GIVES("--launcher openmpi --host a,b --cpu-list 0-1 --bind-to cpulist -n 9 p", "mpirun.openmpi",
          "--oversubscribe --cpu-list 0-1 --bind-to cpulist --host a,b -np 9 p");
    GIVES("--launcher openmpi --cpu-list 0-1,4 --bind-to cpulist:ordered -n 3 p", "mpirun.openmpi",
          "--oversubscribe --cpu-list 0-1,4 --bind-to cpulist:ordered -np 3 p");
    setenv("PLENUM_LOG", "error", 1);
    setenv("LD_LIBRARY_PATH", "/y", 1);
    GIVES("--launcher openmpi -x A=b -wdir /x p : -n 2 -env C d -path /z q", "mpirun.openmpi",
          "--map-by slot:OVERSUBSCRIBE --bind-to none -x A=b -x PLENUM_LOG -x LD_LIBRARY_PATH -np 1 --wdir /x p : "
          "-x A=b -x PLENUM_LOG -x LD_LIBRARY_PATH -np 2 --path /z -x C=d q");
    refused("--launcher prte --keep-going p", "--keep-going cannot be passed on to prterun");
    refused("--launcher openmpi --outfile-pattern o p", "--outfile-pattern");
    refused("--launcher openmpi --output-filename %r p", "--output-filename with %r");
    refused("--launcher openmpi -N 2 p : q", "-N for one");
    refused("--launcher prte -n 4 --map-by node --rank-by span p", "--rank-by span without --map-by socket");
    refused("--launcher prte --path /a:/b p", "--path with several directories");
    refused("--launcher openmpi --cpu-list 4,0-1 --bind-to cpulist:ordered p", "another order");
    refused("--launcher prte --cpu-list 0-1 --bind-to cpulist:ordered -n 2 p : p", "more processes than cores");
    refused("--launcher prte --cpu-list 0-1 --map-by node p", "--cpu-list with --map-by");
    refused("--launcher prte --bind-to user:0 p", "--bind-to user");
    refused("--launcher prte --bind-to socket --cpus-per-proc 2 p", "--cpus-per-proc with --bind-to socket");
    refused("--launcher openmpi --bind-to numa --map-by slot:PE=2 p", "--cpus-per-proc with --bind-to socket");
    end();
}
END_TEST

/* A host file: names, with what the launcher is to read behind them. */
START_TEST(hostfile)
{
    char line[256], error[512], *argv[] = { (char *)"mpiexec", (char *)"-hostfile", line, (char *)"p" };
    start();
    have("mpirun.openmpi", "# hosts\n\n  alpha slots=2\nlocalhost # here\nbeta:3\n"); /* any file will do */
    snprintf(line, sizeof line, "-hostfile %s/mpirun.openmpi p", directory);
    ck_assert(hand_over(line));
    ck_assert_int_eq(made.launcher, LAUNCHER_OPENMPI);
    ck_assert_int_eq(parsed.host_count, 3);
    ck_assert_str_eq(parsed.host[2].name, "beta");
    ck_assert_str_eq(parsed.host_word[1], "localhost");
    ck_assert_str_eq(parsed.host_word[2], "beta:3");
    ck_assert_str_eq(parsed.elsewhere, "alpha");
    ck_assert_str_eq(made.word[made.count - 5], "--hostfile");
    struct options other = { 0 };
    strcpy(line, "/nonexistent");
    ck_assert(!options_parse(&other, 4, argv, error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "/nonexistent"));
    options_free(&other);
    end();
}
END_TEST

/* A rank file may name machines. A name with a dash, which PRRTE does not take, becomes a descriptor. */
START_TEST(rankfile)
{
    const char *root = geteuid() == 0 ? "--allow-run-as-root " : "";
    char line[256], wanted[512], *last;
    start();
    have("prterun", "");
    have("ranks", "rank 0=a slot=0:*\nrank 1=+n1 slot=1\n");
    have("the-ranks", "rank 0=a slot=0:*\n");
    snprintf(line, sizeof line, "-host a,b --map-by rankfile:file=%s/ranks --report-bindings p", directory);
    ck_assert(hand_over(line) && made.launcher == LAUNCHER_PRTE);
    ck_assert_str_eq(parsed.elsewhere, "a");
    bool plain = !strpbrk(directory, "-:,");
    snprintf(wanted, sizeof wanted, "prterun %s--map-by rankfile:file=%s/ranks --display bind --host a,b -np 2 p", root,
             directory);
    if (plain)
        gives(line, wanted);
    snprintf(line, sizeof line, "-rf %s/the-ranks p", directory);
    ck_assert(hand_over(line) && made.launcher == LAUNCHER_PRTE); /* the file alone names a machine */
    ck_assert_str_eq(made.word[made.count - 4], "a");
    last = strstr(made.word[made.count - 6], "/proc/self/fd/");
    ck_assert_ptr_nonnull(last);
    char text[64] = "";
    ck_assert_int_eq(read(atoi(last + strlen("/proc/self/fd/")), text, sizeof text), 18);
    have("mpirun.openmpi", "");
    snprintf(line, sizeof line, "--launcher openmpi -rf %s/ranks p", directory);
    snprintf(wanted, sizeof wanted, "mpirun.openmpi %s--oversubscribe --rankfile %s/ranks --host a -np 2 p", root,
             directory);
    gives(line, wanted);
    have("srun", "");
    snprintf(line, sizeof line, "--launcher slurm -rf %s/ranks p", directory);
    refused(line, "--rankfile");
    end();
}
END_TEST

START_TEST(quotes)
{
    static const char *const cases[][2] = { { "a-b/c.d", "a-b/c.d" }, { "", "''" },
                                            { "a b", "'a b'" },       { "it's", "'it'\\''s'" },
                                            { "a\nb", "'a\nb'" },     { "\033[2J'\\", "$'\\033[2J\\'\\\\'" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = NULL;
        size_t size;
        FILE *out = open_memstream(&got, &size);
        print_word(cases[i][0], out);
        fclose(out);
        ck_assert_str_eq(got, cases[i][1]);
        free(got);
    }
}
END_TEST

UNIT_MAIN("handover", who, words_slurm, counts_slurm, limits_slurm, slots_slurm, many_slurm, long_slurm, memory_slurm,
          programs_slurm, words_prte, hostfile, rankfile, quotes)
