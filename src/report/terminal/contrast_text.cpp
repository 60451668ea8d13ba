// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/contrast_text.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "report/terminal/figures.h"
#include "report/terminal/table.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kContrastAlpha = VerdictOptions().alpha;

// "+4 %": the change of B's mean from A's.
std::string MeasuredChange(const std::optional<PairedMeans>& means) {
  return means && means->ratio() ? PointsText(*means->ratio() - 1.0) + " %" : "–";
}

std::string WordText(const Contrast& contrast, double margin) {
  const std::string points = fmt::format("{:g} point{}", margin * 100.0, margin == 0.01 ? "" : "s");
  switch (WordFor(contrast, margin)) {
    case ContrastWord::kBetter:
      return "B is better";
    case ContrastWord::kNotWorse:
      return fmt::format("B is not worse by more than {}", points);
    case ContrastWord::kWorse:
      return "B is worse";
    case ContrastWord::kNotShown:
      break;
  }
  if (contrast.too_many_excluded) return "nothing is shown: errors exclude too many cases";
  const std::optional<int> more = contrast.MoreFor(-margin, kContrastAlpha);
  if (!more) return fmt::format("not shown to be within {}", points);
  return fmt::format("not shown; about {} more {}{}", WithThousands(*more), contrast.answers_repeat ? "case" : "round",
                     *more == 1 ? "" : "s");
}

Tint TintOfWord(ContrastWord word) {
  switch (word) {
    case ContrastWord::kBetter:
    case ContrastWord::kNotWorse:
      return Tint::kGood;
    case ContrastWord::kWorse:
      return Tint::kBad;
    case ContrastWord::kNotShown:
      break;
  }
  return Tint::kDim;
}

Json MeansToJson(const std::optional<PairedMeans>& means) {
  if (!means) return nullptr;
  const std::optional<Interval> change = means->Difference(0.95);
  const std::optional<Interval> ratio = means->Ratio(0.95);
  return {{"a", means->mean_b()},
          {"b", means->mean_a()},
          {"change_low", change ? Json(change->low) : Json(nullptr)},
          {"change_high", change ? Json(change->high) : Json(nullptr)},
          {"ratio", JsonOrNull(means->ratio())},
          {"ratio_low", ratio ? Json(ratio->low) : Json(nullptr)},
          {"ratio_high", ratio ? Json(ratio->high) : Json(nullptr)}};
}

Json NameToJson(const ChoiceName& name) {
  return {{"run", name.run}, {"model", name.model}, {"arm", ArmName(name.arm)}};
}

Json NamedContrastToJson(const NamedContrast& named, double margin) {
  Json json = {{"a", NameToJson(named.a)}, {"b", NameToJson(named.b)}, {"margin", margin}};
  json["problem"] = named.contrast ? Json(nullptr) : Json(named.problem);
  if (!named.contrast) return json;
  const Contrast& contrast = *named.contrast;
  const Interval range = contrast.Range();
  const std::optional<int> more = contrast.MoreFor(-margin, kContrastAlpha);
  json["result"] = ContrastWordName(WordFor(contrast, margin));
  json["difference"] = contrast.difference();
  json["low"] = range.low;
  json["high"] = range.high;
  json["p_better"] = contrast.PAbove(0.0);
  json["p_not_worse"] = contrast.PAbove(-margin);
  json["p_worse"] = contrast.PBelow(0.0);
  json["cases"] = contrast.cases;
  json["complete_rounds"] = contrast.rounds;
  json["excluded_cases"] = contrast.excluded;
  json["answers_repeat"] = contrast.answers_repeat;
  json["valid_at_every_look"] = contrast.anytime;
  json["more_rounds"] = contrast.answers_repeat ? Json(nullptr) : JsonOrNull(more);
  json["more_cases"] = contrast.answers_repeat ? JsonOrNull(more) : Json(nullptr);
  json["tokens"] = MeansToJson(contrast.tokens);
  json["output_tokens"] = MeansToJson(contrast.output_tokens);
  json["cost_usd"] = MeansToJson(contrast.cost_usd);
  json["seconds"] = MeansToJson(contrast.seconds);
  return json;
}

}  // namespace

NamedContrast ContrastBWithA(const ChoiceAnswers& a, const ChoiceAnswers& b) {
  const auto name = [](const ChoiceAnswers& one) { return ChoiceName{one.run, one.model, one.label(), one.arm}; };
  NamedContrast named{name(a), name(b), {}, {}};
  Result<Contrast> contrast = MakeContrast(b, a);
  if (contrast) {
    named.contrast = std::move(contrast).value();
  } else {
    named.problem = contrast.error().message;
  }
  return named;
}

ContrastWord WordFor(const Contrast& contrast, double margin, double alpha) {
  if (contrast.PAbove(0.0) <= alpha) return ContrastWord::kBetter;
  if (contrast.PBelow(0.0) <= alpha) return ContrastWord::kWorse;
  return contrast.PAbove(-margin) <= alpha ? ContrastWord::kNotWorse : ContrastWord::kNotShown;
}

const char* ContrastWordName(ContrastWord word) {
  switch (word) {
    case ContrastWord::kBetter:
      return "better";
    case ContrastWord::kNotWorse:
      return "not worse";
    case ContrastWord::kWorse:
      return "worse";
    case ContrastWord::kNotShown:
      break;
  }
  return "not shown";
}

// The interval whose ends are the bounds that the words rest on: one-sided, so that `better` and 0 within it exclude
// each other.
constexpr double kTwoSided = 1.0 - 2.0 * kContrastAlpha;

TerminalText ContrastsText(std::span<const NamedContrast> contrasts, double margin, const Style& style) {
  Table table({{"A → B", Table::Align::kLeft, true},
               {"difference (90 %)", Table::Align::kLeft},
               {"tokens with prompt", Table::Align::kLeft, false, 1},
               {"$", Table::Align::kLeft, false, 2},
               {"seconds", Table::Align::kLeft, false, 3}});
  TerminalText results;
  TerminalText problems;
  for (const NamedContrast& named : contrasts) {
    const std::string label =
        named.a.label == named.b.label ? named.a.label : fmt::format("{} → {}", named.a.label, named.b.label);
    if (!named.contrast) {
      problems += TerminalText::Format("{}: not compared: {}\n", label, named.problem);
      continue;
    }
    const Contrast& contrast = *named.contrast;
    const Interval range = contrast.Range(kTwoSided);
    table.AddRow({label,
                  fmt::format("{} points ({} … {})", PointsText(contrast.difference()), PointsText(range.low),
                              PointsText(range.high)),
                  MeasuredChange(contrast.tokens), MeasuredChange(contrast.cost_usd),
                  MeasuredChange(contrast.seconds)});
    const std::string rounds = Counted(static_cast<std::size_t>(contrast.rounds), "round");
    results += TerminalText::Format(
        "{}{}: {}\n", label, named.a.run == named.b.run ? "" : fmt::format(", in the {} that both runs have", rounds),
        Tinted(style, TintOfWord(WordFor(contrast, margin)), TerminalText::EscapeLine(WordText(contrast, margin))));
  }
  if (results.empty()) return problems;
  return table.Render(style) + results + problems;
}

Json ContrastsToJson(std::span<const NamedContrast> contrasts, double margin) {
  Json list = Json::array();
  for (const NamedContrast& named : contrasts) list.push_back(NamedContrastToJson(named, margin));
  return list;
}

}  // namespace upskill
