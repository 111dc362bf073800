/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans by a node hierarchy. */
#ifndef PLENUM_CORE_COLL_HIERARCHY_SCAN_H
#define PLENUM_CORE_COLL_HIERARCHY_SCAN_H

#include "core/coll/hierarchy/step.h"

pl_hierarchy_algorithm pl_hierarchy_scan;

#endif
