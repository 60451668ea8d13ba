// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// What a worker process gives up before it reads a model file. Best effort: a kernel that lacks one of these leaves the
// worker without it. Both have to be called before any thread is started.
//
// The worker ends with the thread that started it, leaves no core dump (it would hold prompts), is ended before
// other programs when memory runs out, and has no open file besides its socket and standard streams.
void DetachWorker();

// The worker can't get more memory than the machine has to spare, can't write files, reach the network, start programs
// or look into other processes. Does nothing if models run on a GPU, whose driver needs more than that.
void ConfineWorker();

}  // namespace upskill
