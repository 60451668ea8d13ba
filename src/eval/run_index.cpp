// SPDX-License-Identifier: Apache-2.0
#include "eval/run_index.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "eval/index_checksum.h"
#include "util/file_identity.h"
#include "util/folder.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "upskill index 2\n";
constexpr std::size_t kBuffer = 1U << 20U;
constexpr std::size_t kMostIdentity = 4096;

class IndexWriter {
 public:
  IndexWriter(const Fd& fd, fs::path path) : fd_(fd), path_(std::move(path)) {}

  template <typename T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    PutBytes(reinterpret_cast<const char*>(&value), sizeof value);  // NOLINT(*-reinterpret-cast)
  }
  void PutBytes(const char* bytes, std::size_t size) {
    sum_.Add(bytes, size);
    buffer_.append(bytes, size);
    if (buffer_.size() >= kBuffer) Flush();
  }
  Status Finish() {
    const std::uint64_t sum = sum_.value();
    Put(sum);
    Flush();
    return status_;
  }

 private:
  void Flush() {
    if (status_) status_ = WriteAll(fd_, buffer_, path_);
    buffer_.clear();
  }

  const Fd& fd_;
  fs::path path_;
  std::string buffer_;
  IndexChecksum sum_;
  Status status_;
};

// Reads what IndexWriter wrote. Once anything is missing, everything read is zero and `failed` is true.
class IndexReader {
 public:
  explicit IndexReader(const Fd& fd) : fd_(fd) {}

  template <typename T>
  T Take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    TakeBytes(reinterpret_cast<char*>(&value), sizeof value);  // NOLINT(*-reinterpret-cast)
    return value;
  }
  void TakeBytes(char* bytes, std::size_t size) {
    char* const start = bytes;
    const std::size_t all = size;
    while (size > 0 && !failed_) {
      if (at_ == buffer_.size()) Fill();
      const std::size_t part = std::min(size, buffer_.size() - at_);
      std::memcpy(bytes, buffer_.data() + at_, part);
      at_ += part;
      bytes += part;
      size -= part;
    }
    if (failed_) {
      std::memset(start, 0, all);
    } else {
      sum_.Add(start, all);
    }
  }
  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }
  // Whether the checksum is right and nothing follows.
  bool EndsWell() {
    const std::uint64_t expected = sum_.value();
    if (Take<std::uint64_t>() != expected || failed_) return false;
    if (at_ == buffer_.size()) Fill();
    return failed_;
  }

 private:
  void Fill() {
    buffer_.resize(kBuffer);
    at_ = 0;
    const ssize_t got = Uninterrupted([&] { return ::read(fd_.get(), buffer_.data(), buffer_.size()); });
    buffer_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got <= 0) failed_ = true;
  }

  const Fd& fd_;
  std::string buffer_;
  std::size_t at_ = 0;
  IndexChecksum sum_;
  bool failed_ = false;
};

// A hash of the journal's first and last bytes.
std::string EndsOf(const Fd& journal, std::uint64_t size) {
  constexpr std::uint64_t kEnd = 4096;
  std::string ends;
  for (const std::uint64_t offset : {std::uint64_t{0}, size - std::min(size, kEnd)}) {
    std::array<char, kEnd> block{};
    const ssize_t got =
        Uninterrupted([&] { return ::pread(journal.get(), block.data(), block.size(), static_cast<off_t>(offset)); });
    if (got > 0) ends.append(block.data(), static_cast<std::size_t>(got));
  }
  return Sha256Hex(ends);
}

}  // namespace

RunIndex::RunIndex(fs::path run_folder, const Fd& journal, Clock::Wall now) : folder_(std::move(run_folder)) {
  struct stat info{};
  if (::fstat(journal.get(), &info) != 0) return;
  journal_bytes_ = static_cast<std::uint64_t>(info.st_size);
  const std::optional<std::string> of_journal = FileIdentity(journal, now);
  const std::optional<std::string> of_plan = FileIdentity(folder_ / "plan.json", now);
  if (!of_journal || !of_plan) return;
  identity_ = fmt::format("{} {} {} {} {}", UPSKILL_VERSION, sizeof(SampleFigures), *of_plan, *of_journal,
                          EndsOf(journal, journal_bytes_));
}

Status RunIndex::Store(const RunData& data) const {
  if (!identity_) return {};
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(folder_));
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::MakeIn(folder, kIndexFile));
  IndexWriter out(file.fd(), folder_ / kIndexFile);
  out.PutBytes(kMagic.data(), kMagic.size());
  out.Put<std::uint64_t>(identity_->size());
  out.PutBytes(identity_->data(), identity_->size());
  out.Put<std::uint64_t>(data.skipped_lines_);
  out.Put<std::uint64_t>(data.sample_count_);
  out.Put(data.judged_);
  for (const auto& of_student : data.attempts_) {
    for (const ArmAttempts& attempts : of_student) {
      out.Put<std::uint64_t>(attempts.attempts);
      out.Put<std::uint64_t>(attempts.errors.size());
      for (const auto& [cause, count] : attempts.errors) {
        out.Put<std::uint64_t>(static_cast<std::uint64_t>(cause));
        out.Put<std::uint64_t>(count);
      }
    }
  }
  out.Put<std::uint64_t>(data.lost_.size());
  for (const RunData::Place& place : data.lost_) out.Put(place);
  for (const std::vector<RunData::Row>& rows : data.rows_) {
    out.Put<std::uint64_t>(rows.size());
    for (const RunData::Row& row : rows) {
      out.Put<std::uint64_t>(row.states.size());
      for (std::size_t at = 0; at < row.states.size(); ++at) {
        out.Put(row.states[at]);
        if (row.states[at] != 0) out.Put(*row.at(at).figures);
      }
    }
  }
  RETURN_IF_ERROR(out.Finish());
  return file.Publish(Durability::kNotSynced);
}

namespace {

// An index of another machine, version or state of the journal is none.
bool BeginsWith(IndexReader& in, const std::string& identity) {
  std::string magic(kMagic.size(), '\0');
  in.TakeBytes(magic.data(), magic.size());
  if (in.failed() || magic != kMagic) return false;
  const auto size = in.Take<std::uint64_t>();
  if (size > kMostIdentity) return false;
  std::string known(size, '\0');
  in.TakeBytes(known.data(), known.size());
  return !in.failed() && known == identity;
}

std::map<ErrorCause, std::size_t> TakeErrors(IndexReader& in) {
  constexpr std::uint64_t kMostCauses = 64;
  std::map<ErrorCause, std::size_t> errors;
  const auto count = in.Take<std::uint64_t>();
  if (count > kMostCauses) in.Fail();
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    const auto cause = in.Take<std::uint64_t>();
    if (cause >= kMostCauses) in.Fail();
    errors[static_cast<ErrorCause>(cause)] = in.Take<std::uint64_t>();
  }
  return errors;
}

bool IsAmount(double value, double most) { return std::isfinite(value) && value >= 0.0 && value <= most; }

}  // namespace

std::optional<RunData> RunIndex::Load(Plan plan) const {
  if (!identity_) return std::nullopt;
  const Result<Fd> fd = OpenRegularFile(folder_ / kIndexFile);
  if (!fd) return std::nullopt;
  IndexReader in(*fd);
  if (!BeginsWith(in, *identity_)) return std::nullopt;
  // What passed was answered, and what was answered is there.
  const auto is_state = [](std::uint8_t state) {
    using Row = RunData::Row;
    return state == Row::kSampled || state == (Row::kSampled | Row::kAnswered) ||
           state == (Row::kSampled | Row::kAnswered | Row::kPassed);
  };
  RunData data(std::move(plan));
  const std::size_t entries = data.plan_.suite.cases.size() * data.plan_.arms.size();
  data.skipped_lines_ = in.Take<std::uint64_t>();
  const auto sample_count = in.Take<std::uint64_t>();
  data.judged_ = in.Take<JudgeSummary>();
  for (auto& of_student : data.attempts_) {
    for (ArmAttempts& attempts : of_student) {
      attempts.attempts = in.Take<std::uint64_t>();
      attempts.errors = TakeErrors(in);
    }
  }
  const auto lost = in.Take<std::uint64_t>();
  for (std::uint64_t i = 0; i < lost && !in.failed(); ++i) {
    const auto place = in.Take<RunData::Place>();
    if (place.student >= data.rows_.size() || place.entry >= entries ||
        place.round >= static_cast<std::size_t>(data.plan_.rounds)) {
      return std::nullopt;
    }
    data.lost_.insert(place);
  }
  for (std::size_t student = 0; student < data.rows_.size() && !in.failed(); ++student) {
    const auto rounds = in.Take<std::uint64_t>();
    if (rounds > static_cast<std::uint64_t>(std::max(data.plan_.rounds, 0))) return std::nullopt;
    data.rows_[student].resize(rounds);
    for (std::uint64_t round = 0; round < rounds && !in.failed(); ++round) {
      const auto states = in.Take<std::uint64_t>();
      if (states != 0 && states != entries) return std::nullopt;
      for (std::uint64_t entry = 0; entry < states && !in.failed(); ++entry) {
        const auto state = in.Take<std::uint8_t>();
        if (state == 0) continue;
        const auto figures = in.Take<SampleFigures>();
        const bool inside =
            figures.place() <= journal_bytes_ && figures.line_bytes() <= journal_bytes_ - figures.place();
        if (!inside || !is_state(state) || figures.checks_passed() > figures.checks() ||
            !IsAmount(figures.seconds(), kMaxStoredSeconds) ||
            !IsAmount(figures.cost_usd().value_or(0.0), kMaxStoredUsd)) {
          return std::nullopt;
        }
        data.FiguresAt({student, round, entry}) = figures;
        data.rows_[student][round].states[entry] = state;
        ++data.sample_count_;
      }
    }
  }
  if (!in.EndsWell() || data.sample_count_ != sample_count) return std::nullopt;
  return data;
}

}  // namespace upskill
