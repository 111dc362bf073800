/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of the 662 functions of MPI 5.0, one list for each file of public functions (api/p2p.c has
 * PL_NAMES_P2P); PL_NAMES is all of them. Each function is in exactly one list. A list takes the macro to apply.
 */
#ifndef PLENUM_API_NAMES_H
#define PLENUM_API_NAMES_H

/* clang-format off */
/* Point-to-point communication */
#define PL_NAMES_P2P(X) \
    X(MPI_Bsend) X(MPI_Bsend_c) X(MPI_Bsend_init) X(MPI_Bsend_init_c) X(MPI_Ibsend) X(MPI_Ibsend_c) X(MPI_Irecv) \
    X(MPI_Irecv_c) X(MPI_Irsend) X(MPI_Irsend_c) X(MPI_Isend) X(MPI_Isend_c) X(MPI_Issend) X(MPI_Issend_c) \
    X(MPI_Recv) X(MPI_Recv_c) X(MPI_Recv_init) X(MPI_Recv_init_c) X(MPI_Rsend) X(MPI_Rsend_c) \
    X(MPI_Rsend_init) X(MPI_Rsend_init_c) X(MPI_Send) X(MPI_Send_c) X(MPI_Send_init) X(MPI_Send_init_c) \
    X(MPI_Ssend) X(MPI_Ssend_c) X(MPI_Ssend_init) X(MPI_Ssend_init_c)

/* Send and receive in one */
#define PL_NAMES_SENDRECV(X) \
    X(MPI_Isendrecv) X(MPI_Isendrecv_c) X(MPI_Isendrecv_replace) X(MPI_Isendrecv_replace_c) X(MPI_Sendrecv) \
    X(MPI_Sendrecv_c) X(MPI_Sendrecv_replace) X(MPI_Sendrecv_replace_c)

/* Buffers for buffered sends */
#define PL_NAMES_BUFFER(X) \
    X(MPI_Buffer_attach) X(MPI_Buffer_attach_c) X(MPI_Buffer_detach) X(MPI_Buffer_detach_c) X(MPI_Buffer_flush) \
    X(MPI_Buffer_iflush) X(MPI_Comm_attach_buffer) X(MPI_Comm_attach_buffer_c) X(MPI_Comm_detach_buffer) \
    X(MPI_Comm_detach_buffer_c) X(MPI_Comm_flush_buffer) X(MPI_Comm_iflush_buffer) X(MPI_Session_attach_buffer) \
    X(MPI_Session_attach_buffer_c) X(MPI_Session_detach_buffer) X(MPI_Session_detach_buffer_c) \
    X(MPI_Session_flush_buffer) X(MPI_Session_iflush_buffer)

/* Probes and matched receives */
#define PL_NAMES_PROBE(X) \
    X(MPI_Probe) X(MPI_Improbe) X(MPI_Imrecv) X(MPI_Imrecv_c) X(MPI_Iprobe) X(MPI_Mprobe) X(MPI_Mrecv) X(MPI_Mrecv_c)

/* Requests: completion, persistence, cancellation; generalized requests */
#define PL_NAMES_REQUEST(X) \
    X(MPI_Cancel) X(MPI_Grequest_complete) X(MPI_Grequest_start) X(MPI_Request_free) X(MPI_Request_get_status) \
    X(MPI_Start) X(MPI_Startall) X(MPI_Test) X(MPI_Test_cancelled) X(MPI_Wait)

/* Requests: many at once */
#define PL_NAMES_REQUESTS(X) \
    X(MPI_Request_get_status_all) X(MPI_Request_get_status_any) X(MPI_Request_get_status_some) X(MPI_Testall) \
    X(MPI_Testany) X(MPI_Testsome) X(MPI_Waitall) X(MPI_Waitany) X(MPI_Waitsome)

/* Statuses */
#define PL_NAMES_STATUS(X) \
    X(MPI_Get_count) X(MPI_Get_count_c) X(MPI_Get_elements) X(MPI_Get_elements_c) X(MPI_Get_elements_x) \
    X(MPI_Status_get_error) X(MPI_Status_get_source) X(MPI_Status_get_tag) X(MPI_Status_set_cancelled) \
    X(MPI_Status_set_elements) X(MPI_Status_set_elements_c) X(MPI_Status_set_elements_x) X(MPI_Status_set_error) \
    X(MPI_Status_set_source) X(MPI_Status_set_tag)

/* Partitioned communication */
#define PL_NAMES_PARTITIONED(X) \
    X(MPI_Parrived) X(MPI_Pready) X(MPI_Pready_list) X(MPI_Pready_range) X(MPI_Precv_init) \
    X(MPI_Psend_init)

/* Datatypes: constructors */
#define PL_NAMES_DATATYPE(X) \
    X(MPI_Type_commit) X(MPI_Type_contiguous) X(MPI_Type_contiguous_c) X(MPI_Type_create_hindexed) \
    X(MPI_Type_create_hindexed_block) X(MPI_Type_create_hindexed_block_c) X(MPI_Type_create_hindexed_c) \
    X(MPI_Type_create_hvector) X(MPI_Type_create_hvector_c) X(MPI_Type_create_indexed_block) \
    X(MPI_Type_create_indexed_block_c) X(MPI_Type_create_resized) X(MPI_Type_create_resized_c) \
    X(MPI_Type_create_struct) X(MPI_Type_create_struct_c) X(MPI_Type_dup) X(MPI_Type_free) X(MPI_Type_indexed) \
    X(MPI_Type_indexed_c) X(MPI_Type_vector) X(MPI_Type_vector_c)

/* Datatypes: parts of arrays */
#define PL_NAMES_DATATYPE_ARRAY(X) \
    X(MPI_Type_create_darray) X(MPI_Type_create_darray_c) X(MPI_Type_create_subarray) X(MPI_Type_create_subarray_c)

/* Datatypes: sizes, contents, names, addresses */
#define PL_NAMES_DATATYPE_QUERY(X) \
    X(MPI_Aint_add) X(MPI_Aint_diff) X(MPI_Get_address) X(MPI_Type_create_f90_complex) X(MPI_Type_create_f90_integer) \
    X(MPI_Type_create_f90_real) X(MPI_Type_get_contents) X(MPI_Type_get_contents_c) X(MPI_Type_get_envelope) \
    X(MPI_Type_get_envelope_c) X(MPI_Type_get_extent) X(MPI_Type_get_extent_c) X(MPI_Type_get_extent_x) \
    X(MPI_Type_get_name) X(MPI_Type_get_true_extent) X(MPI_Type_get_true_extent_c) X(MPI_Type_get_true_extent_x) \
    X(MPI_Type_get_value_index) X(MPI_Type_match_size) X(MPI_Type_set_name) X(MPI_Type_size) X(MPI_Type_size_c) \
    X(MPI_Type_size_x)

/* Packing */
#define PL_NAMES_PACK(X) \
    X(MPI_Pack) X(MPI_Pack_c) X(MPI_Pack_external) X(MPI_Pack_external_c) X(MPI_Pack_external_size) \
    X(MPI_Pack_external_size_c) X(MPI_Pack_size) X(MPI_Pack_size_c) X(MPI_Unpack) X(MPI_Unpack_c) \
    X(MPI_Unpack_external) X(MPI_Unpack_external_c)

/* Collectives, blocking */
#define PL_NAMES_COLLECTIVE(X) \
    X(MPI_Allgather) X(MPI_Allgather_c) X(MPI_Allgatherv) X(MPI_Allgatherv_c) X(MPI_Allreduce) X(MPI_Allreduce_c) \
    X(MPI_Alltoall) X(MPI_Alltoall_c) X(MPI_Alltoallv) X(MPI_Alltoallv_c) X(MPI_Alltoallw) X(MPI_Alltoallw_c) \
    X(MPI_Barrier) X(MPI_Bcast) X(MPI_Bcast_c) X(MPI_Exscan) X(MPI_Exscan_c) X(MPI_Gather) X(MPI_Gather_c) \
    X(MPI_Gatherv) X(MPI_Gatherv_c) X(MPI_Reduce) X(MPI_Reduce_c) X(MPI_Reduce_scatter) X(MPI_Reduce_scatter_block) \
    X(MPI_Reduce_scatter_block_c) X(MPI_Reduce_scatter_c) X(MPI_Scan) X(MPI_Scan_c) X(MPI_Scatter) X(MPI_Scatter_c) \
    X(MPI_Scatterv) X(MPI_Scatterv_c)

/* Collectives, nonblocking */
#define PL_NAMES_ICOLLECTIVE(X) \
    X(MPI_Iallgather) X(MPI_Iallgather_c) X(MPI_Iallgatherv) X(MPI_Iallgatherv_c) X(MPI_Iallreduce) \
    X(MPI_Iallreduce_c) X(MPI_Ialltoall) X(MPI_Ialltoall_c) X(MPI_Ialltoallv) X(MPI_Ialltoallv_c) X(MPI_Ialltoallw) \
    X(MPI_Ialltoallw_c) X(MPI_Ibarrier) X(MPI_Ibcast) X(MPI_Ibcast_c) X(MPI_Iexscan) X(MPI_Iexscan_c) X(MPI_Igather) \
    X(MPI_Igather_c) X(MPI_Igatherv) X(MPI_Igatherv_c) X(MPI_Ireduce) X(MPI_Ireduce_c) X(MPI_Ireduce_scatter) \
    X(MPI_Ireduce_scatter_block) X(MPI_Ireduce_scatter_block_c) X(MPI_Ireduce_scatter_c) X(MPI_Iscan) X(MPI_Iscan_c) \
    X(MPI_Iscatter) X(MPI_Iscatter_c) X(MPI_Iscatterv) X(MPI_Iscatterv_c)

/* Collectives, persistent */
#define PL_NAMES_PCOLLECTIVE(X) \
    X(MPI_Allgather_init) X(MPI_Allgather_init_c) X(MPI_Allgatherv_init) X(MPI_Allgatherv_init_c) \
    X(MPI_Allreduce_init) X(MPI_Allreduce_init_c) X(MPI_Alltoall_init) X(MPI_Alltoall_init_c) X(MPI_Alltoallv_init) \
    X(MPI_Alltoallv_init_c) X(MPI_Alltoallw_init) X(MPI_Alltoallw_init_c) X(MPI_Barrier_init) X(MPI_Bcast_init) \
    X(MPI_Bcast_init_c) X(MPI_Exscan_init) X(MPI_Exscan_init_c) X(MPI_Gather_init) X(MPI_Gather_init_c) \
    X(MPI_Gatherv_init) X(MPI_Gatherv_init_c) X(MPI_Reduce_init) X(MPI_Reduce_init_c) \
    X(MPI_Reduce_scatter_block_init) X(MPI_Reduce_scatter_block_init_c) X(MPI_Reduce_scatter_init) \
    X(MPI_Reduce_scatter_init_c) X(MPI_Scan_init) X(MPI_Scan_init_c) X(MPI_Scatter_init) X(MPI_Scatter_init_c) \
    X(MPI_Scatterv_init) X(MPI_Scatterv_init_c)

/* Reduction operations */
#define PL_NAMES_OP(X) \
    X(MPI_Op_commutative) X(MPI_Op_create) X(MPI_Op_create_c) X(MPI_Op_free) X(MPI_Reduce_local) \
    X(MPI_Reduce_local_c)

/* Groups */
#define PL_NAMES_GROUP(X) \
    X(MPI_Group_compare) X(MPI_Group_difference) X(MPI_Group_excl) X(MPI_Group_free) X(MPI_Group_incl) \
    X(MPI_Group_intersection) X(MPI_Group_range_excl) X(MPI_Group_range_incl) X(MPI_Group_rank) X(MPI_Group_size) \
    X(MPI_Group_translate_ranks) X(MPI_Group_union)

/* Communicators */
#define PL_NAMES_COMM(X) \
    X(MPI_Comm_compare) X(MPI_Comm_create) X(MPI_Comm_create_from_group) X(MPI_Comm_create_group) X(MPI_Comm_dup) \
    X(MPI_Comm_dup_with_info) X(MPI_Comm_free) X(MPI_Comm_get_info) X(MPI_Comm_get_name) X(MPI_Comm_group) \
    X(MPI_Comm_idup) X(MPI_Comm_idup_with_info) X(MPI_Comm_rank) X(MPI_Comm_remote_group) X(MPI_Comm_remote_size) \
    X(MPI_Comm_set_info) X(MPI_Comm_set_name) X(MPI_Comm_size) X(MPI_Comm_split) X(MPI_Comm_split_type) \
    X(MPI_Comm_test_inter) X(MPI_Intercomm_create) X(MPI_Intercomm_create_from_groups) X(MPI_Intercomm_merge)

/* Attributes of communicators, datatypes and windows */
#define PL_NAMES_ATTR(X) \
    X(MPI_Attr_delete) X(MPI_Attr_get) X(MPI_Attr_put) X(MPI_Comm_create_keyval) X(MPI_Comm_delete_attr) \
    X(MPI_Comm_free_keyval) X(MPI_Comm_get_attr) X(MPI_Comm_set_attr) X(MPI_Keyval_create) X(MPI_Keyval_free) \
    X(MPI_Type_create_keyval) X(MPI_Type_delete_attr) X(MPI_Type_free_keyval) X(MPI_Type_get_attr) \
    X(MPI_Type_set_attr) X(MPI_Win_create_keyval) X(MPI_Win_delete_attr) X(MPI_Win_free_keyval) X(MPI_Win_get_attr) \
    X(MPI_Win_set_attr)

/* Process topologies: grids */
#define PL_NAMES_TOPOLOGY(X) \
    X(MPI_Cart_coords) X(MPI_Cart_create) X(MPI_Cart_get) X(MPI_Cart_map) X(MPI_Cart_rank) X(MPI_Cart_shift) \
    X(MPI_Cart_sub) X(MPI_Cartdim_get) X(MPI_Dims_create) X(MPI_Topo_test)

/* Process topologies: graphs */
#define PL_NAMES_GRAPH(X) \
    X(MPI_Dist_graph_create) X(MPI_Dist_graph_create_adjacent) X(MPI_Dist_graph_neighbors) \
    X(MPI_Dist_graph_neighbors_count) X(MPI_Graph_create) X(MPI_Graph_get) X(MPI_Graph_map) X(MPI_Graph_neighbors) \
    X(MPI_Graph_neighbors_count) X(MPI_Graphdims_get)

/* Neighborhood collectives */
#define PL_NAMES_NEIGHBORHOOD(X) \
    X(MPI_Ineighbor_allgather) X(MPI_Ineighbor_allgather_c) X(MPI_Ineighbor_allgatherv) \
    X(MPI_Ineighbor_allgatherv_c) X(MPI_Ineighbor_alltoall) X(MPI_Ineighbor_alltoall_c) X(MPI_Ineighbor_alltoallv) \
    X(MPI_Ineighbor_alltoallv_c) X(MPI_Ineighbor_alltoallw) X(MPI_Ineighbor_alltoallw_c) X(MPI_Neighbor_allgather) \
    X(MPI_Neighbor_allgather_c) X(MPI_Neighbor_allgather_init) X(MPI_Neighbor_allgather_init_c) \
    X(MPI_Neighbor_allgatherv) X(MPI_Neighbor_allgatherv_c) X(MPI_Neighbor_allgatherv_init) \
    X(MPI_Neighbor_allgatherv_init_c) X(MPI_Neighbor_alltoall) X(MPI_Neighbor_alltoall_c) \
    X(MPI_Neighbor_alltoall_init) X(MPI_Neighbor_alltoall_init_c) X(MPI_Neighbor_alltoallv) \
    X(MPI_Neighbor_alltoallv_c) X(MPI_Neighbor_alltoallv_init) X(MPI_Neighbor_alltoallv_init_c) \
    X(MPI_Neighbor_alltoallw) X(MPI_Neighbor_alltoallw_c) X(MPI_Neighbor_alltoallw_init) \
    X(MPI_Neighbor_alltoallw_init_c)

/* Environment: versions, memory, clock */
#define PL_NAMES_ENV(X) \
    X(MPI_Alloc_mem) X(MPI_Free_mem) X(MPI_Get_hw_resource_info) X(MPI_Get_library_version) \
    X(MPI_Get_processor_name) X(MPI_Get_version) X(MPI_Pcontrol) X(MPI_Wtick) X(MPI_Wtime)

/* Error classes and codes, error handlers */
#define PL_NAMES_ERROR(X) \
    X(MPI_Add_error_class) X(MPI_Add_error_code) X(MPI_Add_error_string) X(MPI_Comm_call_errhandler) \
    X(MPI_Comm_create_errhandler) X(MPI_Comm_get_errhandler) X(MPI_Comm_set_errhandler) X(MPI_Errhandler_free) \
    X(MPI_Error_class) X(MPI_Error_string) X(MPI_File_call_errhandler) X(MPI_File_create_errhandler) \
    X(MPI_File_get_errhandler) X(MPI_File_set_errhandler) X(MPI_Remove_error_class) X(MPI_Remove_error_code) \
    X(MPI_Remove_error_string) X(MPI_Session_call_errhandler) X(MPI_Session_create_errhandler) \
    X(MPI_Session_get_errhandler) X(MPI_Session_set_errhandler) X(MPI_Win_call_errhandler) \
    X(MPI_Win_create_errhandler) X(MPI_Win_get_errhandler) X(MPI_Win_set_errhandler)

/* Info objects */
#define PL_NAMES_INFO(X) \
    X(MPI_Info_create) X(MPI_Info_create_env) X(MPI_Info_delete) X(MPI_Info_dup) X(MPI_Info_free) X(MPI_Info_get) \
    X(MPI_Info_get_nkeys) X(MPI_Info_get_nthkey) X(MPI_Info_get_string) X(MPI_Info_get_valuelen) X(MPI_Info_set)

/* The World model */
#define PL_NAMES_WORLD(X) \
    X(MPI_Abort) X(MPI_Finalize) X(MPI_Finalized) X(MPI_Init) X(MPI_Init_thread) X(MPI_Initialized) \
    X(MPI_Is_thread_main) X(MPI_Query_thread)

/* The Sessions model */
#define PL_NAMES_SESSION(X) \
    X(MPI_Group_from_session_pset) X(MPI_Session_finalize) X(MPI_Session_get_info) X(MPI_Session_get_nth_pset) \
    X(MPI_Session_get_num_psets) X(MPI_Session_get_pset_info) X(MPI_Session_init)

/* Dynamic processes */
#define PL_NAMES_SPAWN(X) \
    X(MPI_Close_port) X(MPI_Comm_accept) X(MPI_Comm_connect) X(MPI_Comm_disconnect) X(MPI_Comm_get_parent) \
    X(MPI_Comm_join) X(MPI_Comm_spawn) X(MPI_Comm_spawn_multiple) X(MPI_Lookup_name) X(MPI_Open_port) \
    X(MPI_Publish_name) X(MPI_Unpublish_name)

/* One-sided communication: windows */
#define PL_NAMES_WIN(X) \
    X(MPI_Win_allocate) X(MPI_Win_allocate_c) X(MPI_Win_allocate_shared) X(MPI_Win_allocate_shared_c) \
    X(MPI_Win_attach) X(MPI_Win_create) X(MPI_Win_create_c) X(MPI_Win_create_dynamic) X(MPI_Win_detach) \
    X(MPI_Win_free) X(MPI_Win_get_group) X(MPI_Win_get_info) X(MPI_Win_get_name) X(MPI_Win_set_info) \
    X(MPI_Win_set_name) X(MPI_Win_shared_query) X(MPI_Win_shared_query_c)

/* One-sided communication: synchronization */
#define PL_NAMES_WIN_SYNC(X) \
    X(MPI_Win_complete) X(MPI_Win_fence) X(MPI_Win_flush) X(MPI_Win_flush_all) X(MPI_Win_flush_local) \
    X(MPI_Win_flush_local_all) X(MPI_Win_lock) X(MPI_Win_lock_all) X(MPI_Win_post) X(MPI_Win_start) X(MPI_Win_sync) \
    X(MPI_Win_test) X(MPI_Win_unlock) X(MPI_Win_unlock_all) X(MPI_Win_wait)

/* One-sided communication: operations */
#define PL_NAMES_RMA(X) \
    X(MPI_Accumulate) X(MPI_Accumulate_c) X(MPI_Compare_and_swap) X(MPI_Fetch_and_op) X(MPI_Get) \
    X(MPI_Get_accumulate) X(MPI_Get_accumulate_c) X(MPI_Get_c) X(MPI_Put) X(MPI_Put_c) X(MPI_Raccumulate) \
    X(MPI_Raccumulate_c) X(MPI_Rget) X(MPI_Rget_accumulate) X(MPI_Rget_accumulate_c) X(MPI_Rget_c) X(MPI_Rput) \
    X(MPI_Rput_c)

/* Files: management */
#define PL_NAMES_FILE(X) \
    X(MPI_File_close) X(MPI_File_delete) X(MPI_File_get_amode) X(MPI_File_get_atomicity) X(MPI_File_get_group) \
    X(MPI_File_get_info) X(MPI_File_get_size) X(MPI_File_open) X(MPI_File_preallocate) X(MPI_File_set_atomicity) \
    X(MPI_File_set_info) X(MPI_File_set_size) X(MPI_File_sync)

/* Files: views, pointers, data representations */
#define PL_NAMES_FILE_VIEW(X) \
    X(MPI_File_get_byte_offset) X(MPI_File_get_position) X(MPI_File_get_position_shared) X(MPI_File_get_type_extent) \
    X(MPI_File_get_type_extent_c) X(MPI_File_get_view) X(MPI_File_seek) X(MPI_File_seek_shared) X(MPI_File_set_view) \
    X(MPI_Register_datarep) X(MPI_Register_datarep_c)

/* Files: reading and writing */
#define PL_NAMES_FILE_IO(X) \
    X(MPI_File_read) X(MPI_File_read_all) X(MPI_File_read_all_c) X(MPI_File_read_at) X(MPI_File_read_at_all) \
    X(MPI_File_read_at_all_c) X(MPI_File_read_at_c) X(MPI_File_read_c) X(MPI_File_read_ordered) \
    X(MPI_File_read_ordered_c) X(MPI_File_read_shared) X(MPI_File_read_shared_c) X(MPI_File_write) \
    X(MPI_File_write_all) X(MPI_File_write_all_c) X(MPI_File_write_at) X(MPI_File_write_at_all) \
    X(MPI_File_write_at_all_c) X(MPI_File_write_at_c) X(MPI_File_write_c) X(MPI_File_write_ordered) \
    X(MPI_File_write_ordered_c) X(MPI_File_write_shared) X(MPI_File_write_shared_c)

/* Files: nonblocking and split accesses */
#define PL_NAMES_FILE_START(X) \
    X(MPI_File_iread) X(MPI_File_iread_all) X(MPI_File_iread_all_c) X(MPI_File_iread_at) X(MPI_File_iread_at_all) \
    X(MPI_File_iread_at_all_c) X(MPI_File_iread_at_c) X(MPI_File_iread_c) X(MPI_File_iread_shared) \
    X(MPI_File_iread_shared_c) X(MPI_File_iwrite) X(MPI_File_iwrite_all) X(MPI_File_iwrite_all_c) \
    X(MPI_File_iwrite_at) X(MPI_File_iwrite_at_all) X(MPI_File_iwrite_at_all_c) X(MPI_File_iwrite_at_c) \
    X(MPI_File_iwrite_c) X(MPI_File_iwrite_shared) X(MPI_File_iwrite_shared_c) X(MPI_File_read_all_begin) \
    X(MPI_File_read_all_begin_c) X(MPI_File_read_all_end) X(MPI_File_read_at_all_begin) \
    X(MPI_File_read_at_all_begin_c) X(MPI_File_read_at_all_end) X(MPI_File_read_ordered_begin) \
    X(MPI_File_read_ordered_begin_c) X(MPI_File_read_ordered_end) X(MPI_File_write_all_begin) \
    X(MPI_File_write_all_begin_c) X(MPI_File_write_all_end) X(MPI_File_write_at_all_begin) \
    X(MPI_File_write_at_all_begin_c) X(MPI_File_write_at_all_end) X(MPI_File_write_ordered_begin) \
    X(MPI_File_write_ordered_begin_c) X(MPI_File_write_ordered_end)

/* The tool information interface */
#define PL_NAMES_TOOL(X) \
    X(MPI_T_enum_get_info) X(MPI_T_enum_get_item) X(MPI_T_event_callback_get_info) X(MPI_T_event_callback_set_info) \
    X(MPI_T_event_copy) X(MPI_T_event_get_index) X(MPI_T_event_get_info) X(MPI_T_event_get_num) \
    X(MPI_T_event_get_source) X(MPI_T_event_get_timestamp) X(MPI_T_event_handle_alloc) X(MPI_T_event_handle_free) \
    X(MPI_T_event_handle_get_info) X(MPI_T_event_handle_set_info) X(MPI_T_event_read) \
    X(MPI_T_event_register_callback) X(MPI_T_event_set_dropped_handler) X(MPI_T_finalize) X(MPI_T_init_thread) \
    X(MPI_T_source_get_info) X(MPI_T_source_get_num) X(MPI_T_source_get_timestamp)

/* Tools: control variables */
#define PL_NAMES_TOOL_CVAR(X) \
    X(MPI_T_cvar_get_index) X(MPI_T_cvar_get_info) X(MPI_T_cvar_get_num) X(MPI_T_cvar_handle_alloc) \
    X(MPI_T_cvar_handle_free) X(MPI_T_cvar_read) X(MPI_T_cvar_write)

/* Tools: performance variables */
#define PL_NAMES_TOOL_PVAR(X) \
    X(MPI_T_pvar_get_index) X(MPI_T_pvar_get_info) X(MPI_T_pvar_get_num) X(MPI_T_pvar_handle_alloc) \
    X(MPI_T_pvar_handle_free) X(MPI_T_pvar_read) X(MPI_T_pvar_readreset) X(MPI_T_pvar_reset) \
    X(MPI_T_pvar_session_create) X(MPI_T_pvar_session_free) X(MPI_T_pvar_start) X(MPI_T_pvar_stop) \
    X(MPI_T_pvar_write)

/* Tools: categories */
#define PL_NAMES_TOOL_CATEGORY(X) \
    X(MPI_T_category_changed) X(MPI_T_category_get_categories) X(MPI_T_category_get_cvars) \
    X(MPI_T_category_get_events) X(MPI_T_category_get_index) X(MPI_T_category_get_info) X(MPI_T_category_get_num) \
    X(MPI_T_category_get_num_events) X(MPI_T_category_get_pvars)

/* The application binary interface */
#define PL_NAMES_ABI(X) \
    X(MPI_Abi_get_fortran_booleans) X(MPI_Abi_get_fortran_info) X(MPI_Abi_get_info) X(MPI_Abi_get_version) \
    X(MPI_Abi_set_fortran_booleans) X(MPI_Abi_set_fortran_info) X(MPI_Comm_fromint) X(MPI_Comm_toint) \
    X(MPI_Errhandler_fromint) X(MPI_Errhandler_toint) X(MPI_File_fromint) X(MPI_File_toint) X(MPI_Group_fromint) \
    X(MPI_Group_toint) X(MPI_Info_fromint) X(MPI_Info_toint) X(MPI_Message_fromint) X(MPI_Message_toint) \
    X(MPI_Op_fromint) X(MPI_Op_toint) X(MPI_Request_fromint) X(MPI_Request_toint) X(MPI_Session_fromint) \
    X(MPI_Session_toint) X(MPI_Type_fromint) X(MPI_Type_toint) X(MPI_Win_fromint) X(MPI_Win_toint)

#define PL_NAMES(X) \
    PL_NAMES_P2P(X) PL_NAMES_SENDRECV(X) PL_NAMES_BUFFER(X) PL_NAMES_PROBE(X) PL_NAMES_REQUEST(X) \
    PL_NAMES_REQUESTS(X) PL_NAMES_STATUS(X) PL_NAMES_PARTITIONED(X) PL_NAMES_DATATYPE(X) PL_NAMES_DATATYPE_ARRAY(X) \
    PL_NAMES_DATATYPE_QUERY(X) PL_NAMES_PACK(X) PL_NAMES_COLLECTIVE(X) PL_NAMES_ICOLLECTIVE(X) \
    PL_NAMES_PCOLLECTIVE(X) PL_NAMES_OP(X) PL_NAMES_GROUP(X) PL_NAMES_COMM(X) PL_NAMES_ATTR(X) PL_NAMES_TOPOLOGY(X) \
    PL_NAMES_GRAPH(X) PL_NAMES_NEIGHBORHOOD(X) PL_NAMES_ENV(X) PL_NAMES_ERROR(X) PL_NAMES_INFO(X) PL_NAMES_WORLD(X) \
    PL_NAMES_SESSION(X) PL_NAMES_SPAWN(X) PL_NAMES_WIN(X) PL_NAMES_WIN_SYNC(X) PL_NAMES_RMA(X) PL_NAMES_FILE(X) \
    PL_NAMES_FILE_VIEW(X) PL_NAMES_FILE_IO(X) PL_NAMES_FILE_START(X) PL_NAMES_TOOL(X) PL_NAMES_TOOL_CVAR(X) \
    PL_NAMES_TOOL_PVAR(X) PL_NAMES_TOOL_CATEGORY(X) PL_NAMES_ABI(X)

/* A number for each function: PL_FN_MPI_Send. */
#define PL_FN(name) PL_FN_##name,
enum pl_function { PL_NAMES(PL_FN) PL_FUNCTIONS };
#undef PL_FN
/* clang-format on */

#endif
