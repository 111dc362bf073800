/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks are on this node, from the launcher's key PMI_process_mapping. */
#ifndef PLENUM_PLUGINS_PMI_MAPPING_H
#define PLENUM_PLUGINS_PMI_MAPPING_H

/*
 * The mapping is "(vector,(NODE,NODES,RANKS),...)": each block gives NODES nodes, from number NODE on, RANKS consecutive
 * ranks each; the blocks repeat until all ranks have a node.
 *
 * Returns the ranks of the node of `rank`, as "0,1,4", to be freed, and their number. NULL: the text is not a mapping,
 * or memory is short.
 */
char *pl_pmi_mapping_local(const char *mapping, int rank, int size, int *count);

#endif
