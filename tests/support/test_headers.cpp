// SPDX-License-Identifier: Apache-2.0
// The precompiled headers of unit tests belong to a library, which needs a source.
