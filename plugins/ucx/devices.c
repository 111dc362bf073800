/* SPDX-License-Identifier: BSD-3-Clause */
/* An item of the list is the name of an interface, an InfiniBand device, or else an IPv4 network. */
#include "plugins/ucx/devices.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES_ITEM = 64 };

/* Appends a name, unless the list has it. False: there is no room. */
static bool devices_add(char list[PL_UCX_DEVICES], const char *name)
{
    size_t length = strlen(list), more = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += more)
        if ((at == list || at[-1] == ',') && (at[more] == ',' || !at[more]))
            return true;
    if (length + more + 2 > PL_UCX_DEVICES)
        return false;
    snprintf(list + length, PL_UCX_DEVICES - length, "%s%s", length ? "," : "", name);
    return true;
}

static bool devices_is_infiniband(const char *item)
{
    char path[DEVICES_ITEM + 32];
    snprintf(path, sizeof path, "/sys/class/infiniband/%.*s", (int)strcspn(item, ":"), item);
    return !strchr(item, '/') && item[0] != '.' && access(path, F_OK) == 0;
}

/* "10.0.0.0/8", or an address. False: it is neither. */
static bool devices_read_network(const char *item, uint32_t *network, uint32_t *mask)
{
    char address[DEVICES_ITEM], *end;
    struct in_addr in;
    const char *slash = strchr(item, '/');
    long bits = 32;
    snprintf(address, sizeof address, "%.*s", (int)(slash ? slash - item : (ptrdiff_t)strlen(item)), item);
    if (inet_pton(AF_INET, address, &in) != 1)
        return false;
    if (slash) {
        bits = strtol(slash + 1, &end, 10);
        if (!isdigit((unsigned char)slash[1]) || *end || bits > 32)
            return false;
    }
    *mask = bits == 0 ? 0 : UINT32_MAX << (32 - bits);
    *network = ntohl(in.s_addr) & *mask;
    return true;
}

static bool devices_add_network(const struct ifaddrs *all, uint32_t network, uint32_t mask, char *devices)
{
    bool fits = true;
    for (const struct ifaddrs *at = all; at; at = at->ifa_next)
        if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
            (ntohl(((const struct sockaddr_in *)at->ifa_addr)->sin_addr.s_addr) & mask) == network)
            fits &= devices_add(devices, at->ifa_name);
    return fits;
}

/* Has an interface an address of this domain, other than those of its link alone? */
static bool devices_has(const struct ifaddrs *all, const char *name, int domain)
{
    for (const struct ifaddrs *at = all; at; at = at->ifa_next)
        if (strcmp(at->ifa_name, name) == 0 && at->ifa_addr && at->ifa_addr->sa_family == domain &&
            (domain != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)at->ifa_addr)->sin6_addr)))
            return true;
    return false;
}

/* Would UCX listen there on an address of IPv6, for which there is no gate? */
static bool devices_is_open(const struct ifaddrs *all, const char *name)
{
    return devices_has(all, name, AF_INET6) && !devices_has(all, name, AF_INET);
}

static int devices_fail_none(const struct pl_transport_host *host, const char *list, const struct ifaddrs *all)
{
    char there[PL_UCX_DEVICES] = "";
    for (const struct ifaddrs *at = all; at; at = at->ifa_next)
        devices_add(there, at->ifa_name);
    return host->fail(PL_UNREACHABLE,
                      "PLENUM_NET is \"%.80s\", and no interface of this host has such a name or address; "
                      "it has %s",
                      list, *there ? there : "none");
}

static int devices_add_item(const struct pl_transport_host *host, const char *item, const struct ifaddrs *all,
                            char *devices)
{
    uint32_t network, mask;
    bool fits = true;
    if (devices_is_open(all, item))
        return host->fail(PL_UNREACHABLE, "PLENUM_NET has \"%s\", which has no IPv4 address: IPv6 is not supported",
                          item);
    if (if_nametoindex(item) || devices_is_infiniband(item))
        fits = devices_add(devices, item);
    else if (devices_read_network(item, &network, &mask))
        fits = devices_add_network(all, network, mask, devices);
    else if (strchr(item, '/') || isdigit((unsigned char)item[0]) || !*item)
        return host->fail(PL_UNREACHABLE,
                          "PLENUM_NET has \"%s\": an item is the name of an interface, an IPv4 address, or "
                          "a network such as 10.0.0.0/8",
                          item);
    return fits ? MPI_SUCCESS : host->fail(PL_UNREACHABLE, "PLENUM_NET selects too many interfaces");
}

int pl_ucx_devices(const struct pl_transport_host *host, const char *list, char devices[PL_UCX_DEVICES])
{
    struct ifaddrs *all = NULL;
    int err = MPI_SUCCESS;
    devices[0] = '\0';
    if (getifaddrs(&all) != 0)
        return host->fail(PL_UNREACHABLE, "cannot list the network interfaces of this host");
    for (const char *at = list; !err; at++) {
        char item[DEVICES_ITEM];
        size_t length = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        err = devices_add_item(host, item, all, devices);
        at += length;
        if (!*at)
            break;
    }
    if (!err && !*devices)
        err = devices_fail_none(host, list, all);
    freeifaddrs(all);
    return err;
}

/* InfiniBand has no such addresses. */
static bool devices_add_infiniband(char devices[PL_UCX_DEVICES])
{
    DIR *directory = opendir("/sys/class/infiniband");
    bool fits = true;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            fits &= devices_add(devices, entry->d_name);
    if (directory)
        closedir(directory);
    return fits;
}

int pl_ucx_devices_guarded(const struct pl_transport_host *host, char devices[PL_UCX_DEVICES])
{
    struct ifaddrs *all = NULL;
    bool open = false, fits = true;
    devices[0] = '\0';
    if (getifaddrs(&all) != 0)
        return MPI_SUCCESS;
    for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
        bool counts = (at->ifa_flags & IFF_UP) && !(at->ifa_flags & IFF_LOOPBACK);
        open |= counts && devices_is_open(all, at->ifa_name);
        if (counts && devices_has(all, at->ifa_name, AF_INET))
            fits &= devices_add(devices, at->ifa_name);
    }
    freeifaddrs(all);
    fits &= devices_add_infiniband(devices);
    if (open && !*devices)
        return host->fail(PL_UNREACHABLE, "this host has no IPv4 address but the loopback: IPv6 is not supported");
    if (!open || !fits)
        devices[0] = '\0';
    return fits || !open ? MPI_SUCCESS : host->fail(PL_UNREACHABLE, "too many interfaces: choose some with PLENUM_NET");
}
