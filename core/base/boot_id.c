/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/boot_id.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char boot_id[PL_BOOT_ID_SIZE];

static void boot_id_read(void)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, boot_id, sizeof boot_id - 1);
    boot_id[length > 0 ? length : 0] = '\0';
    boot_id[strcspn(boot_id, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

const char *pl_boot_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, boot_id_read);
    return boot_id;
}
