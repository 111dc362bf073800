/* SPDX-License-Identifier: BSD-3-Clause */
/* Reordering: grids over machines and parts of them, dealt out badly and well; random graphs; what must not change. */
#include "unit.h"

#include <string.h>

#include "core/comm/topology_reorder.h"

enum { NODES_MAX = 64, EDGES_MAX = 64 * 8 };

static int nnodes, indx[NODES_MAX], edges[EDGES_MAX], placed[NODES_MAX];
static struct pl_location where[NODES_MAX];

static void grid(int rows, int columns)
{
    int count = 0;
    nnodes = rows * columns;
    for (int i = 0; i < nnodes; i++) {
        int row = i / columns, column = i % columns;
        if (row > 0)
            edges[count++] = i - columns;
        if (row < rows - 1)
            edges[count++] = i + columns;
        if (column > 0)
            edges[count++] = i - 1;
        if (column < columns - 1)
            edges[count++] = i + 1;
        indx[i] = count;
    }
}

static void random_graph(uint64_t *state)
{
    int count = 0;
    nnodes = 1 + unit_below(state, NODES_MAX);
    for (int i = 0; i < nnodes; i++) {
        for (int k = unit_below(state, 8); k > 0; k--)
            edges[count++] = unit_below(state, nnodes);
        indx[i] = count;
    }
}

/* Edges between machines and between parts of one, with node i at the process for which placed[process] is i. */
static void count_edges(const int placement[], int *between, int *parts)
{
    int process[NODES_MAX];
    *between = *parts = 0;
    for (int i = 0; i < nnodes; i++)
        process[placement[i]] = i;
    for (int i = 0; i < nnodes; i++)
        for (int e = i ? indx[i - 1] : 0; e < indx[i]; e++) {
            struct pl_location a = where[process[i]], b = where[process[edges[e]]];
            *between += a.node != b.node;
            *parts += a.node == b.node && a.part != b.part;
        }
}

static void reorder(void)
{
    bool seen[NODES_MAX] = { false };
    ck_assert_int_eq(pl_reorder(nnodes, indx, edges, where, placed), MPI_SUCCESS);
    for (int i = 0; i < nnodes; i++) {
        UNIT_CHECK(placed[i] >= 0 && placed[i] < nnodes && !seen[placed[i]]);
        seen[placed[i]] = true;
    }
}

START_TEST(one_place_changes_nothing)
{
    grid(4, 4);
    for (int i = 0; i < nnodes; i++)
        where[i] = (struct pl_location){ 3, -1 };
    reorder();
    for (int i = 0; i < nnodes; i++)
        ck_assert_int_eq(placed[i], i);
}
END_TEST

START_TEST(good_order_stays)
{
    grid(4, 4);
    for (int i = 0; i < nnodes; i++)
        where[i] = (struct pl_location){ i / 8 * 8, -1 };
    reorder();
    for (int i = 0; i < nnodes; i++)
        ck_assert_int_eq(placed[i], i);
}
END_TEST

/* Ranks dealt out by turns to two machines: rows of the grid together cut four edges, each counted from both ends. */
START_TEST(halves)
{
    int between, parts;
    grid(4, 4);
    for (int i = 0; i < nnodes; i++)
        where[i] = (struct pl_location){ i % 2, -1 };
    reorder();
    count_edges(placed, &between, &parts);
    ck_assert_int_eq(between, 2 * 4);
}
END_TEST

/* Four parts of one machine, filled row by row: blocks of two by two cut eight edges, rows cut twelve. */
START_TEST(blocks)
{
    int between, parts;
    grid(4, 4);
    for (int i = 0; i < nnodes; i++)
        where[i] = (struct pl_location){ 0, i / 4 };
    reorder();
    count_edges(placed, &between, &parts);
    ck_assert_int_eq(between, 0);
    ck_assert_int_eq(parts, 2 * 8);
}
END_TEST

/* Never worse than before, and the same every time. */
START_TEST(random_graphs)
{
    uint64_t state = 99;
    for (int time = 0; time < 300; time++) {
        int identity[NODES_MAX], before, before_parts, after, after_parts, first[NODES_MAX];
        random_graph(&state);
        for (int i = 0; i < nnodes; i++) {
            identity[i] = i;
            where[i] = (struct pl_location){ unit_below(&state, 3), unit_below(&state, 3) - 1 };
        }
        reorder();
        memcpy(first, placed, sizeof first);
        reorder();
        UNIT_CHECK(memcmp(first, placed, (size_t)nnodes * sizeof *placed) == 0);
        count_edges(identity, &before, &before_parts);
        count_edges(placed, &after, &after_parts);
        UNIT_CHECK(100 * after + after_parts <= 100 * before + before_parts);
    }
}
END_TEST

UNIT_MAIN("topology_reorder", one_place_changes_nothing, good_order_stays, halves, blocks, random_graphs)
