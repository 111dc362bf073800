/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of an area's ranks by their places: the ranks of a cache belong together, the caches of a NUMA node, the
 * nodes of a package, the packages. Of each such group one rank, its leader, has links out of the group. So what goes
 * through the tree crosses from one group to another once, where flat operations take each line to each cache.
 *
 * The tree is rooted at any rank: the root leads all groups that it is in, and the lowest rank the others. A rank's
 * children lead the groups beside its own, from the innermost level up to the one where it does not lead itself.
 */
#ifndef PLENUM_CORE_COLL_AREA_TREE_H
#define PLENUM_CORE_COLL_AREA_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/coll/area/place.h"

/* Levels: all ranks, package, NUMA node, cache, and a part of the ranks of a cache. */
enum { PL_TREE_LEVELS = 5, PL_TREE_RANKS = 256, PL_TREE_PART = 8 /* ranks at most that a leader meets in a part */ };

struct pl_area_tree {
    int rank;
    uint16_t first[PL_TREE_LEVELS][PL_TREE_RANKS]; /* of each rank's group at a level: its lowest rank */
    uint16_t kin[PL_TREE_RANKS];                   /* ranks that lead the groups beside this rank's, innermost first */
    int kin_end[PL_TREE_LEVELS];                   /* where those of each level end */
};

/* For `rank` of `size` ranks with these places. Returns the number of caches. */
int pl_area_tree_make(struct pl_area_tree *tree, int rank, int size, const struct pl_area_place *places);

/* This rank's links in the tree with that root. */
struct pl_area_links {
    int parent; /* -1: this rank is the root */
    int children;
    const uint16_t *child; /* [children] */
};

static inline struct pl_area_links pl_area_tree_links(const struct pl_area_tree *tree, int root)
{
    int rank = tree->rank, level = PL_TREE_LEVELS - 1;
    for (; level >= 0; level--) {
        const uint16_t *first = tree->first[level];
        int leader = first[root] == first[rank] ? root : first[rank];
        if (leader != rank)
            return (struct pl_area_links){ leader, level < PL_TREE_LEVELS - 1 ? tree->kin_end[level + 1] : 0,
                                           tree->kin };
    }
    return (struct pl_area_links){ -1, tree->kin_end[0], tree->kin };
}

#endif
