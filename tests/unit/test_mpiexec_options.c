/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec: what it understands, and what it says when it does not. */
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

#include <malloc.h>

#include "unit.h" /* later: check.h has a macro named fail */

enum { WORDS = 32 };

static struct options parsed;
static char error[512];

/* Parses words separated by blanks. */
static bool parse(const char *line)
{
    static char text[1024];
    char *argv[WORDS + 1] = { (char *)"mpiexec" };
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && argc < WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;
    options_free(&parsed);
    memset(&parsed, 0, sizeof parsed);
    error[0] = '\0';
    return options_parse(&parsed, argc, argv, error, sizeof error);
}

static void refused(const char *line, const char *why)
{
    ck_assert_msg(!parse(line), "was taken: %s", line);
    ck_assert_msg(strstr(error, why) != NULL, "%s: said \"%s\", not \"%s\"", line, error, why);
    ck_assert_msg(!strchr(error, '\n'), "more than one line");
}

static void expand(const char *nodes, const char *counts, const char *expected)
{
    char *hosts = allocation_slurm(nodes, counts);
    if (expected)
        ck_assert_str_eq(hosts ? hosts : "(null)", expected);
    else
        ck_assert_msg(!hosts, "%s: %s", nodes, hosts);
    free(hosts);
}

START_TEST(slurm_lists)
{
    expand("a", NULL, "a:1");
    expand("a[1-3,7],b", "2(x3),1,4", "a1:2,a2:2,a3:2,a7:1,b:4");
    expand("n[08-11]x", "3(x4)", "n08x:3,n09x:3,n10x:3,n11x:3");
    expand("r[1-2]n[3-4],c", "1", "r1n3:1,r1n4:1,r2n3:1,r2n4:1,c:1");
    static const char *const bad[] = { "",      "a[",     "a[]",   "a[1",           "a[2-1]",
                                       "a[1-]", "a[1;2]", "a[-1]", "a[0-99999999]", "a,,b" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expand(bad[i], "2", NULL);
}
END_TEST

/* Parses within the job of a batch system. */
static bool parse_within(const char *variable, const char *value, const char *line)
{
    setenv(variable, value, 1);
    bool good = parse(line);
    unsetenv(variable);
    return good;
}

START_TEST(batch_systems)
{
    char path[] = "/tmp/test-nodes-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_eq(dprintf(fd, "far1.there 2 all.q@far1 <NULL>\nfar2\nfar2\n"), 41);
    close(fd);
    static const char *const files[] = { "PBS_NODEFILE", "PE_HOSTFILE" };
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(parse_within(files[i], path, "p"), "%s", error);
        ck_assert_int_eq(parsed.host_count, 2);
        ck_assert_str_eq(parsed.host[0].name, "far1.there");
        ck_assert_int_eq(parsed.host[0].slots, 2);
        ck_assert_int_eq(parsed.host[1].slots, 2);
        ck_assert_int_eq(parsed.section[0].ranks, 4);
        ck_assert_int_eq(parsed.allocation, ALLOCATION_OTHER);
    }
    ck_assert(parse_within("LSB_HOSTS", "far1 far1 far2", "-n 2 p"));
    ck_assert_int_eq(parsed.host_words, 3);
    ck_assert_str_eq(parsed.host_word[1], "far1:1");
    ck_assert_int_eq(parsed.section[0].ranks, 2);
    ck_assert(parse_within("LSB_HOSTS", "far1 far1", "--host here p")); /* the command line goes first */
    ck_assert_int_eq(parsed.host_count, 1);
    ck_assert_str_eq(parsed.host[0].name, "here");
    ck_assert(parse_within("LSB_HOSTS", "far1 far1", "--launcher embedded p"));
    ck_assert_int_eq(parsed.host_count, 0);
    ck_assert(parse_within("LSB_HOSTS", "localhost localhost", "p"));
    ck_assert_int_eq(parsed.host_count, 0);
    ck_assert(parse_within("PBS_NODEFILE", "/nonexistent", "p"));
    ck_assert_int_eq(parsed.host_count, 0);
    ck_assert(!parse_within("PBS_NODEFILE", "/nonexistent", "--launcher ssh p"));
    ck_assert(parse_within("SLURM_JOB_NODELIST", "far[1-2]", "p")); /* srun takes the job */
    ck_assert_int_eq(parsed.host_count, 0);
    ck_assert(parse_within("SLURM_JOB_NODELIST", "far[1-2]", "--launcher ssh p"));
    ck_assert_int_eq(parsed.host_count, 2);
    ck_assert_str_eq(parsed.host[1].name, "far2");
    ck_assert_int_eq(parsed.allocation, ALLOCATION_SLURM);
    unlink(path);
}
END_TEST

START_TEST(plain)
{
    ck_assert(parse("prog -n 5 --help"));
    ck_assert_int_eq(parsed.sections, 1);
    ck_assert_int_eq(parsed.section[0].ranks, 1);
    ck_assert_int_eq(parsed.section[0].argc, 4);
    ck_assert_str_eq(parsed.section[0].argv[3], "--help");
    ck_assert_ptr_null(parsed.section[0].argv[4]);
    ck_assert(!parsed.help);
}
END_TEST

START_TEST(dashes)
{
    static const char *const lines[] = { "-n 3 p", "--n 3 p", "-np 3 p", "--np=3 p", "-n=3 p" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_msg(parse(lines[i]), "%s: %s", lines[i], error);
        ck_assert_int_eq(parsed.section[0].ranks, 3);
    }
    ck_assert(parse("-n 1 - x")); /* a lone dash is a program's name */
    ck_assert_str_eq(parsed.section[0].argv[0], "-");
}
END_TEST

START_TEST(programs)
{
    ck_assert(parse("-n 2 -wdir /a -genv G 1 p 1 : -n 3 -env E 2 q : r"));
    ck_assert_int_eq(parsed.sections, 3);
    ck_assert_str_eq(parsed.section[0].wdir, "/a");
    ck_assert_ptr_null(parsed.section[1].wdir);
    ck_assert_int_eq(parsed.env.count, 1);
    ck_assert_int_eq(parsed.section[1].env.count, 1);
    ck_assert_str_eq(parsed.section[1].env.item[0].value, "2");
    ck_assert_int_eq(parsed.section[2].ranks, 1);
    refused("-n 2 :", "before");
    refused("a : -n 2", "after");
    refused("", "no program");
}
END_TEST

START_TEST(variables)
{
    setenv("TEST_OPTIONS_SET", "x", 1);
    ck_assert(parse("-x TEST_OPTIONS_SET -x A=b=c p"));
    ck_assert_int_eq(parsed.env.count, 2);
    ck_assert_str_eq(parsed.env.item[0].value, "x");
    ck_assert_str_eq(parsed.env.item[1].name, "A");
    ck_assert_str_eq(parsed.env.item[1].value, "b=c");
    ck_assert(!parsed.env_clear);
    ck_assert(parse("--genvlist TEST_OPTIONS_SET,TEST_OPTIONS_UNSET p"));
    ck_assert(parsed.env_clear);
    ck_assert_int_eq(parsed.env.count, 1);
    ck_assert(parse("--genvnone p") && parsed.env_clear);
    refused("-x TEST_OPTIONS_UNSET p", "no such variable");
    refused("-x =b p", "NAME");
    ck_assert(parse("-initial-errhandler mpi_errors_return p"));
    ck_assert_str_eq(parsed.env.item[0].name, "PLENUM_INITIAL_ERRHANDLER");
    ck_assert(parse("-envlist TEST_OPTIONS_SET p") && parsed.env_clear && parsed.section[0].env.count == 1);
    ck_assert(parse("-envnone p") && parsed.env_clear);
    refused("-envnone p : q", "for a single program");
    refused("p : -envlist A q", "for a single program");
    ck_assert(parse("-initial-errhandler MPI_ERRORS_ABORT p") && parse("-initial-errhandler plenum://log p"));
    refused("-initial-errhandler fatal p", "expects mpi_errors_are_fatal");
    refused("-env A", "two arguments");
    refused("-env=A p", "two arguments");
}
END_TEST

START_TEST(numbers)
{
    refused("-n 0 p", "number");
    refused("-n -1 p", "number");
    refused("-n 4x p", "number");
    refused("-n 99999999999999999999 p", "number");
    refused("-n", "needs");
    refused("--timeout 0 p", "seconds");
    refused("--timeout nan p", "seconds");
    refused("--timeout 1e99 p", "seconds");
    ck_assert(parse("--timeout 1.5 p"));
    ck_assert_int_eq(parsed.timeout, 1500);
    refused("-soft x p", "triplets");
    ck_assert(parse("-soft 2:8:2,16 p"));
    ck_assert(parse("-soft 9:1:-7 p"));
    for (const char *const *wrong =
             (const char *const[]){ "1:", ":2", "2,", "1:4:0", "4:1", "1:4:-1", "2:3:4:5", "-1", NULL };
         *wrong; wrong++) {
        char line[40];
        snprintf(line, sizeof line, "-soft %s p", *wrong);
        refused(line, "triplets");
    }
}
END_TEST

START_TEST(sets)
{
    ck_assert(parse("--pset app://io=0-3,7 --pset b=1 -n 8 p"));
    ck_assert_int_eq(parsed.psets, 2);
    ck_assert_str_eq(parsed.pset[0].name, "app://io");
    ck_assert_int_eq(parsed.pset[0].count, 2);
    ck_assert_int_eq(parsed.pset[0].ranges[0][1], 3);
    ck_assert_int_eq(parsed.pset[0].ranges[1][0], 7);
    static const char *const bad[] = { "--pset a p",     "--pset a= p",   "--pset =1 p",     "--pset a=3-1 p",
                                       "--pset a=1,x p", "--pset a=-1 p", "--pset a=1-2-3 p" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], "NAME=RANKS");
}
END_TEST

START_TEST(hosts)
{
    char line[512], host[256] = "";
    ck_assert(parse("-host localhost p"));
    ck_assert(parse("-host localhost:4,127.0.0.1,::1 p"));
    gethostname(host, sizeof host - 1);
    snprintf(line, sizeof line, "-host %s:2 p", host);
    ck_assert_msg(parse(line), "%s", error);
    ck_assert(parse("-host localhost,elsewhere.example:3 p"));
    ck_assert_str_eq(parsed.elsewhere, "elsewhere.example");
}
END_TEST

/* A line for each slot, as batch systems write: the memory grows with the lines, not with their square. */
START_TEST(long_host_file)
{
    enum { LINES = 20000, EACH = 16, MOST = 256 /* bytes a line */ };
    char path[] = "/tmp/mpiexec_options.XXXXXX", line[128];
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    for (int i = 0; i < LINES; i++)
        fprintf(file, "node%d.cluster.example\n", i / EACH);
    fclose(file);
    snprintf(line, sizeof line, "--hostfile %s -n 2 p", path);
    ck_assert_msg(parse(line), "%s", error);
    ck_assert_int_eq(parsed.host_count, LINES / EACH);
    ck_assert_int_eq(parsed.host_words, LINES);
    ck_assert_int_eq(parsed.slots, LINES);
    for (int i = 0; i < parsed.host_count; i++) {
        snprintf(line, sizeof line, "node%d.cluster.example", i);
        ck_assert_str_eq(parsed.host[i].name, line);
        ck_assert_int_eq(parsed.host[i].slots, EACH);
    }
    size_t bytes = 0;
    for (int i = 0; i < parsed.kept_count; i++)
        bytes += malloc_usable_size(parsed.kept[i]);
    ck_assert_uint_le(bytes, (size_t)LINES * MOST);
    unlink(path);
}
END_TEST

/* A comma may end a list of words. Otherwise a list has no empty elements. */
START_TEST(commas)
{
    ck_assert(parse("-host a,b:2, p"));
    ck_assert_int_eq(parsed.host_count, 2);
    ck_assert_int_eq(parsed.slots, 3);
    ck_assert(parse("--display map,bindings, --output tag, --genvlist PATH, p"));
    ck_assert(parsed.display_map && parsed.report_bindings && parsed.tag && parsed.env.count == 1);
    static const char *const empty[] = { "-host , p", "-host a,,b p", "-host ,a p", "-host :4 p", "-host a,, p" };
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        refused(empty[i], "a name is empty");
    static const char *const wrong[] = { "--display , p",  "--display map,,bindings p", "--output , p",
                                         "--cpu-set 0, p", "--cpu-list 0, p",           "--pset a=0, p" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(wrong[i], "expects");
}
END_TEST

START_TEST(counts)
{
    ck_assert(parse("-N 3 p : -ppn 2 q"));
    ck_assert_int_eq(parsed.section[0].ranks, 3);
    ck_assert_int_eq(parsed.section[1].ranks, 2);
    ck_assert(parse("-n 2 -N 3 p"));
    ck_assert_int_eq(parsed.section[0].ranks, 2);
}
END_TEST

START_TEST(places)
{
    ck_assert(parse("--bind-to core --map-by socket p"));
    ck_assert_int_eq(parsed.bind, PLENUM_BIND_CORE);
    ck_assert_int_eq(parsed.map, PLENUM_MAP_SOCKET);
    ck_assert(parse("--bind-to hwthread:overload-allowed --map-by core:OVERSUBSCRIBE p"));
    ck_assert_int_eq(parsed.bind, PLENUM_BIND_THREAD);
    ck_assert_int_eq(parsed.map, PLENUM_MAP_SLOT);
    ck_assert(parse("--bind-to package --map-by numa p"));
    ck_assert_int_eq(parsed.bind, PLENUM_BIND_SOCKET);
    ck_assert_int_eq(parsed.map, PLENUM_MAP_NUMA);
    ck_assert(parse("p") && !parsed.bind_given && !parsed.map_given && parsed.rank_by == PLENUM_RANK_MAPPED);
    ck_assert(parse("--map-by :OVERSUBSCRIBE --bind-to :overload-allowed p") && !parsed.map_given &&
              !parsed.bind_given);
    ck_assert(parse("--map-by :PE=2 p") && parsed.bind_count == 2 && parsed.bind == PLENUM_BIND_CORE);
    ck_assert(parse("--map-by Socket:pe=2,span p") && parsed.bind_count == 2 && parsed.map == PLENUM_MAP_SOCKET);
    ck_assert(parse("-bind-to core:2 p") && parsed.bind_count == 2 && parsed.bind == PLENUM_BIND_CORE);
    ck_assert(parse("--map-by node p") && parsed.map == PLENUM_MAP_NODE);
    ck_assert(parse("--bynode p") && parsed.map == PLENUM_MAP_NODE && parsed.map_given);
    ck_assert(parse("--byslot p") && parsed.map == PLENUM_MAP_SLOT && parsed.map_given);
    ck_assert(parse("--map-by ppr:2:node p") && parsed.map == PLENUM_MAP_SLOT && parsed.section[0].per_node == 2);
    ck_assert(parse("--map-by ppr:2:socket p") && parsed.rank_by == PLENUM_RANK_FILL);
    ck_assert(parse("--map-by ppr:2:socket --rank-by node p") && parsed.rank_by == PLENUM_RANK_NODE);
    ck_assert(parse("--npersocket 2 p") && parsed.section[0].per_place == 2 && parsed.bind == PLENUM_BIND_SOCKET);
    ck_assert(parse("--npersocket 2 --bind-to core p") && parsed.bind == PLENUM_BIND_CORE);
    ck_assert(parse("--bind-to core --npersocket 2 p") && parsed.bind == PLENUM_BIND_CORE);
}
END_TEST

START_TEST(ranking)
{
    static const struct {
        const char *line;
        enum plenum_rank rank;
    } uses[] = { { "--rank-by slot p", PLENUM_RANK_SLOT },        { "--rank-by core p", PLENUM_RANK_SLOT },
                 { "--rank-by=node p", PLENUM_RANK_NODE },        { "--rank-by FILL p", PLENUM_RANK_FILL },
                 { "--rank-by span p", PLENUM_RANK_SPAN },        { "--rank-by socket p", PLENUM_RANK_SPAN },
                 { "--rank-by socket:span p", PLENUM_RANK_SPAN }, { "--rank-by numa p", PLENUM_RANK_SPAN } };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        ck_assert_msg(parse(uses[i].line), "%s: %s", uses[i].line, error);
        ck_assert_msg(parsed.rank_by == uses[i].rank, "%s", uses[i].line);
    }
    refused("--rank-by slot", "is the argument of --rank-by");
    refused("--rank-by rack p", "expects slot, node, fill or span, not \"rack\"");
    refused("--rank-by slot:PE=2 p", "expects slot, node");
}
END_TEST

START_TEST(names_of_files)
{
    static const char *const uses[][2] = {
        { "--output-filename d:nocopy p", "d" }, { "--output-filename d:nojobid,nocopy p", "d" },
        { "--output-filename a:b p", "a:b" },    { "--output-filename a:nocopy:b p", "a:nocopy:b" },
        { "--output dir=d:nocopy p", "d" },      { "--output TAG,FILE=f:nocopy p", "f.%r" }
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        ck_assert_msg(parse(uses[i][0]), "%s: %s", uses[i][0], error);
        ck_assert_str_eq(parsed.output, uses[i][1]);
    }
    ck_assert(parsed.tag);
    refused("--output-filename :nocopy p", "expects the name");
    refused("--output dir=:nocopy p", "expects tag");
    ck_assert(parse("--display map p") && parsed.display_map && !parsed.report_bindings);
    ck_assert(parse("--display MAP-DEVEL,bindings:parseable p") && parsed.display_map && parsed.report_bindings);
    ck_assert(parse("--display bind,allocation p") && !parsed.display_map && parsed.report_bindings);
    ck_assert_int_eq(parsed.notes, 1);
    refused("--display maps p", "expects map or bindings, not \"maps\"");
    ck_assert(parse("--display map, p") && parsed.display_map);
}
END_TEST

START_TEST(streams)
{
    ck_assert(parse("p") && parsed.stdin_rank == 0 && !parsed.dry_run && !parsed.output);
    ck_assert(parse("--stdin 3 p") && parsed.stdin_rank == 3);
    ck_assert(parse("--stdin none --output-filename d --dry-run p"));
    ck_assert_int_eq(parsed.stdin_rank, -1);
    ck_assert_str_eq(parsed.output, "d");
    ck_assert_int_eq(parsed.dry_run, DRY_RUN_TEXT);
    ck_assert(parse("--dry-run=json --job file") && parsed.dry_run == DRY_RUN_JSON);
    ck_assert(parse("--outfile-pattern o%r --errfile-pattern=e%r -q p") && parsed.quiet);
    ck_assert_str_eq(parsed.err_pattern, "e%r");
    ck_assert(parse("--grace 0 p") && parsed.grace_given && parsed.grace == 0);
}
END_TEST

START_TEST(mistyped)
{
    refused("--tagoutput p", "--tag-output");
    refused("--timout 3 p", "--timeout");
    refused("--verbos p", "--verbose");
    refused("--zzzzzzzz p", "--help");
    refused("--map-by board p", "slot, core");
    refused("--map-by ppr:2:rack p", "slot, core");
    refused("--map-by socket:PS=2 p", "slot, core");
    refused("--map-by socket:2 p", "slot, core");
    refused("--map-by : p", "slot, core");
    refused("--map-by ppr:2: p", "slot, core");
    refused("--bind-to core: p", "none, core");
    refused("--bind-to sockets p", "none, core");
    refused("--dry-run=xml p", "--dry-run=json");
    refused("--stdin every p", "the rank");
    refused("--job", "needs an argument");
    refused("--job file p", "so others cannot");
    refused("--job file -N 2", "so -n and -N cannot");
    refused("--job file --map-by ppr:2:socket", "so --map-by ppr and --npersocket cannot");
    refused("--job file --npersocket 2", "so --map-by ppr and --npersocket cannot");
    ck_assert(parse("--job file --host localhost:4") && parsed.section[0].ranks == 1);
    refused("--quiet=1 p", "no argument");
    refused("--pmix maybe p", "auto, on or off");
    refused("--tag-output=1 p", "no argument");
}
END_TEST

START_TEST(configuration_file)
{
    char text[] = "# comment\n\n -n 2 'a b' \"c\\\"d\" e\\ f\n-n 1 q # no comment\r\n";
    int count;
    char **word = config_split(text, &count);
    static const char *const want[] = { "-n", "2", "a b", "c\"d", "e f", ":", "-n", "1", "q", "#", "no", "comment" };
    ck_assert_ptr_nonnull(word);
    ck_assert_int_eq(count, 12);
    for (int i = 0; i < count; i++)
        ck_assert_str_eq(word[i], want[i]);
    free(word);
    char open[] = "-n 2 'a";
    ck_assert_ptr_null(config_split(open, &count));
    refused("-configfile /nonexistent/file", "cannot read");
    refused("-configfile /tmp", "cannot read");
    refused("-configfile /dev/null", "no program");
    ck_assert(parse("-configfile /dev/null p"));
    refused("--hostfile /nonexistent/file p", "cannot read");
    refused("--hostfile /tmp p", "cannot read");
}
END_TEST

UNIT_MAIN("mpiexec options", plain, slurm_lists, batch_systems, dashes, programs, variables, numbers, sets, hosts,
          long_host_file, commas, counts, places, streams, ranking, names_of_files, mistyped, configuration_file)
