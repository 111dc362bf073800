/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the control variables, for the categories. */
#ifndef PLENUM_API_TOOL_CVAR_H
#define PLENUM_API_TOOL_CVAR_H

const char *pl_tool_cvar_name(int index);
int pl_tool_cvar_count(void);

#endif
