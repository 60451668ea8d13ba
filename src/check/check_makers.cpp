// SPDX-License-Identifier: Apache-2.0
#include "check/check_makers.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "check/activation_check.h"
#include "check/command_check.h"
#include "check/judge_check.h"
#include "check/text_checks.h"

namespace upskill {
namespace {

template <DataFormat kFormat>
Result<std::unique_ptr<Check>> MakeValueCheckOf(const CheckSpec& spec, CaseParts& parts) {
  return MakeValueCheck(kFormat, spec, parts);
}

template <CheckKind kKind>
Result<std::unique_ptr<Check>> MakeGroupOf(const CheckSpec& spec, CaseParts& parts) {
  return MakeGroup(kKind, spec, parts);
}

constexpr std::array kOwnMakers = {
    CheckMakerRow{CheckKind::kContains, MakeContains},
    CheckMakerRow{CheckKind::kNotContains, MakeNotContains},
    CheckMakerRow{CheckKind::kAnyOf, MakeAnyOf},
    CheckMakerRow{CheckKind::kInOrder, MakeInOrder},
    CheckMakerRow{CheckKind::kEquals, MakeEquals},
    CheckMakerRow{CheckKind::kRegex, MakeRegex},
    CheckMakerRow{CheckKind::kNotRegex, MakeNotRegex},
    CheckMakerRow{CheckKind::kNumber, MakeNumber},
    CheckMakerRow{CheckKind::kJsonSchema, MakeJsonSchema},
    CheckMakerRow{CheckKind::kJsonValue, MakeValueCheckOf<DataFormat::kJson>},
    CheckMakerRow{CheckKind::kTomlValue, MakeValueCheckOf<DataFormat::kToml>},
    CheckMakerRow{CheckKind::kYamlValue, MakeValueCheckOf<DataFormat::kYaml>},
    CheckMakerRow{CheckKind::kFileExists, MakeFileExists},
    CheckMakerRow{CheckKind::kCommand, MakeCommandCheck},
    CheckMakerRow{CheckKind::kAll, MakeGroupOf<CheckKind::kAll>},
    CheckMakerRow{CheckKind::kAny, MakeGroupOf<CheckKind::kAny>},
    CheckMakerRow{CheckKind::kAtLeast, MakeGroupOf<CheckKind::kAtLeast>},
    CheckMakerRow{CheckKind::kKernelBuilder, MakeKernelBuilder},
    CheckMakerRow{CheckKind::kJudge, MakeJudge},
    CheckMakerRow{CheckKind::kActivates, MakeActivates},
    CheckMakerRow{CheckKind::kToolCall, MakeToolCall},
};

// Those of cuda_* come from the CUDA wing (AddCheckMakers).
constexpr bool kEachHasOne = std::ranges::all_of(kCheckTypes, [](const CheckType& type) {
  return type.name.starts_with("cuda_") ||
         std::ranges::any_of(kOwnMakers, [&](const CheckMakerRow& row) { return row.kind == type.kind; });
});
static_assert(kEachHasOne, "a type of kCheckTypes has no row in kOwnMakers");

using MakersByKind = std::array<CheckMaker, kCheckTypes.size()>;

MakersByKind& Makers() {
  static MakersByKind makers = [] {
    MakersByKind own{};
    for (const CheckMakerRow& row : kOwnMakers) own.at(static_cast<std::size_t>(row.kind)) = row.make;
    return own;
  }();
  return makers;
}

}  // namespace

CheckMaker FindCheckMaker(CheckKind kind) { return Makers().at(static_cast<std::size_t>(kind)); }

void AddCheckMakers(std::span<const CheckMakerRow> makers) {
  for (const CheckMakerRow& row : makers) Makers().at(static_cast<std::size_t>(row.kind)) = row.make;
}

}  // namespace upskill
