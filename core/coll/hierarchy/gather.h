/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather, gatherv and allgatherv by a node hierarchy. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_GATHER_H
#define PLENUM_CORE_COLL_HIERARCHY_GATHER_H

#include "core/coll/hierarchy/step.h"

pl_hierarchy_algorithm pl_hierarchy_gather, pl_hierarchy_gatherv, pl_hierarchy_allgatherv;

#endif
