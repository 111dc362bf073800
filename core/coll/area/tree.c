/* SPDX-License-Identifier: BSD-3-Clause */
/* See tree.h. */
#include "core/coll/area/tree.h"

#include <string.h>

static int32_t tree_key(const struct pl_area_place *place, int level)
{
    return level == 1 ? place->package : level == 2 ? place->node : place->cache;
}

/* The groups of a level are those of the level above, divided by place. Most ranks are in the group of the rank before
 * them. Returns how many there are. */
static int tree_divide(struct pl_area_tree *tree, int level, int size, const struct pl_area_place *places)
{
    const uint16_t *outer = tree->first[level - 1];
    uint16_t *first = tree->first[level];
    int groups = 0;
    for (int i = 0; i < size; i++) {
        int other = i > 0 ? first[i - 1] : i;
        for (int tried = 0; tried <= i; tried++, other = tried - 1)
            if (other == i || (first[other] == other && outer[other] == outer[i] &&
                               tree_key(&places[other], level) == tree_key(&places[i], level)))
                break;
        first[i] = (uint16_t)other;
        groups += other == i;
    }
    return groups;
}

/* Groups of more ranks than a leader should meet are divided into equal parts, in the order of the ranks. */
static void tree_divide_in_parts(struct pl_area_tree *tree, int size)
{
    const uint16_t *outer = tree->first[PL_TREE_LEVELS - 2];
    uint16_t *first = tree->first[PL_TREE_LEVELS - 1], count[PL_TREE_RANKS] = { 0 }, met[PL_TREE_RANKS] = { 0 },
             last[PL_TREE_RANKS];
    for (int i = 0; i < size; i++)
        count[outer[i]]++;
    for (int i = 0; i < size; i++) {
        int group = outer[i], parts = (count[group] + PL_TREE_PART - 1) / PL_TREE_PART,
            each = (count[group] + parts - 1) / parts;
        bool begins = met[group]++ % each == 0;
        if (begins)
            last[group] = (uint16_t)i;
        first[i] = last[group];
    }
}

/* The leaders of the groups of the next level that are in this rank's group, but not of its own. */
static int tree_add_kin(struct pl_area_tree *tree, int level, int size, int at)
{
    bool innermost = level == PL_TREE_LEVELS - 1;
    const uint16_t *group = tree->first[level], *inner = innermost ? NULL : tree->first[level + 1];
    for (int i = 0; i < size; i++) {
        bool leads = innermost ? i != tree->rank : inner[i] == i && inner[i] != inner[tree->rank];
        if (leads && group[i] == group[tree->rank])
            tree->kin[at++] = (uint16_t)i;
    }
    return at;
}

int pl_area_tree_make(struct pl_area_tree *tree, int rank, int size, const struct pl_area_place *places)
{
    int at = 0, groups = 1;
    tree->rank = rank;
    memset(tree->first[0], 0, sizeof tree->first[0]);
    for (int level = 1; level < PL_TREE_LEVELS - 1; level++)
        groups = tree_divide(tree, level, size, places);
    tree_divide_in_parts(tree, size);
    for (int level = PL_TREE_LEVELS - 1; level >= 0; level--)
        tree->kin_end[level] = at = tree_add_kin(tree, level, size, at);
    return groups;
}
