/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes with their names and explanations, and each thread's last error. See error.h. */
#include "core/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error_codes.h"
#include "core/base/visible.h"
#include "mpi-ext.h"

struct class
{
    int class;
    const char *name, *text;
};
#define CLASS(name, text)                                                                                              \
    {                                                                                                                  \
        name, #name, text                                                                                              \
    }

/* In the order of their numbers: class_find() relies on it. */
static const struct class classes[] = {
    CLASS(MPI_SUCCESS, "no error"),
    CLASS(MPI_ERR_BUFFER, "the buffer address cannot be used"),
    CLASS(MPI_ERR_COUNT, "the count is negative or too large"),
    CLASS(MPI_ERR_TYPE, "the datatype is not valid, or not committed"),
    CLASS(MPI_ERR_TAG, "the tag is out of range"),
    CLASS(MPI_ERR_COMM, "the communicator is not valid here"),
    CLASS(MPI_ERR_RANK, "the rank is not in the communicator or group"),
    CLASS(MPI_ERR_REQUEST, "the request is not valid here"),
    CLASS(MPI_ERR_ROOT, "the root is not in the communicator"),
    CLASS(MPI_ERR_GROUP, "the group is not valid here"),
    CLASS(MPI_ERR_OP, "the reduction operation is not valid here"),
    CLASS(MPI_ERR_TOPOLOGY, "the communicator has no topology of this kind"),
    CLASS(MPI_ERR_DIMS, "the dimensions do not fit"),
    CLASS(MPI_ERR_ARG, "an argument has a value that is not allowed"),
    CLASS(MPI_ERR_UNKNOWN, "an error without a class of its own"),
    CLASS(MPI_ERR_TRUNCATE, "the message is longer than the receive buffer"),
    CLASS(MPI_ERR_OTHER, "an error, explained by its message"),
    CLASS(MPI_ERR_INTERN, "something went wrong inside the MPI library"),
    CLASS(MPI_ERR_PENDING, "the operation is neither complete nor failed"),
    CLASS(MPI_ERR_IN_STATUS, "the error code is in the status"),
    CLASS(MPI_ERR_ACCESS, "permission to use the file is denied"),
    CLASS(MPI_ERR_AMODE, "the access mode of the file is not valid here"),
    CLASS(MPI_ERR_ASSERT, "the assertion is not one that is defined here"),
    CLASS(MPI_ERR_BAD_FILE, "the file name cannot be used"),
    CLASS(MPI_ERR_BASE, "the base address of the memory cannot be used"),
    CLASS(MPI_ERR_CONVERSION, "a data conversion function of the user failed"),
    CLASS(MPI_ERR_DISP, "the displacement is not valid here"),
    CLASS(MPI_ERR_DUP_DATAREP, "a data representation of this name is already registered"),
    CLASS(MPI_ERR_FILE_EXISTS, "the file exists already"),
    CLASS(MPI_ERR_FILE_IN_USE, "the file is open and cannot be removed or changed now"),
    CLASS(MPI_ERR_FILE, "the file handle is not valid"),
    CLASS(MPI_ERR_INFO_KEY, "the info key is empty or too long"),
    CLASS(MPI_ERR_INFO_NOKEY, "the info object does not have this key"),
    CLASS(MPI_ERR_INFO_VALUE, "the info value is too long"),
    CLASS(MPI_ERR_INFO, "the info object is not valid here"),
    CLASS(MPI_ERR_IO, "reading or writing failed"),
    CLASS(MPI_ERR_KEYVAL, "the attribute key is not valid here"),
    CLASS(MPI_ERR_LOCKTYPE, "the type of lock is neither shared nor exclusive"),
    CLASS(MPI_ERR_NAME, "no process has published this service name"),
    CLASS(MPI_ERR_NO_MEM, "out of memory"),
    CLASS(MPI_ERR_NOT_SAME, "the processes of a collective call do not agree"),
    CLASS(MPI_ERR_NO_SPACE, "not enough space on the device"),
    CLASS(MPI_ERR_NO_SUCH_FILE, "there is no such file"),
    CLASS(MPI_ERR_PORT, "the port name is not valid"),
    CLASS(MPI_ERR_QUOTA, "the quota is exhausted"),
    CLASS(MPI_ERR_READ_ONLY, "the file or its device can only be read"),
    CLASS(MPI_ERR_RMA_ATTACH, "the memory cannot be attached to the window"),
    CLASS(MPI_ERR_RMA_CONFLICT, "accesses to the window conflict"),
    CLASS(MPI_ERR_RMA_RANGE, "the access goes outside of the window's memory"),
    CLASS(MPI_ERR_RMA_SHARED, "the processes cannot share memory"),
    CLASS(MPI_ERR_RMA_SYNC, "the window is not in an epoch that allows this"),
    CLASS(MPI_ERR_SERVICE, "the service name cannot be withdrawn"),
    CLASS(MPI_ERR_SIZE, "the size is negative or otherwise not allowed"),
    CLASS(MPI_ERR_SPAWN, "the processes cannot be started"),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "this data representation is not supported"),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "this operation is not supported"),
    CLASS(MPI_ERR_WIN, "the window is not valid"),
    CLASS(MPI_ERR_RMA_FLAVOR, "windows of this flavor do not allow this"),
    CLASS(MPI_ERR_PROC_ABORTED, "a process that takes part has ended or failed"),
    CLASS(MPI_ERR_VALUE_TOO_LARGE, "the value does not fit into the variable for it"),
    CLASS(MPI_ERR_SESSION, "the session is not valid"),
    CLASS(MPI_ERR_ERRHANDLER, "the error handler is not valid here"),
    CLASS(MPI_ERR_ABI, "the call does not fit the application binary interface"),
    CLASS(MPI_T_ERR_CANNOT_INIT, "the tool interface cannot be initialized"),
    CLASS(MPI_T_ERR_NOT_ACCESSIBLE, "this tool interface function cannot be used now"),
    CLASS(MPI_T_ERR_NOT_INITIALIZED, "the tool interface is not initialized"),
    CLASS(MPI_T_ERR_NOT_SUPPORTED, "this tool interface function is not supported"),
    CLASS(MPI_T_ERR_MEMORY, "the tool interface is out of memory"),
    CLASS(MPI_T_ERR_INVALID, "an argument or use of the tool interface is not valid"),
    CLASS(MPI_T_ERR_INVALID_INDEX, "the tool interface index is out of range"),
    CLASS(MPI_T_ERR_INVALID_ITEM, "the item index is out of range"),
    CLASS(MPI_T_ERR_INVALID_SESSION, "the performance session is not valid"),
    CLASS(MPI_T_ERR_INVALID_HANDLE, "the tool interface handle is not valid"),
    CLASS(MPI_T_ERR_INVALID_NAME, "no variable or category has this name"),
    CLASS(MPI_T_ERR_OUT_OF_HANDLES, "no more tool interface handles can be made"),
    CLASS(MPI_T_ERR_OUT_OF_SESSIONS, "no more performance sessions can be made"),
    CLASS(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set at this time"),
    CLASS(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set at all"),
    CLASS(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written or reset"),
    CLASS(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    CLASS(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and reset in one step"),
    CLASS(MPIX_ERR_TIMEOUT, "other processes did not take part in time"),
    CLASS(MPIX_ERR_PROC_FAILED_PENDING, "a process has failed, and the operation that may need it stays active"),
    CLASS(MPIX_ERR_REVOKED, "the communicator is revoked"),
};
enum { CLASSES = sizeof classes / sizeof classes[0] };

static _Thread_local struct {
    int class;   /* of `detail`; 0: none */
    bool agreed; /* the other processes get it too */
    char detail[PL_DETAIL_MAX];
    int code; /* of `published`; 0: none */
    char published[MPI_MAX_ERROR_STRING];
} last;

static const struct class *class_find(int class)
{
    int low = 0, high = CLASSES;
    while (low < high) {
        int middle = (low + high) / 2;
        if (classes[middle].class < class)
            low = middle + 1;
        else
            high = middle;
    }
    return low < CLASSES && classes[low].class == class ? &classes[low] : NULL;
}

const char *pl_error_class_name(int class)
{
    const struct class *found = class_find(class);
    return found ? found->name : NULL;
}

const char *pl_error_class_text(int class)
{
    const struct class *found = class_find(class);
    return found ? found->text : "no such error class";
}

int pl_error_class_from_name(const char *name)
{
    for (int i = 0; i < CLASSES; i++)
        if (strcmp(classes[i].name, name) == 0)
            return classes[i].class;
    return MPI_ERR_UNKNOWN;
}

/* --- the detail --------------------------------------------------------------------------------------------- */

/* Names of files, variables and objects may be in it, so it is made fit for a terminal. */
void pl_error_record(int class, const char *format, va_list arguments)
{
    char text[sizeof last.detail];
    vsnprintf(text, sizeof text, format, arguments);
    last.class = class;
    last.agreed = false;
    pl_visible(last.detail, sizeof last.detail, text);
}

int pl_fail(int class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pl_error_record(class, format, arguments);
    va_end(arguments);
    return class;
}

int pl_fail_errno(int class, const char *format, ...)
{
    int number = errno;
    va_list arguments;
    va_start(arguments, format);
    pl_error_record(class, format, arguments);
    va_end(arguments);

    char buffer[128];
    pl_visible_add_reason(last.detail, sizeof last.detail, strerror_r(number, buffer, sizeof buffer));
    return class;
}

int pl_fail_memory(const char *what)
{
    return pl_fail(MPI_ERR_NO_MEM, "out of memory for %s", what);
}

int pl_error_agreed(int class)
{
    last.agreed = class != MPI_SUCCESS;
    return class;
}

bool pl_error_is_agreed(void)
{
    return last.agreed;
}

const char *pl_error_detail(int *class)
{
    if (class)
        *class = last.class;
    return last.class ? last.detail : "";
}

void pl_error_clear(void)
{
    last.class = MPI_SUCCESS;
}

/* --- texts for the user ------------------------------------------------------------------------------------- */

/* The explanation of a code. `user` is memory for the user's. */
static const char *error_describe(int code, int class, char user[MPI_MAX_ERROR_STRING])
{
    bool own = pl_error_user_text(code, user);
    if (own && *user)
        return user;
    if (class != code && pl_error_user_text(class, user) && *user)
        return user;
    return own && !pl_error_class_name(class) ? "an error of the program's own" : pl_error_class_text(class);
}

static void error_explain(int code, const char *detail, const char *function, char *text, size_t size)
{
    char user[MPI_MAX_ERROR_STRING];
    int class = pl_error_code_class(code);
    const char *name = pl_error_class_name(class);
    if (!detail)
        detail = error_describe(code, class, user);

    int length = snprintf(text, size, "%s%s%s", function ? function : "", function ? ": " : "", detail);
    size_t used = length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
    if (name && code == class)
        snprintf(text + used, size - used, " (%s)", name);
    else if (name)
        snprintf(text + used, size - used, " (code %d of %s)", code, name);
    else
        snprintf(text + used, size - used, " (code %d)", code);
}

void pl_error_publish(const char *function, int code, char message[MPI_MAX_ERROR_STRING])
{
    bool fits = last.class != MPI_SUCCESS && (last.class == code || last.class == pl_error_code_class(code));
    last.code = code;
    error_explain(code, fits ? last.detail : NULL, function, last.published, sizeof last.published);
    memcpy(message, last.published, MPI_MAX_ERROR_STRING);
    pl_error_clear();
}

/* The user's text for an added code is returned as it is, also if it is empty. */
void pl_error_string(int code, char text[MPI_MAX_ERROR_STRING])
{
    if (pl_error_user_text(code, text))
        return;
    if (code != MPI_SUCCESS && last.code == code)
        memcpy(text, last.published, MPI_MAX_ERROR_STRING);
    else
        error_explain(code, NULL, NULL, text, MPI_MAX_ERROR_STRING);
}
