#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A small launcher that speaks PMI-1 as Flux and others do: keys and a barrier, and no names. The words of each request
are logged, so that a test sees what was said.

usage: server.py [--names] [--silent] [--log FILE] N PROGRAM [ARGUMENT]...
"""
import os
import selectors
import socket
import subprocess
import sys

arguments = sys.argv[1:]
names = '--names' in arguments
silent = '--silent' in arguments  # closes every connection at the first request
log = open(arguments[arguments.index('--log') + 1], 'w') if '--log' in arguments else None
while arguments[0].startswith('--'):
    arguments = arguments[2 if arguments[0] == '--log' else 1:]
size, program = int(arguments[0]), arguments[1:]
stored, pending, published, waiting = {}, {}, {}, []


def answer(words, sock):
    command = words['cmd']
    if command == 'init':
        return 'cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0'
    if command == 'get_maxes':
        return 'cmd=maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024'
    if command == 'get_my_kvsname':
        return 'cmd=my_kvsname rc=0 kvsname=test.%d' % os.getpid()
    if command == 'get_appnum':
        return 'cmd=appnum rc=0 appnum=0'
    if command == 'get_universe_size':
        return 'cmd=universe_size rc=0 size=%d' % size
    if command == 'put':
        pending[words['key']] = words['value']
        return 'cmd=put_result rc=0'
    if command == 'get':
        if words['key'] == 'PMI_process_mapping':
            return 'cmd=get_result rc=0 value=(vector,(0,1,%d))' % size
        found = stored.get(words['key'])
        return 'cmd=get_result rc=0 value=' + found if found else 'cmd=get_result rc=1'
    if command == 'publish_name':
        published[words['service']] = words['port']
        return 'cmd=publish_result rc=%d' % (0 if names else -1)
    if command == 'lookup_name':
        found = published.get(words['service']) if names else None
        return 'cmd=lookup_result rc=0 port=' + found if found else 'cmd=lookup_result rc=1'
    if command == 'unpublish_name':
        published.pop(words['service'], None)
        return 'cmd=unpublish_result rc=0'
    if command == 'barrier_in':
        waiting.append(sock)
        if len(waiting) < size:
            return None
        stored.update(pending)
        for each in waiting:
            each.sendall(b'cmd=barrier_out rc=0\n')
        waiting.clear()
        return None
    if command == 'finalize':
        return 'cmd=finalize_ack rc=0'
    if command == 'abort':
        for child in children:
            child.kill()
        sys.exit(int(words['exitcode']))
    return 'cmd=unknown rc=-1'


children, selector = [], selectors.DefaultSelector()
for rank in range(size):
    ours, theirs = socket.socketpair()
    os.set_inheritable(theirs.fileno(), True)
    env = dict(os.environ, PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(size))
    children.append(subprocess.Popen(program, env=env, pass_fds=[theirs.fileno()]))
    theirs.close()
    selector.register(ours, selectors.EVENT_READ, [rank, b''])

while selector.get_map():
    for key, _ in selector.select():
        rank, data = key.data
        try:
            got = key.fileobj.recv(65536)
        except OSError:
            got = b''
        if not got or silent:
            selector.unregister(key.fileobj)
            key.fileobj.close()
            continue
        *lines, key.data[1] = (data + got).split(b'\n')
        for line in lines:
            if log:
                print(rank, line.decode(), file=log, flush=True)
            reply = answer(dict(word.split('=', 1) for word in line.decode().split()), key.fileobj)
            if reply:
                key.fileobj.sendall(reply.encode() + b'\n')
codes = [child.wait() for child in children]
sys.exit(max(codes))
