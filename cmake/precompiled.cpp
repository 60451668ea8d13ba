// SPDX-License-Identifier: Apache-2.0
// The precompiled headers of our libraries (UPSKILL_PRECOMPILED) belong to a library, which needs a source.
