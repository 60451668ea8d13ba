// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/token_match.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/redact/line_break.h"
#include "trace/redact/secret_value.h"

namespace upskill {
namespace {

enum class Start { kApart, kGlued, kInside };

// Whether a letter at `at` ends an escape sequence: `\n`, `\t` of a JSON string, or a terminal's colour ("ESC[32m").
bool EndsEscape(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  if (text[at - 1] == '\\' && std::string_view("nrt").find(text[at]) != std::string_view::npos) return true;
  if (text[at] != 'm') return false;
  std::size_t i = at;
  while (i > 0 && at - i < 16 && (IsDigitChar(text[i - 1]) || text[i - 1] == ';')) --i;
  return i > 0 && text[i - 1] == '[';
}

Start StartOf(std::string_view text, std::size_t begin, const TokenFormat& format) {
  if (begin == 0) return Start::kApart;
  const char last = text[begin - 1];
  if (format.strict) {
    const bool apart = !IsAlnumChar(last) && std::string_view("_-./+").find(last) == std::string_view::npos;
    return apart || EndsEscape(text, begin - 1) ? Start::kApart : Start::kInside;
  }
  if (!IsAlnumChar(last) && last != '_') return Start::kApart;
  if (EndsEscape(text, begin - 1)) return Start::kApart;
  return format.anchor.size() >= 4 ? Start::kGlued : Start::kInside;
}

std::size_t RunOf(std::string_view text, Charset charset) {
  std::size_t length = 0;
  while (length < text.size() && InCharset(text[length], charset)) ++length;
  return length;
}

// `length` without the punctuation that ends a sentence rather than a token.
std::size_t WithoutPunctuation(std::string_view run) {
  while (!run.empty() && (run.back() == '.' || run.back() == '-')) run.remove_suffix(1);
  return run.size();
}

// Whether the case of the letters is random, also of a text that is cut into short pieces by `-` and `_`, which random
// tokens have, too.
bool HasRandomCaseInPieces(std::string_view body) {
  std::string joined(body);
  joined.erase(std::remove_if(joined.begin(), joined.end(), [](char c) { return c == '-' || c == '_'; }), joined.end());
  return HasRandomCase(joined);
}

bool IsTokenBody(std::string_view body, const TokenFormat& format, bool glued) {
  constexpr double kMinEntropy = 3.0;
  constexpr std::size_t kLongAnchor = 10;  // says enough
  constexpr std::size_t kJudged = 256;
  if (body.empty()) return true;  // all of the token is before the anchor
  body = body.substr(0, std::max<std::size_t>(kJudged, format.least));
  if (body.size() >= 8 && format.anchor.size() < kLongAnchor && IsPlaceholder(body, true)) return false;
  const bool fixed = format.least == format.most;
  if (glued) return fixed && body.size() == format.least && IsMixed(body) && Entropy(body) >= kMinEntropy;
  if (!format.shape.empty()) return true;
  if (fixed && body.size() == format.least)
    return IsMixed(body) || Entropy(body) >= kMinEntropy || format.anchor.size() >= kLongAnchor;
  const bool number = body.size() >= 20 && HasDigit(body) && !HasLetter(body);
  const auto digits = static_cast<std::size_t>(std::count_if(body.begin(), body.end(), IsDigitChar));
  constexpr std::size_t kTellingAnchor = 6;  // a name hardly begins with it
  const bool random = !IsMadeOfWords(body) || (format.anchor.size() >= kTellingAnchor && HasRandomCaseInPieces(body));
  return (IsMixed(body) && (digits * 3 > body.size() || random)) || number;
}

bool HasShape(std::string_view token, const TokenFormat& format) {
  if (format.shape.empty()) return true;
  static const std::map<std::string_view, std::unique_ptr<RE2>> shapes = [] {
    std::map<std::string_view, std::unique_ptr<RE2>> compiled;
    for (const TokenFormat& each : TokenFormats()) {
      if (!each.shape.empty() && !compiled.contains(each.shape))
        compiled.emplace(each.shape, std::make_unique<RE2>(re2::StringPiece(each.shape.data(), each.shape.size())));
    }
    return compiled;
  }();
  return RE2::FullMatch(re2::StringPiece(token.data(), token.size()), *shapes.at(format.shape));
}

// What follows the anchor, with line breaks taken out.
struct Body {
  std::string text;
  struct Piece {
    std::size_t end = 0;   // in the source
    std::size_t have = 0;  // characters up to it
  };
  std::vector<Piece> pieces;
  bool mixed = true;  // each piece but the first looks like a part of a key
};

Body ReadBody(std::string_view text, std::size_t at, const TokenFormat& format) {
  constexpr std::size_t kMaxPieces = 40;
  Body body;
  while (body.pieces.size() < kMaxPieces) {
    const std::size_t run =
        RunOf(text.substr(at, format.most - std::min<std::size_t>(format.most, body.text.size()) + 1U), format.charset);
    if (!body.pieces.empty() && (run == 0 || body.text.size() + run > format.most)) break;
    body.text += text.substr(at, run);
    at += run;
    body.pieces.push_back({at, body.text.size()});
    const bool fixed = format.least == format.most;
    if (body.text.size() >= format.most || (run == 0 && !fixed)) break;
    const std::size_t line_end = LineBreakLength(text.substr(at, kMaxLineBreak));
    if (line_end == 0) break;
    at += line_end;
  }
  return body;
}

// The number of pieces of the body that belong to the token; 0 if it is none.
std::size_t PiecesOf(const Body& body, const TokenFormat& format, bool glued) {
  constexpr std::size_t kMinPiece = 8;
  for (std::size_t count = body.pieces.size(); count > 0; --count) {
    const std::size_t have = body.pieces[count - 1].have;
    const std::string_view token = std::string_view(body.text).substr(0, have);
    if (have < format.least) return 0;
    if (have > format.most && (format.strict || count > 1)) continue;
    if (count > 1) {
      const std::size_t before = body.pieces[count - 2].have;
      const std::string_view piece = token.substr(before);
      // The last piece fills up the token's length, or looks as random as the rest.
      const bool completes = before < format.least;
      if (!completes && (piece.size() < kMinPiece || !LooksLikeKeyPiece(piece))) continue;
    }
    if (IsTokenBody(token, format, glued)) return count;
  }
  return 0;
}

}  // namespace

std::optional<SecretSpan> MatchToken(std::string_view text, std::size_t anchor, std::size_t after,
                                     const TokenFormat& format) {
  const bool broken = after - anchor != format.anchor.size();
  if (!broken && text.substr(anchor, format.anchor.size()) != format.anchor) return std::nullopt;
  if (anchor < format.before) return std::nullopt;
  const std::size_t begin = anchor - format.before;
  if (RunOf(text.substr(begin, format.before), format.charset) != format.before) return std::nullopt;
  const Start start = StartOf(text, begin, format);
  if (start == Start::kInside || (broken && (format.strict || start != Start::kApart))) return std::nullopt;
  Body body = ReadBody(text, after, format);
  if (body.pieces.size() == 1) {
    Body::Piece& only = body.pieces.front();
    const std::size_t kept = WithoutPunctuation(body.text);
    // A dash or full stop behind the token isn't its last character, unless that makes it too short.
    if (kept >= format.least) {
      only.end -= only.have - kept;
      only.have = kept;
      body.text.resize(kept);
    }
  }
  const std::size_t count = PiecesOf(body, format, start == Start::kGlued);
  if (count == 0) return std::nullopt;
  std::size_t end = body.pieces[count - 1].end;
  const std::size_t have = body.pieces[count - 1].have;
  if (have > format.most) end += WithoutPunctuation(text.substr(end, RunOf(text.substr(end), format.charset)));
  if (format.strict && end < text.size() && (IsAlnumChar(text[end]) || text[end] == '_')) return std::nullopt;
  const std::string token =
      std::string(text.substr(begin, format.before)) + std::string(format.anchor) + body.text.substr(0, have);
  if (!HasShape(token, format)) return std::nullopt;
  if (format.charset == Charset::kBase64) {
    for (std::size_t padding = 0; padding < 3 && end < text.size() && text[end] == '='; ++padding) ++end;
  }
  return SecretSpan{begin, end, std::string(format.kind)};
}

}  // namespace upskill
