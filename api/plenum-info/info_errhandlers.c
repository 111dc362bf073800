/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum-info errhandlers: the error handlers by name, and whether the initial one and the policy are valid. */
#include <stdio.h>
#include <stdlib.h>

#include "api/plenum-info/info.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/object/errhandler_policy.h"
#include "core/object/errhandler_registry.h"

static void info_errhandlers_describe_all(json_t *to)
{
    json_t *all = json_array();
    const struct plenum_errhandler_ops *ops;
    const char *name;
    for (size_t n = 0; pl_named_nth(n, &name, &ops); n++)
        json_array_append_new(all, json_pack("{ss ss}", "name", name, "help", ops->help));
    json_object_set_new(to, "errhandlers", all);
    json_object_set_new(to, "initial", json_string(pl_config_text("initial_errhandler")));
    json_object_set_new(to, "policy", json_string(pl_config_text("errhandlers")));
}

static void info_errhandlers_print_text(void)
{
    const struct plenum_errhandler_ops *ops;
    const char *name, *policy = pl_config_text("errhandlers");
    for (size_t n = 0; pl_named_nth(n, &name, &ops); n++)
        printf("%s\n    %s\n", name, ops->help);
    printf("plugin://NAME/ARGUMENT\n    the plugin NAME.so\n");
    printf("initial handler: %s (%s)\n", pl_config_text("initial_errhandler"), pl_config_origin("initial_errhandler"));
    printf("policy: %s (%s)\n", *policy ? policy : "none", pl_config_origin("errhandlers"));
}

static int info_errhandlers_check(void)
{
    struct pl_named initial;
    int err = pl_config_load();
    if (!err)
        err = pl_named_open(pl_config_text("initial_errhandler"), &initial);
    if (err)
        return err;
    pl_named_close(&initial);
    err = pl_errhandler_policy_open();
    pl_errhandler_policy_close();
    return err;
}

int info_errhandlers(json_t *to)
{
    int err = info_errhandlers_check();
    if (err)
        fprintf(stderr, "plenum-info: %s\n", pl_error_detail(NULL));
    if (to)
        info_errhandlers_describe_all(to);
    else
        info_errhandlers_print_text();
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
