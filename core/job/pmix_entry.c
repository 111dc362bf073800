/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/pmix_entry.h"

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/job/tenant.h"
#include "core/object/plugin.h"

static const struct pl_bootstrap_host pmix_host = { .fail = pl_fail, .log = pl_log, .tenant = pl_tenant_name };
static const struct pl_bootstrap_ops *plugin;

static const struct pl_bootstrap_ops *pmix_entry(void)
{
    plugin->attach(&pmix_host);
    return plugin;
}

static int pmix_entry_open(struct pl_identity *identity)
{
    return pmix_entry()->open(identity);
}

static void pmix_entry_close(void)
{
    pmix_entry()->close();
}

static int pmix_entry_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    return pmix_entry()->publish(slot, card, length);
}

static int pmix_entry_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    return pmix_entry()->lookup(rank, slot, card, length);
}

static void pmix_entry_abort(int code, const char *object, const char *message)
{
    pmix_entry()->abort(code, object, message);
}

static void pmix_entry_state(enum pl_process_state state)
{
    pmix_entry()->state(state);
}

static int pmix_entry_psets(int (*found)(void *to, const char *name, const int *ranks, int count), void *to)
{
    return pmix_entry()->psets(found, to);
}

static int pmix_entry_publish_name(const char *name, const char *value)
{
    return pmix_entry()->publish_name(name, value);
}

static int pmix_entry_withdraw_name(const char *name)
{
    return pmix_entry()->withdraw_name(name);
}

static int pmix_entry_find_name(const char *name, char *value, size_t capacity)
{
    return pmix_entry()->find_name(name, value, capacity);
}

static const struct pl_bootstrap_ops pmix_entry_ops = {
    .abi = PL_BOOTSTRAP_ABI,
    .name = "pmix",
    .open = pmix_entry_open,
    .close = pmix_entry_close,
    .publish = pmix_entry_publish,
    .lookup = pmix_entry_lookup,
    .abort = pmix_entry_abort,
    .state = pmix_entry_state,
    .psets = pmix_entry_psets,
    .publish_name = pmix_entry_publish_name,
    .withdraw_name = pmix_entry_withdraw_name,
    .find_name = pmix_entry_find_name,
};

const struct pl_bootstrap_ops *pl_pmix_entry_load(void)
{
    plugin = pl_plugin_load("pmix", PL_BOOTSTRAP_SYMBOL);
    return plugin ? &pmix_entry_ops : NULL;
}
