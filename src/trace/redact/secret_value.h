// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace upskill {

// What tells secrets from other values: pure functions of one value without its quotes.

constexpr bool IsDigitChar(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLowerChar(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpperChar(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLetterChar(char c) { return IsLowerChar(c) || IsUpperChar(c); }
constexpr bool IsAlnumChar(char c) { return IsDigitChar(c) || IsLetterChar(c); }
constexpr bool IsHexChar(char c) { return IsDigitChar(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool HasDigit(std::string_view value);
bool HasLetter(std::string_view value);

// Shannon entropy of the characters, in bits per character.
double Entropy(std::string_view value);

// Letters that change between upper and lower case as often as random ones do, unlike words in camel case.
bool HasRandomCase(std::string_view value);

// Letters and digits mixed, or letters in random case.
bool IsMixed(std::string_view value);

// Words and numbers joined by '_', '-', '.' and the like, also in camel case: "refresh_token_v2", "prod-db-2024".
bool IsMadeOfWords(std::string_view value);

// Hexadecimal digits and dashes only: digests, commits and UUIDs are random, but not secret.
bool IsDigest(std::string_view value);

// Whether a value has at least `least` characters of several kinds, and is neither made of words nor as regular as a
// placeholder.
bool LooksRandom(std::string_view value, std::size_t least);

// A reference to the secret instead of the secret, or an example: "$TOKEN", "${TOKEN}", "<token>", "{{ token }}",
// "xxxx", "your_key". `quoted`: a literal; else it may also be code: "get_token()", "env['TOKEN']".
bool IsPlaceholder(std::string_view value, bool quoted);

// Whether a value may be a password, judged by its characters. `strong`: it is quoted or follows an equals sign, so it
// can't be a word in a sentence.
bool LooksLikePassword(std::string_view value, bool strong, bool quoted);

// Whether `text` looks like part of a wrapped key, not a word: digits among letters, or alternating case.
bool LooksLikeKeyPiece(std::string_view text);

}  // namespace upskill
