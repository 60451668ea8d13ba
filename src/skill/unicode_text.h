// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// The code points of valid UTF-8.
std::u32string DecodeUtf8(std::string_view text);

// UTF-8; what isn't a code point, such as half of a surrogate pair, becomes U+FFFD.
std::string EncodeUtf8(std::u32string_view text);

// The text with each character replaced by its simple case folding (CaseFolding.txt, statuses C and S): texts that
// differ only in case become equal. Bytes that aren't UTF-8 stay.
std::string FoldCase(std::string_view text);

// Normalization form KC of valid UTF-8: compatible characters, such as full-width letters, become one.
std::string NormalizeNfkc(std::string_view text);

// Valid UTF-8 as file systems compare names that don't tell upper from lower case, and take composed and decomposed
// characters for the same: canonically decomposed, with full case folding.
std::string FoldFileName(std::string_view text);

// A letter or number of any script.
bool IsAlphanumeric(char32_t character);

// Whether the character has no other lower-case form.
bool IsLowercase(char32_t character);

// Valid UTF-8 without the white space of any script at either end.
std::string_view TrimUnicode(std::string_view text);

// The text as a Python string literal: 'it', "it's", '\t'.
std::string PythonLiteral(std::u32string_view text);

}  // namespace upskill
