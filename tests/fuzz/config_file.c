/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration file, and the variables of the environment. What is accepted is within the bounds of the table,
 * and is a value of its variable again. */
#include "fuzz_json.h"

#include "core/base/config.h"
#include "core/base/config_value.h"
#include "core/base/error.h"

FUZZ(NULL, "{ \"transport\": [\"self\", \"shm\"], \"shm_eager\": 8192, \"log\": \"warn\" }",
     "{ \"shm_ring\": \"64K\" }", "\x01transport=shm,self", "\x01shm_eager=16K", "\x01coll_shm=yes", "\x01ucx_tls=tcp")

static void check_values(void)
{
    char allowed[PL_CONFIG_ALLOWED];
    for (size_t i = 0; i < pl_config_count; i++) {
        const struct pl_config *variable = &pl_config_table[i];
        const char *text = pl_config_text(variable->name);
        long number;
        if (*text)
            FUZZ_CHECK(pl_config_parse(variable, text, &number, allowed));
        if (variable->type == PL_CONFIG_LONG || variable->type == PL_CONFIG_SIZE) {
            number = pl_config_long(variable->name);
            FUZZ_CHECK(number >= variable->lowest && number <= variable->highest);
        }
    }
}

/* NAME=value, for any variable of the table, whatever its name in the input begins with. */
static void check_variable(struct fuzz *from)
{
    const struct pl_config *variable = &pl_config_table[fuzz_byte(from) % pl_config_count];
    char *text = fuzz_rest(from), *value = strchr(text, '='), allowed[PL_CONFIG_ALLOWED];
    long number;
    for (size_t i = 0; value && i < pl_config_count; i++)
        if (strncmp(text, pl_config_table[i].name, (size_t)(value - text)) == 0)
            variable = &pl_config_table[i];
    value = value ? value + 1 : text;
    bool valid = pl_config_parse(variable, value, &number, allowed);
    FUZZ_CHECK(valid == pl_config_is_value(variable, value, &number));
    FUZZ_CHECK(valid || allowed[0]);
    if (valid && (variable->type == PL_CONFIG_LONG || variable->type == PL_CONFIG_SIZE))
        FUZZ_CHECK(number >= variable->lowest && number <= variable->highest);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *words[512];
    struct fuzz from = fuzz_begin(data, size);
    if (!words[0])
        for (size_t i = 0; i < pl_config_count && i < 500; i++)
            words[i] = pl_config_table[i].name;
    if (size > 0 && data[0] == 1) {
        from.at++;
        check_variable(&from);
        return 0;
    }
    const char *text = fuzz_json(&from, words);
    setenv("PLENUM_CONFIG", fuzz_file(text, strlen(text)), 1);
    if (pl_config_load() == MPI_SUCCESS)
        check_values();
    else
        FUZZ_ONE_LINE(pl_error_detail(NULL));
    return 0;
}
