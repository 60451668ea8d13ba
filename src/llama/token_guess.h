// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include <cstddef>
#include <span>

namespace upskill {

// At most `most` tokens with which a text may go on: those that followed its last three tokens when they last occurred
// before. Empty if they didn't. A part of `text`. (Prompt lookup decoding, A. Saxena 2023; --lookup in llama.cpp.)
std::span<const llama_token> GuessNext(std::span<const llama_token> text, std::size_t most);

}  // namespace upskill
