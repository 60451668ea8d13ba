// SPDX-License-Identifier: Apache-2.0
#include "cli/options/matrix_output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "report/export/matrix_files.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

enum class TableFormat { kHtml, kMarkdown, kCsv, kJson };

Result<TableFormat> TableFormatOf(const std::string& output) {
  const std::string extension = ToLowerAscii(std::filesystem::path(output).extension().string());
  if (extension == ".html" || extension == ".htm") return TableFormat::kHtml;
  if (extension == ".md" || extension == ".markdown") return TableFormat::kMarkdown;
  if (extension == ".csv") return TableFormat::kCsv;
  if (extension == ".json") return TableFormat::kJson;
  return InputError(
      fmt::format("-o {}: can't tell the format from this name; end it with .html, .md, .csv or .json", output));
}

std::string ContentOf(const Matrix& matrix, const std::vector<std::string>& remarks, double margin,
                      TableFormat format) {
  switch (format) {
    case TableFormat::kHtml:
      return MatrixHtml(matrix, remarks, margin);
    case TableFormat::kMarkdown:
      return MatrixMarkdown(matrix, remarks, margin);
    case TableFormat::kCsv:
      return MatrixCsv(matrix);
    case TableFormat::kJson:
      break;
  }
  Json document = MatrixToJson(matrix, margin);
  document["remarks"] = remarks;
  return DumpJsonIndented(document) + "\n";
}

}  // namespace

void AddMatrixOutputOption(CLI::App& command, std::string& output) {
  command
      .add_option("-o,--output", output,
                  "Also write the table of skills and models to this file: .html, .md, .csv or .json")
      ->type_name("FILE");
}

Status CheckMatrixOutput(const std::string& output) {
  if (output.empty()) return {};
  const Result<TableFormat> format = TableFormatOf(output);
  return format ? Status() : Status(format.error());
}

Status WriteMatrixOutput(const Matrix& matrix, const std::vector<std::string>& remarks, double margin,
                         const std::string& output, bool out_has_document, Env& env) {
  if (output.empty()) return {};
  ASSIGN_OR_RETURN(const TableFormat format, TableFormatOf(output));
  const std::string content = ContentOf(matrix, remarks, margin, format);
  RETURN_IF_ERROR(WriteOutputFile(output, content));
  const TerminalText line = TerminalText::Format("{} written: {}, {}\n", output, Counted(matrix.skills.size(), "skill"),
                                                 Counted(matrix.models.size(), "model"));
  if (out_has_document) {
    env.error(line);
  } else {
    env.out(line);
  }
  return {};
}

}  // namespace upskill
