/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum-info config: the configuration variables, with the value of each and its origin. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/plenum-info/info.h"
#include "core/base/config.h"
#include "core/base/error.h"

static void info_config_print_allowed(const struct pl_config *variable)
{
    switch (variable->type) {
    case PL_CONFIG_TEXT:
        if (variable->choices)
            printf(" [%s]", variable->choices);
        break;
    case PL_CONFIG_LIST: printf(" [list of %s]", variable->choices); break;
    case PL_CONFIG_BOOL: printf(" [yes|no]"); break;
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE: printf(" [%ld to %ld]", variable->lowest, variable->highest); break;
    }
}

static void info_config_print(const struct pl_config *variable)
{
    printf("PLENUM_");
    for (const char *letter = variable->name; *letter; letter++)
        putchar(toupper((unsigned char)*letter));
    printf("=%s (%s)\n    %s", pl_config_text(variable->name), pl_config_origin(variable->name), variable->help);
    info_config_print_allowed(variable);
    putchar('\n');
}

static json_t *info_config_describe(const struct pl_config *variable)
{
    json_t *object =
        json_pack("{ss ss ss ss ss}", "name", variable->name, "value", pl_config_text(variable->name), "origin",
                  pl_config_origin(variable->name), "default", variable->standard, "help", variable->help);
    if (object && variable->choices)
        json_object_set_new(object, "choices", json_string(variable->choices));
    return object;
}

static json_t *info_config_describe_all(void)
{
    json_t *all = json_array();
    for (size_t i = 0; i < pl_config_count; i++)
        json_array_append_new(all, info_config_describe(&pl_config_table[i]));
    return all;
}

/* Reports an error in the configuration. The values shown are then the defaults. */
int info_config(json_t *to)
{
    char warning[512];
    int err = pl_config_load();
    if (err)
        fprintf(stderr, "plenum-info: %s\n", pl_error_detail(NULL));
    pl_config_warning(warning, sizeof warning);
    if (warning[0])
        fprintf(stderr, "plenum-info: %s\n", warning);
    if (to)
        json_object_set_new(to, "variables", info_config_describe_all());
    for (size_t i = 0; !to && i < pl_config_count; i++)
        info_config_print(&pl_config_table[i]);
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
