/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the performance variables, for the categories; and the end of their sessions. */
#ifndef PLENUM_API_TOOL_PVAR_H
#define PLENUM_API_TOOL_PVAR_H

const char *pl_tool_pvar_name(int index);
int pl_tool_pvar_count(void);

/* At the last MPI_T_finalize: frees all sessions. */
void pl_tool_pvar_sessions_end(void);

#endif
