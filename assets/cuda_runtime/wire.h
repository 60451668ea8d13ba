/* SPDX-License-Identifier: Apache-2.0
 *
 * What a CUDA program and the process that runs its kernels say to each other, over a socket: the program sends a
 * request and waits for the reply. Both are compiled on the same machine, so numbers are sent as they are in memory.
 */
#ifndef UPSKILL_CUDA_RUNTIME_WIRE_H_
#define UPSKILL_CUDA_RUNTIME_WIRE_H_

#include <stdint.h>

/* The variable of the environment that has the number of the socket. */
#define UPSKILL_DEVICE_SOCKET "UPSKILL_DEVICE_SOCKET"

enum UpskillOperation {
  kUpskillLoadModule = 1, /* bytes: a fat binary. r0: module */
  kUpskillFindKernel = 2, /* a0: module; bytes: name. r0: kernel, r1: static shared memory, r2: most threads of a
                             block, r3: constant memory; bytes: the size of each parameter, 32 bits each */
  kUpskillFindSymbol = 3, /* a0: module; bytes: name. r0: address, r1: size */
  kUpskillAllocate = 4,   /* a0: size, a1: kUpskillDeviceMemory or kUpskillManagedMemory, a2: the address of memory
                             that the host has already, a multiple of 256, or 0. r0: address */
  kUpskillFree = 5,       /* a0: address */
  kUpskillWrite = 6,      /* a0: address, a1: stream; bytes */
  kUpskillRead = 7,       /* a0: address, a1: size, a2: stream. bytes */
  kUpskillCopy = 8,       /* a0: to, a1: from, a2: size, a3: stream */
  kUpskillFill = 9,       /* a0: address, a1: size, a2: value, a3: bytes of a value (1, 2, 4), a4: stream */
  kUpskillLaunch =
      10,                      /* a0: kernel, a1…a3: grid, a4…a6: block, a7: dynamic shared memory, a8: stream,
                                  a9: kUpskillCooperative, a10: the cluster's dimensions, 16 bits each, or 0; bytes: the arguments, one after
                                  another. r0: error of the kernel, r1: time until now; bytes: what it printed */
  kUpskillSynchronize = 11,    /* a0: kUpskillWholeDevice, kUpskillOneStream or kUpskillOneEvent, a1: which,
                                  a2: 1 to ask without waiting. r0: 1 if it isn't done */
  kUpskillMakeStream = 12,     /* a0: 1 if the default stream doesn't wait for it. r0: stream */
  kUpskillRecordEvent = 13,    /* a0: event, a1: stream. r0: time until now: instructions, or in trials threads */
  kUpskillWaitEvent = 14,      /* a0: stream, a1: event */
  kUpskillFindAllocation = 15, /* a0: address. r0: start, r1: size, r2: kind */
  kUpskillNextTrial = 16,      /* r0: 1 if there is one; bytes: its arguments, 64 bits each */
  kUpskillEndTrial = 17,
  kUpskillCallFailed = 18, /* a0: kernel, or kUpskillNoKernel; bytes: what failed and with which error. The program isn't
                              given the error (<<<…>>>), or may ignore it */
  kUpskillErrorsRead = 19, /* the program has looked at its errors */
  kUpskillEarlyAccess = 20 /* a0: address in managed memory that the host uses before it has waited for kernels;
                              bytes: what it finds there */
};

enum { kUpskillDeviceMemory = 0, kUpskillManagedMemory = 1 };
enum { kUpskillWholeDevice = 0, kUpskillOneStream = 1, kUpskillOneEvent = 2 };
enum { kUpskillCooperative = 1 };
#define kUpskillNoKernel UINT64_MAX

/* Streams that the program doesn't make: the default one, and that of each thread. */
enum { kUpskillDefaultStream = 0, kUpskillFirstStream = 16 };

#define kUpskillMaxMessage ((uint64_t)1 << 26) /* a longer copy is sent in parts */

struct UpskillRequest {
  uint32_t operation;
  uint32_t reserved;
  uint64_t a[11];
  uint64_t bytes; /* that follow */
};

struct UpskillReply {
  uint32_t error; /* a cudaError_t */
  uint32_t reserved;
  uint64_t r[4];
  uint64_t bytes; /* that follow */
};

#endif
