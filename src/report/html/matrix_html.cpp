// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "report/export/junit_writer.h"
#include "report/export/matrix_files.h"
#include "report/html/html_template.h"
#include "report/html/page_policy.h"
#include "report/terminal/figures.h"
#include "report/terminal/verdict_words.h"
#include "util/text.h"

namespace upskill {
namespace {

// Beside the report's own style.
constexpr std::string_view kMatrixStyle = R"~css~(
.matrix thead th { vertical-align: bottom; }
.matrix tbody th { position: sticky; left: 0; background: var(--back); z-index: 1; max-width: min(20rem, 40vw); overflow: hidden; text-overflow: ellipsis; }
.matrix tbody th a { color: var(--text); text-decoration-color: var(--line); }
.matrix td .box { display: block; border-radius: 6px; padding: .25rem .6rem; min-width: 5.6rem; background: var(--sunk); }
.matrix td .box.helps { background: rgb(var(--good-wash) / .14); } .matrix td .box.hurts { background: rgb(var(--bad-wash) / .14); }
.matrix td .box.undecided { background: rgb(var(--warn-wash) / .12); }
.matrix td small { color: var(--muted); display: block; font-size: .75rem; }
.matrix .stands { font-weight: 700; }
.spot { font-weight: 650; color: var(--good); }
.choices { margin: .2rem 0 .6rem; width: 100%; }
.choices .number { text-align: right; }
.skill { border: 1px solid var(--line); border-radius: 10px; background: var(--card); margin-bottom: 8px; }
.skill .inside { padding: .2rem 1rem 1rem; border-top: 1px solid var(--line); overflow-x: auto; }
)~css~";

// An untrusted name: no markup, and without effect on the direction of what surrounds it.
std::string NameHtml(std::string_view name) { return fmt::format("<bdi>{}</bdi>", XmlText(SafeForTerminal(name))); }

std::string CellHtml(const MatrixCell* cell) {
  if (cell == nullptr) return "<td><span class=\"box\">·<small>not run</small></span></td>";
  if (!cell->lift) return "<td><span class=\"box\">–<small>no lift</small></span></td>";
  const std::string interval =
      cell->low && cell->high ? fmt::format("{} … {}", PointsText(*cell->low), PointsText(*cell->high)) : "";
  const bool stands = cell->in_table.stands;
  return fmt::format(
      "<td><span class=\"box {0}\" title=\"run {1}\"><span class=\"{0}{2}\">{3} {4}{5}</span><small>{6}{7}{8}</small>"
      "</span></td>",
      VerdictSlug(cell->verdict), XmlText(cell->run), stands ? " stands" : "", ShownAs(cell->verdict).sign,
      PointsText(*cell->shown_lift), stands ? " ✓" : "", VerdictName(cell->verdict), interval.empty() ? "" : "; ",
      interval);
}

std::string TableHtml(const Matrix& matrix, const std::vector<std::string>& names, std::size_t room) {
  std::string out =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"table-title\"><table class=\"matrix\">\n"
      "<thead><tr><th scope=\"col\">skill</th>";
  for (const std::string& name : names) out += fmt::format("<th scope=\"col\">{}</th>", NameHtml(name));
  out += "</tr></thead>\n<tbody>\n";
  std::string left_out;
  for (std::size_t i = 0; i < matrix.skills.size(); ++i) {
    if (out.size() > room) {
      left_out = fmt::format(
          "<p class=\"notice\">{} of {} skills are in this table; the others are in the CSV and JSON "
          "files (-o FILE.csv, -o FILE.json).</p>\n",
          i, matrix.skills.size());
      break;
    }
    out += fmt::format("<tr><th scope=\"row\"><a href=\"#skill-{}\">{}</a></th>", i, NameHtml(matrix.skills[i]));
    for (const std::string& model : matrix.models) out += CellHtml(matrix.at(matrix.skills[i], model));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n" + left_out;
}

std::string SkillHtml(const Matrix& matrix, std::size_t index, double margin) {
  const std::string& skill = matrix.skills[index];
  const SweetSpot spot = FindSweetSpot(matrix, skill, margin);
  std::string out = fmt::format(
      "<details class=\"skill\" id=\"skill-{}\"{}><summary><span class=\"id\"><b>{}</b></span></summary>"
      "<div class=\"inside\"><table class=\"choices\"><thead><tr>",
      index, matrix.skills.size() <= 8 ? " open" : "", NameHtml(skill));
  for (const ChoiceColumn& column : ChoiceColumns())
    out += fmt::format("<th{}>{}</th>", column.is_number ? " class=\"number\"" : "", column.heading);
  out += "</tr></thead>\n<tbody>\n";
  for (const ChoiceRow& row : ChoiceRows(spot)) {
    out += "<tr>";
    for (const ChoiceColumn& column : ChoiceColumns()) {
      const std::string& text = row.*column.text;
      const char* const style = column.is_number ? " class=\"number\"" : text == "best value" ? " class=\"spot\"" : "";
      out += fmt::format("<td{}>{}</td>", column.is_name ? "" : style, column.is_name ? NameHtml(text) : XmlText(text));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table>\n";
  for (const TerminalText& line : {SweetSpotLine(spot), NotComparedLine(spot)}) {
    if (!line.empty()) out += fmt::format("<p class=\"remark\">{}</p>\n", XmlText(Trim(line.text())));
  }
  return out + "</div></details>\n";
}

// As many skills as there is room for.
std::string SkillsHtml(const Matrix& matrix, double margin, std::size_t room) {
  std::string out;
  for (std::size_t i = 0; i < matrix.skills.size(); ++i) {
    const std::string one = SkillHtml(matrix, i, margin);
    if (out.size() + one.size() > room) {
      return out + fmt::format(
                       "<p class=\"notice\">{} of {} skills are shown in full; the others are in the CSV and JSON "
                       "files (-o FILE.csv, -o FILE.json).</p>\n",
                       i, matrix.skills.size());
    }
    out += one;
  }
  return out;
}

// What to use, and for which models each skill pays.
std::string ResultHtml(const Matrix& matrix) {
  constexpr std::size_t kMost = 12;
  std::string out;
  if (const std::string result = TableResult(matrix); !result.empty())
    out += fmt::format("<p class=\"result\">{}</p>\n", NameHtml(result));
  out += "<ul class=\"grounds\">";
  for (std::size_t i = 0; i < std::min(kMost, matrix.skills.size()); ++i) {
    const std::string sentence = WorthSentence(matrix, matrix.skills[i]);
    if (!sentence.empty()) out += fmt::format("<li>{}</li>\n", NameHtml(sentence));
  }
  if (matrix.skills.size() > kMost) out += fmt::format("<li>{} more</li>\n", matrix.skills.size() - kMost);
  return out + "</ul>\n";
}

std::string HeadHtml(const std::string& style) {
  return fmt::format(
      "<!doctype html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<html lang=\"en\">\n<head>\n<meta "
      "charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta "
      "name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n<title>upskill: skills and "
      "models</title>\n<style>{}</style>\n</head>\n",
      PagePolicy(style, ""), style);
}

}  // namespace

std::string MatrixHtml(const Matrix& matrix, const std::vector<std::string>& remarks, double margin) {
  const std::vector<std::string> names = ModelNames(matrix);
  const std::string style = std::string(HtmlStyle()).append(kMatrixStyle);
  std::string out = HeadHtml(style);
  out +=
      "<body>\n<header class=\"top\"><div class=\"bar\"><p class=\"brand\">upskill "
      "<span>report</span></p></div></header>\n"
      "<main>\n<section id=\"head\" aria-label=\"Summary\"><h1>Skills and models</h1>\n";
  out += ResultHtml(matrix);
  out += fmt::format("<p class=\"facts\"><span>{}</span><span>{}</span><span>{}</span></p></section>\n",
                     Counted(matrix.skills.size(), "skill"), Counted(matrix.models.size(), "model"),
                     Counted(matrix.verdicts, "verdict"));
  out += "<div id=\"notices\">";
  for (const std::string& remark : remarks)
    out += fmt::format("<p class=\"notice\">{}</p>\n", XmlText(SafeForTerminal(remark)));
  out += "</div>\n<section aria-labelledby=\"table-title\"><h2 id=\"table-title\">Verdicts</h2>\n<p class=\"hint\">";
  out += VerdictLegend() + ". Lift (change in pass rate) in percentage points, with its likely range.</p>\n";
  if (const std::string note = TableNote(matrix); !note.empty())
    out += fmt::format("<p class=\"hint\">{}</p>\n", XmlText(note));
  out += TableHtml(matrix, names, kMostMatrixPage / 2);
  out +=
      "</section>\n<section aria-labelledby=\"skills-title\"><h2 id=\"skills-title\">What to use</h2>\n<p "
      "class=\"hint\">For "
      "each skill, every model with and without it, and the cheapest choice that is shown to be good enough.</p>\n";
  out += SkillsHtml(matrix, margin, kMostMatrixPage - std::min(out.size() + 4096, kMostMatrixPage));
  return out + "</section>\n</main>\n<footer><p>Made by upskill.</p></footer>\n</body>\n</html>\n";
}

}  // namespace upskill
