/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of ranks by their places: with any root it is a tree, and has as few links between places as can be. */
#include "unit.h"

#include "core/coll/area/tree.h"

enum { RANKS = PL_TREE_RANKS, DRAWS = 300 };

static struct pl_area_tree trees[RANKS]; /* of each rank */
static struct pl_area_place places[RANKS];
static uint64_t state = 20261125;

static void make_trees(int size)
{
    for (int rank = 0; rank < size; rank++)
        pl_area_tree_make(&trees[rank], rank, size, places);
}

/* How many different packages, nodes, or caches there are. */
static int count_places(int size, int level)
{
    int count = 0;
    for (int i = 0; i < size; i++) {
        int before = 0;
        while (before < i &&
               (places[before].package != places[i].package || (level > 0 && places[before].node != places[i].node) ||
                (level > 1 && places[before].cache != places[i].cache)))
            before++;
        count += before == i;
    }
    return count;
}

static bool crosses(int a, int b, int level)
{
    return places[a].package != places[b].package || (level > 0 && places[a].node != places[b].node) ||
           (level > 1 && places[a].cache != places[b].cache);
}

/* Each child names its parent, which names it; all paths end at the root. */
static void check_links(int size, int root)
{
    int links = 0, crossings[3] = { 0 };
    for (int rank = 0; rank < size; rank++) {
        struct pl_area_links own = pl_area_tree_links(&trees[rank], root);
        int at = rank, steps = 0;
        ck_assert_int_eq(own.parent < 0, rank == root);
        for (int i = 0; i < own.children; i++, links++) {
            int child = own.child[i];
            ck_assert_int_eq(pl_area_tree_links(&trees[child], root).parent, rank);
            for (int level = 0; level < 3; level++)
                crossings[level] += crosses(rank, child, level);
        }
        while (at != root && steps++ < PL_TREE_LEVELS)
            at = pl_area_tree_links(&trees[at], root).parent;
        ck_assert_int_eq(at, root);
    }
    ck_assert_int_eq(links, size - 1);
    for (int level = 0; level < 3; level++)
        ck_assert_int_eq(crossings[level], count_places(size, level) - 1);
}

static void check_tree(int size)
{
    make_trees(size);
    for (int draw = 0; draw < 3; draw++)
        check_links(size, unit_below(&state, size));
    check_links(size, 0);
    check_links(size, size - 1);
}

START_TEST(test_drawn)
{
    for (int draw = 0; draw < DRAWS; draw++) {
        int size = 1 + unit_below(&state, draw % 10 ? 40 : RANKS), caches = 1 + unit_below(&state, 12);
        for (int i = 0; i < size; i++) {
            int cache = draw % 2 ? i * caches / size : unit_below(&state, caches);
            places[i] = (struct pl_area_place){ .package = cache / 4, .node = cache / 2, .cache = cache };
            if (draw % 3 == 0 && unit_below(&state, 4) == 0)
                places[i].cache = -1;
        }
        check_tree(size);
    }
}
END_TEST

/* No rank meets more than a part of the ranks of its cache, and the leaders of the other parts. */
START_TEST(test_parts)
{
    for (int size = 1; size <= RANKS; size++) {
        memset(places, 0, sizeof places);
        check_tree(size);
        int parts = (size + PL_TREE_PART - 1) / PL_TREE_PART;
        for (int rank = 0; rank < size; rank++)
            ck_assert_int_le(pl_area_tree_links(&trees[rank], 0).children, PL_TREE_PART - 1 + parts - 1);
    }
}
END_TEST

START_TEST(test_count)
{
    for (int i = 0; i < 24; i++)
        places[i] = (struct pl_area_place){ .package = i / 12, .node = i / 6, .cache = i / 3 };
    ck_assert_int_eq(pl_area_tree_make(&trees[0], 0, 24, places), 8);
    ck_assert_int_eq(pl_area_tree_make(&trees[0], 0, 3, places), 1);
    ck_assert_int_eq(pl_area_tree_make(&trees[0], 0, 4, places), 2);
}
END_TEST

UNIT_MAIN("area_tree", test_drawn, test_parts, test_count)
