// SPDX-License-Identifier: Apache-2.0
// Downloads from a scripted Hub on this machine.
#include "model/hub/gguf_hub.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/hub/gguf_hub_test.h"
#include "support/fake_hub.h"
#include "support/work_meter.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using loopback::Request;
using loopback::Script;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

const std::string kCommit(40, 'c');

TEST_F(GgufHub, WorkGrowsInStepWithTheListing) {
  std::string list;
  hub.OnHub([&](const Request&) { return loopback::Answer(200, list); });
  const auto growth = [&](const std::function<std::string(std::size_t)>& listing_of) {
    return GrowthPerDoubling(1500, [&](std::size_t count) {
      return [&, text = listing_of(count)] {
        list = text;
        EXPECT_NE(PullError().kind, ErrorKind::kUnavailable);
      };
    });
  };
  EXPECT_LT(growth([](std::size_t count) {
              std::string files;
              for (std::size_t i = 0; i < count; ++i)
                files += fmt::format(R"({}{{"rfilename":"m{}-00001-of-04096.gguf"}})", i == 0 ? "" : ",", i);
              return fmt::format(R"({{"sha":"{}","siblings":[{}]}})", kCommit, files);
            }),
            kMaxGrowthPerDoubling);
  EXPECT_LT(growth([](std::size_t count) {
              std::string keys;
              for (std::size_t i = 0; i < count; ++i) keys += fmt::format(R"(,"key {}":1)", i);
              return fmt::format(R"({{"sha":"{}","siblings":[]{}}})", kCommit, keys);
            }),
            kMaxGrowthPerDoubling);
}

TEST_F(GgufHub, AListOfCountlessValuesIsRejected) {
  std::string list = R"({"sha":")" + kCommit + R"(","siblings":[)";
  for (int i = 0; i < 500'000; ++i) list += "{},";
  hub.OnHub([&](const Request&) { return loopback::Answer(200, list + "{}]}"); });
  EXPECT_THAT(PullError().message, HasSubstr("list of files: too large: it has more than 500,000 values"));
}

TEST_F(GgufHub, PullsAWholeFile) {
  std::uint64_t last = 0;
  const Result<fs::path> file = Pull("q4_k_m", [&](std::uint64_t done, std::uint64_t total, const std::string& name) {
    EXPECT_EQ(total, content.size());
    EXPECT_EQ(name, kName);
    EXPECT_GE(done, last);
    last = done;
  });
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(last, content.size());
  EXPECT_EQ(*file, repo() / "snapshots" / std::string(40, 'a') / kName);
  EXPECT_EQ(*ReadFile(*file), content);
  EXPECT_EQ(fs::read_symlink(*file), "../../blobs/" + Sha256Hex(content));
  EXPECT_EQ(*ReadFile(repo() / "refs/main"), std::string(40, 'a'));
  const Result<fs::path> cached = FindCachedGguf(options.cache, {"org/repo", ""});
  ASSERT_TRUE(cached.ok());
  EXPECT_EQ(*cached, *file);
  // Files in the cache are not downloaded again.
  ExpectPulled(content);
  EXPECT_EQ(hub.storage().request_count(), 1U);
}

TEST_F(GgufHub, FilesWithoutLfsAndInFolders) {
  hub.SetWithoutLfs("deep/er/Q2_K/tiny.gguf", GgufBytes(100));
  const Result<fs::path> file = Pull("Q2_K");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*ReadFile(*file), GgufBytes(100));
  EXPECT_THAT(fs::read_symlink(*file).string(), HasSubstr("../../../../../blobs/"));
}

TEST_F(GgufHub, PullsAllParts) {
  std::vector<std::string> parts;
  for (int i = 1; i <= 3; ++i) {
    hub.Set(fmt::format("BF16/m-BF16-0000{}-of-00003.gguf", i), GgufBytes(1000, static_cast<char>('0' + i)));
  }
  std::uint64_t last = 0;
  const Result<fs::path> file = Pull("BF16", [&](std::uint64_t done, std::uint64_t total, const std::string& name) {
    EXPECT_EQ(total, 3000U);
    last = done;
    if (parts.empty() || parts.back() != name) parts.push_back(name);
  });
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->filename(), "m-BF16-00001-of-00003.gguf");
  EXPECT_EQ(*ReadFile(file->parent_path() / "m-BF16-00003-of-00003.gguf"), GgufBytes(1000, '3'));
  EXPECT_EQ(last, 3000U);
  EXPECT_THAT(parts, SizeIs(3));
}

TEST_F(GgufHub, AFileThatChangesMeanwhileIsAnError) {
  hub.OnHub([this](const Request& request) -> std::optional<Script> {
    if (request.path.find("/resolve/") == std::string::npos) return std::nullopt;
    return loopback::Answer(
        302, "",
        {{"Location", hub.storage().url() + "/" + kName}, {"X-Linked-Etag", "\"" + std::string(64, '0') + "\""}});
  });
  EXPECT_THAT(PullError().message, HasSubstr("has changed on the Hub since"));
  EXPECT_EQ(hub.storage().request_count(), 0U);
  EXPECT_FALSE(fs::exists(repo() / "refs/main"));
}

TEST_F(GgufHub, TheTokenIsSentOnlyToTheHub) {
  options.token = Secret("hf_secret");
  ExpectPulled(content);
  for (const Request& request : hub.hub().requests())
    EXPECT_THAT(request.headers, Contains(Pair("authorization", "Bearer hf_secret"))) << request.path;
  ASSERT_EQ(hub.storage().request_count(), 1U);
  for (const Request& request : hub.storage().requests())
    EXPECT_THAT(request.headers, Not(Contains(Key("authorization"))));
}

TEST_F(GgufHub, ErrorsDoNotRepeatTheToken) {
  options.token = Secret("hf_repeated");
  hub.OnHub([](const Request& request) -> std::optional<Script> {
    return loopback::Answer(400, R"({"error":"bad token )" + request.headers.at("authorization").substr(7) + "\"}");
  });
  EXPECT_THAT(PullError().message, AllOf(HasSubstr("bad token ***"), Not(HasSubstr("hf_repeated"))));
}

TEST_F(GgufHub, RepositoriesThatMovedAreFollowed) {
  options.token = Secret("hf_secret");
  hub.OnHub([](const Request& request) -> std::optional<Script> {
    const std::size_t at = request.path.find("org/old");
    if (at == std::string::npos) return std::nullopt;
    return loopback::Redirect(std::string(request.path).replace(at, 7, "org/repo"));  // a path on the same host
  });
  const Result<fs::path> file = PullGguf(client, options, {"org/old", ""});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_THAT(file->string(), HasSubstr("models--org--old"));
}

TEST_F(GgufHub, EndlessRedirectsAreAnError) {
  hub.OnHub([](const Request& request) -> std::optional<Script> { return loopback::Redirect(request.path); });
  EXPECT_THAT(PullError().message, HasSubstr("more than 5 redirects"));
  EXPECT_EQ(hub.hub().request_count(), 6U);
  hub.OnHub([](const Request&) -> std::optional<Script> { return loopback::Redirect("file:///etc/passwd"); });
  EXPECT_THAT(PullError().message, HasSubstr("invalid redirect"));
}

TEST_F(GgufHub, FilesWithoutAccessSayWhatToDo) {
  for (const int status : {401, 403, 404}) {
    hub.OnHub([status](const Request&) -> std::optional<Script> { return loopback::Answer(status, "{}"); });
    options.token = Secret();
    const Error error = PullError();
    EXPECT_EQ(error.kind, ErrorKind::kPermanent);
    EXPECT_EQ(error.message, "org/repo: not found, or private: set HF_TOKEN");
    options.token = Secret("hf_secret");
    EXPECT_THAT(PullError().message,
                AllOf(HasSubstr("not found, or private"), HasSubstr("has no access"), Not(HasSubstr("hf_secret"))));
  }
  hub.OnHub([](const Request&) -> std::optional<Script> {
    return loopback::Answer(403, "{}", {{"X-Error-Code", "GatedRepo"}});
  });
  EXPECT_THAT(PullError().message, HasSubstr("accept the conditions"));
  hub.OnHub([](const Request&) -> std::optional<Script> { return loopback::Answer(500, "oh"); });
  EXPECT_EQ(PullError().kind, ErrorKind::kUnavailable);
}

TEST_F(GgufHub, InvalidListsAreAnError) {
  for (const char* body :
       {"", "[]", "{}", "<html>", R"({"sha":"../../x","siblings":[]})",
        R"({"sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})",
        R"({"sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","siblings":[1,null,{"rfilename":2}]})"}) {
    hub.OnHub([body](const Request&) -> std::optional<Script> { return loopback::Answer(200, body); });
    EXPECT_THAT(PullError().kind, AnyOf(ErrorKind::kInput, ErrorKind::kNotFound)) << body;
  }
  EXPECT_FALSE(fs::exists(options.cache));
}

TEST_F(GgufHub, NamesOutsideTheFolderAreAnError) {
  for (const std::string name : {"../../../x-Q5_0.gguf", "/tmp/x-Q5_0.gguf", "a/../../x-Q5_0.gguf", "a\nb-Q5_0.gguf"}) {
    FakeHub hostile;
    hostile.Set(name, content);
    options.endpoint = hostile.endpoint();
    const Error error = PullError("Q5_0");
    EXPECT_EQ(error.kind, ErrorKind::kInput) << error.message;
    EXPECT_THAT(error.message, HasSubstr("file name"));
    EXPECT_EQ(hostile.storage().request_count(), 0U);
  }
}

TEST_F(GgufHub, HashesAndSizesAreChecked) {
  for (const std::string& hash :
       {std::string("../../../../x"), std::string(), std::string(63, 'a'), std::string(64, 'G')}) {
    hub.Claim(kName, hash, content.size());
    EXPECT_THAT(PullError().message, HasSubstr("no valid size and hash"));
  }
  hub.Claim(kName, std::string(64, 'a'), 0);
  EXPECT_THAT(PullError().message, HasSubstr("no valid size and hash"));
  hub.Claim(kName, std::string(64, 'a'), ~std::uint64_t{0});
  EXPECT_THAT(PullError().message, HasSubstr("no valid size and hash"));
  hub.Claim(kName, std::string(64, 'a'), std::uint64_t{1} << 44U);
  EXPECT_THAT(PullError().message, AllOf(HasSubstr("17.6 TB needed"), HasSubstr("free some space")));
  EXPECT_EQ(hub.storage().request_count(), 0U);
}

TEST_F(GgufHub, SeveralQuantsAreListed) {
  FakeHub several;
  several.Set("m-Q2_K.gguf", content);
  several.Set("m-Q3_K_S.gguf", content);
  several.Set("mmproj-m-Q8_0.gguf", content);
  options.endpoint = several.endpoint();
  EXPECT_THAT(PullError().message, AllOf(HasSubstr("2 GGUF files match"), HasSubstr("Q2_K, Q3_K_S")));
  EXPECT_THAT(PullError("Q8_0").message, HasSubstr("no GGUF file 'Q8_0'"));
}

TEST_F(GgufHub, AFolderThatCannotBeWrittenIsNamed) {
  options.cache = folder.Write("file", "") / "hub";
  const Error error = PullError();
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("file/hub"));
}

TEST_F(GgufHub, OfflineSendsNoRequest) {
  options.offline = true;
  EXPECT_THAT(PullError().message, HasSubstr("HF_HUB_OFFLINE"));
  EXPECT_EQ(hub.hub().request_count(), 0U);
}

TEST_F(GgufHub, NamesAreCheckedAgain) {
  EXPECT_FALSE(PullGguf(client, options, {"../..", ""}).ok());
  EXPECT_EQ(hub.hub().request_count(), 0U);
}

}  // namespace
}  // namespace upskill
