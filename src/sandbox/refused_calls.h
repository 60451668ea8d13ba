// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace upskill {

// The program for seccomp(2) of a sandboxed command, as bytes: refuses calls that look into or change other processes,
// the kernel's settings, mounts and name spaces, sockets of other kinds than Unix and IP, and input faked for a
// terminal. Empty on an architecture whose system calls aren't known (util/seccomp_filter.h).
std::string FilterOfSandbox();

}  // namespace upskill
