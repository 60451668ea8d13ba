// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/token_formats.h"

#include <array>

#include "trace/redact/secret_value.h"

namespace upskill {

namespace {

bool IsIn(char c, Charset charset) {
  const auto is_one_of = [c](std::string_view more) { return more.find(c) != std::string_view::npos; };
  switch (charset) {
    case Charset::kAlnum:
      return IsAlnumChar(c);
    case Charset::kWord:
      return IsAlnumChar(c) || is_one_of("_-");
    case Charset::kDotted:
      return IsAlnumChar(c) || is_one_of("_-.");
    case Charset::kPadded:
      return IsAlnumChar(c) || is_one_of("_-.=");
    case Charset::kHex:
      return IsHexChar(c);
    case Charset::kUpper:
      return IsDigitChar(c) || IsUpperChar(c);
    case Charset::kUpperDash:
      return IsDigitChar(c) || IsUpperChar(c) || c == '-';
    case Charset::kLower:
      return IsDigitChar(c) || IsLowerChar(c);
    case Charset::kBase64:
      return IsAlnumChar(c) || is_one_of("+/");
    case Charset::kDigits:
      return IsDigitChar(c);
    case Charset::kTilde:
      return IsAlnumChar(c) || is_one_of("_-.~");
    case Charset::kToken:
      return IsAlnumChar(c) || is_one_of("_-.=+/");
    case Charset::kPercent:
      return IsAlnumChar(c) || is_one_of("_-%");
  }
  return false;
}

}  // namespace

bool InCharset(char c, Charset charset) {
  // A bit for each set.
  static const std::array<std::uint16_t, 256> sets = [] {
    std::array<std::uint16_t, 256> all{};
    for (unsigned i = 0; i < 256; ++i) {
      for (unsigned k = 0; k < kCharsets; ++k) {
        if (IsIn(static_cast<char>(i), static_cast<Charset>(k))) all.at(i) |= static_cast<std::uint16_t>(1U << k);
      }
    }
    return all;
  }();
  return (sets[static_cast<unsigned char>(c)] >> static_cast<unsigned>(charset) & 1U) != 0;
}

// A table: one row for each format.
// NOLINTNEXTLINE(readability-function-size)
const std::vector<TokenFormat>& TokenFormats() {
  using enum Charset;
  constexpr std::uint16_t kAny = kAnyLength;
  static const std::vector<TokenFormat> all = {
      // Models and machine learning
      {"sk-ant-", "anthropic-key", kWord, 24, kAny},
      {"sk-or-v1-", "openrouter-key", kHex, 40, 64},
      {"sk-proj-", "openai-key", kWord, 24, kAny},
      {"sk-svcacct-", "openai-key", kWord, 24, kAny},
      {"sk-admin-", "openai-key", kWord, 24, kAny},
      {"sk-None-", "openai-key", kWord, 24, kAny},
      {"sk-kimi-", "moonshot-key", kWord, 24, kAny},
      {"sk-api-", "minimax-key", kWord, 24, kAny},
      {"sk-cp-", "minimax-key", kWord, 24, kAny},
      {"sk-sp-", "alibaba-key", kWord, 24, kAny},
      {"sk-do-", "digitalocean-key", kWord, 24, kAny},
      {"sk-helicone-", "helicone-key", kWord, 24, 80},
      {"sess-", "openai-session", kAlnum, 40, 40, 0, true},
      {"sk-lf-", "langfuse-key", kWord, 30, 40},
      {"pk-lf-", "langfuse-key", kWord, 30, 40},
      {"lsv2_pt_", "langsmith-key", kWord, 40, 50},
      {"lsv2_sk_", "langsmith-key", kWord, 40, 50},
      {"sk-", "openai-key", kAlnum, 32, kAny},
      {"hf_", "hf-token", kAlnum, 34, 34},
      {"hf_", "hf-token", kAlnum, 30, 40},
      {"api_org_", "hf-token", kAlnum, 34, 34},
      {"api_org_", "hf-token", kAlnum, 30, 40},
      {"gsk_", "groq-key", kAlnum, 40, 80},
      {"xai-", "xai-key", kAlnum, 60, 100},
      {"r8_", "replicate-token", kAlnum, 36, 40},
      {"pplx-", "perplexity-key", kAlnum, 40, 64},
      {"tvly-", "tavily-key", kWord, 24, 60},
      {"nvapi-", "nvidia-key", kWord, 50, 90},
      {"csk-", "cerebras-key", kAlnum, 40, 60},
      {"jina_", "jina-key", kWord, 50, 80},
      {"fw_", "fireworks-key", kAlnum, 22, 24, 0, true},
      {"pa-", "voyage-key", kWord, 43, 43, 0, true},
      {"pcsk_", "pinecone-key", kWord, 60, 80},
      {"tgp_v1_", "together-key", kWord, 40, 60},
      {"fc-", "firecrawl-key", kHex, 32, 32, 0, true},
      {"ABSK", "aws-bedrock-key", kBase64, 109, 269},
      {"bedrock-api-key-", "aws-bedrock-key", kBase64, 28, kAny},
      {"wandb_v1_", "wandb-key", kWord, 40, 100},
      {"crsr_", "cursor-key", kHex, 64, 64},
      {"e2b_", "e2b-key", kHex, 40, 40},
      {"rpa_", "runpod-key", kAlnum, 40, 60},
      {"sgamp_", "amp-key", kWord, 40, 120},
      {"ak-", "modal-token", kAlnum, 22, 22, 0, true, R"(ak-[A-Za-z0-9]*\d[A-Za-z0-9]*)"},
      {"as-", "modal-token", kAlnum, 22, 22, 0, true, R"(as-[A-Za-z0-9]*\d[A-Za-z0-9]*)"},
      {"sk_car_", "cartesia-key", kAlnum, 20, 40},
      // Clouds
      {"AKIA", "aws-key", kUpper, 16, 16},
      {"ASIA", "aws-key", kUpper, 16, 16},
      {"ABIA", "aws-key", kUpper, 16, 16},
      {"ACCA", "aws-key", kUpper, 16, 16},
      {"A3T", "aws-key", kUpper, 17, 17, 0, true},
      {"AIza", "google-key", kWord, 35, 35},
      {"AQ.", "google-key", kWord, 45, 100, 0, true},
      {"ya29.", "google-token", kWord, 30, kAny},
      {"GOCSPX-", "google-secret", kWord, 28, 28},
      {"1//0", "google-refresh-token", kWord, 60, 120},
      {"LTAI", "alibaba-key", kAlnum, 20, 20, 0, true},
      {"Q~", "azure-secret", kTilde, 31, 34, 4, true, R"([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})"},
      {"JQQJ99", "azure-key", kAlnum, 26, 26, 52, true},
      {"AZDO", "azure-devops-token", kAlnum, 4, 4, 76, true},
      {"+ASt", "azure-key", kBase64, 6, 6, 76, true},
      {"ACDb", "azure-key", kBase64, 6, 6, 76, true},
      {"dop_v1_", "digitalocean-token", kHex, 64, 64},
      {"doo_v1_", "digitalocean-token", kHex, 64, 64},
      {"dor_v1_", "digitalocean-token", kHex, 64, 64},
      {"HRKU-AA", "heroku-key", kWord, 58, 58},
      {"fo1_", "flyio-token", kWord, 43, 43},
      {"fm1r_", "flyio-token", kBase64, 100, kAny},
      {"fm1a_", "flyio-token", kBase64, 100, kAny},
      {"fm2_", "flyio-token", kBase64, 100, kAny},
      {"tk-us-", "scalingo-token", kWord, 48, 48},
      {"v1.0-", "cloudflare-ca-key", kWord, 171, 171, 0, true, "v1\\.0-[a-f0-9]{24}-[a-f0-9]{146}"},
      {"cfut_", "cloudflare-token", kAlnum, 48, 48},
      {"cfat_", "cloudflare-token", kAlnum, 48, 48},
      {"cfast_", "cloudflare-token", kAlnum, 48, 48},
      {"cfk_", "cloudflare-token", kAlnum, 48, 48},
      {"vcp_", "vercel-token", kAlnum, 24, 100},
      {"vci_", "vercel-token", kAlnum, 24, 100},
      {"vca_", "vercel-token", kAlnum, 24, 100},
      {"vcr_", "vercel-token", kAlnum, 24, 100},
      {"vck_", "vercel-token", kAlnum, 24, 100},
      {"vercel_blob_rw_", "vercel-token", kWord, 40, 60},
      {"rnd_", "render-key", kAlnum, 28, 32},
      {"napi_", "neon-key", kLower, 40, 80},
      {"npg_", "neon-password", kAlnum, 12, 12, 0, true, R"(npg_[A-Za-z]*\d[A-Za-z0-9]*)"},
      {"sha256~", "openshift-token", kWord, 43, 43},
      {"AQVN", "yandex-key", kWord, 35, 38, 0, true},
      {"t1.", "yandex-token", kPadded, 90, 400, 0, true, R"(t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2})"},
      {"y0_", "yandex-token", kWord, 55, 60, 0, true},
      {"LS0tLS1CRUdJTi", "private-key", kBase64, 100, kAny},
      {"ocid1.credential.", "oracle-secret", kDotted, 20, 200},
      // Code and packages
      {"ghp_", "github-token", kAlnum, 36, 36},
      {"gho_", "github-token", kAlnum, 36, 36},
      {"ghu_", "github-token", kAlnum, 36, 36},
      {"ghs_", "github-token", kAlnum, 36, 36},
      {"ghs_", "github-token", kDotted, 60, kAny, 0, false, R"(ghs_\d+_ey[\w-]+\.ey[\w-]+\.[\w-]+)"},
      {"ghu_", "github-token", kDotted, 60, kAny, 0, false, R"(ghu_\d+_ey[\w-]+\.ey[\w-]+\.[\w-]+)"},
      {"ghr_", "github-token", kAlnum, 36, 76},
      {"github_pat_", "github-token", kWord, 40, 82},
      {"glpat-", "gitlab-token", kWord, 20, 20},
      {"glpat-", "gitlab-token", kDotted, 20, 320},
      {"glrt-", "gitlab-token", kWord, 20, 20},
      {"glrt-", "gitlab-token", kDotted, 20, 320},
      {"glrtr-", "gitlab-token", kDotted, 20, 320},
      {"gldt-", "gitlab-token", kWord, 20, 20},
      {"gldt-", "gitlab-token", kWord, 20, 64},
      {"glcbt-", "gitlab-token", kWord, 22, 64},
      {"glptt-", "gitlab-token", kWord, 20, 64},
      {"glffct-", "gitlab-token", kWord, 20, 20},
      {"glffct-", "gitlab-token", kWord, 20, 64},
      {"glft-", "gitlab-token", kWord, 20, 20},
      {"glft-", "gitlab-token", kWord, 20, 64},
      {"glimt-", "gitlab-token", kWord, 25, 25},
      {"glimt-", "gitlab-token", kWord, 25, 64},
      {"glagent-", "gitlab-token", kWord, 50, 80},
      {"gloas-", "gitlab-token", kWord, 64, 64},
      {"glsoat-", "gitlab-token", kWord, 20, 20},
      {"glsoat-", "gitlab-token", kWord, 20, 64},
      {"glwt-", "gitlab-token", kWord, 20, 64},
      {"GR1348941", "gitlab-token", kWord, 20, 20},
      {"_gitlab_session=", "gitlab-session", kLower, 32, 32},
      {"npm_", "npm-token", kAlnum, 36, 36},
      {"pypi-AgE", "pypi-token", kWord, 40, kAny},
      {"rubygems_", "rubygems-key", kHex, 48, 48},
      {"oy2", "nuget-key", kLower, 43, 43, 0, true},
      {"CLOJARS_", "clojars-token", kAlnum, 60, 60},
      {"dckr_pat_", "docker-token", kWord, 24, 40},
      {"dckr_oat_", "docker-token", kWord, 24, 40},
      {"AKCp", "artifactory-key", kAlnum, 69, 69},
      {"cmVmd", "artifactory-token", kAlnum, 59, 59},
      {"sgp_", "sourcegraph-token", kWord, 40, 57, 0, true, "sgp_(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}"},
      {"pul-", "pulumi-token", kHex, 40, 40},
      {".atlasv1.", "terraform-token", kPadded, 60, 70, 14},
      {"pat.", "harness-key", kDotted, 68, 68, 0, true, R"(pat\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20})"},
      {"sat.", "harness-key", kDotted, 68, 68, 0, true, R"(sat\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20})"},
      {"API-", "octopus-key", kUpper, 26, 26, 0, true},
      {"ico-", "infracost-key", kAlnum, 32, 32, 0, true},
      {"pnu_", "prefect-key", kAlnum, 36, 36},
      {"pnb_", "prefect-key", kAlnum, 36, 36},
      {"cio", "crates-token", kAlnum, 32, 32, 0, true, R"(cio[A-Za-z0-9]*\d[A-Za-z0-9]*)"},
      {"rdme_", "readme-key", kLower, 70, 70},
      {"squ_", "sonar-token", kHex, 40, 40},
      {"sqp_", "sonar-token", kHex, 40, 40},
      {"sqa_", "sonar-token", kHex, 40, 40},
      {"bkua_", "buildkite-token", kHex, 40, 40},
      {"CCIPAT_", "circleci-token", kWord, 60, 64},
      {"CCIPRJ_", "circleci-token", kWord, 60, 64},
      {"nfp_", "netlify-token", kAlnum, 36, 40},
      {"nfc_", "netlify-token", kAlnum, 36, 40},
      {"nfo_", "netlify-token", kAlnum, 36, 40},
      {"nfu_", "netlify-token", kAlnum, 36, 40},
      {"lin_api_", "linear-key", kAlnum, 32, 48},
      {"lin_oauth_", "linear-key", kHex, 64, 64},
      {"PMAK-", "postman-key", kWord, 50, 64},
      {"PMAT-", "postman-key", kAlnum, 26, 26},
      {"s-s4t2ud-", "intra42-secret", kHex, 64, 64},
      {"s-s4t2af-", "intra42-secret", kHex, 64, 64},
      {"4b1d", "clickhouse-key", kAlnum, 38, 38, 0, true, "4b1d[A-Za-z0-9]*[G-Zg-z][A-Za-z0-9]*"},
      {"dapi", "databricks-token", kHex, 32, 32},
      {"dose", "databricks-token", kHex, 32, 32, 0, true},
      {"mdb_sa_sk_", "mongodb-secret", kWord, 40, 40},
      {"sbp_", "supabase-token", kHex, 40, 40},
      {"sb_secret_", "supabase-key", kWord, 20, 60},
      {"pscale_tkn_", "planetscale-token", kPadded, 32, 64},
      {"pscale_oauth_", "planetscale-token", kPadded, 32, 64},
      {"pscale_pw_", "planetscale-password", kPadded, 32, 64},
      {"sm_aat_", "settlemint-token", kAlnum, 16, 16},
      {"sm_pat_", "settlemint-token", kAlnum, 16, 16},
      {"sm_sat_", "settlemint-token", kAlnum, 16, 16},
      // Vaults and passwords
      {"hvs.", "vault-token", kWord, 24, 200},
      {"hvb.", "vault-token", kWord, 24, 300},
      {"hvr.", "vault-token", kWord, 24, 300},
      {"s.", "vault-token", kAlnum, 24, 24, 0, true, R"(s\.[A-Za-z]*(?:[A-Za-z]\d|\d[A-Za-z]).*)"},
      {"AGE-SECRET-KEY-1", "age-key", kUpper, 58, 58},
      {"ops_ey", "onepassword-token", kBase64, 100, kAny},
      {"ops_ey", "onepassword-token", kWord, 100, kAny},
      {"A3-", "onepassword-key", kUpperDash, 36, 37, 0, true,
       "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"},
      {"dp.pt.", "doppler-token", kAlnum, 40, 44},
      {"dp.st.", "doppler-token", kDotted, 40, 80},
      {"dp.ct.", "doppler-token", kAlnum, 40, 44},
      {"dp.sa.", "doppler-token", kAlnum, 40, 44},
      {"dp.scim.", "doppler-token", kAlnum, 40, 44},
      {"dp.audit.", "doppler-token", kAlnum, 40, 44},
      // Messages and mail
      {"xoxb-", "slack-token", kWord, 20, 200},
      {"xoxp-", "slack-token", kWord, 20, 200},
      {"xoxa-", "slack-token", kWord, 8, 200},
      {"xoxr-", "slack-token", kWord, 8, 200},
      {"xoxs-", "slack-token", kWord, 20, 200},
      {"xoxo-", "slack-token", kWord, 20, 200},
      {"xoxc-", "slack-token", kWord, 20, 200},
      {"xoxd-", "slack-token", kWord, 20, 400},
      {"xoxe-", "slack-token", kWord, 20, 400},
      {"xoxe.xoxb-", "slack-token", kWord, 20, 400},
      {"xoxe.xoxp-", "slack-token", kWord, 20, 400},
      {"xapp-", "slack-token", kWord, 20, 200},
      {"xwfp-", "slack-token", kWord, 20, 200},
      {"SG.", "sendgrid-key", kPadded, 60, 70},
      {"xkeysib-", "brevo-key", kWord, 81, 81},
      {"xsmtpsib-", "brevo-key", kWord, 81, 81},
      {"key-", "mailgun-key", kHex, 32, 32, 0, true},
      {"pubkey-", "mailgun-key", kHex, 32, 32, 0, true},
      {"-us", "mailchimp-key", kHex, 1, 2, 32, true, R"([a-f0-9]{32}-us\d{1,2})"},
      {"SK", "twilio-key", kHex, 32, 32, 0, true},
      {"b_", "beamer-token", kPadded, 44, 44, 0, true, R"(b_[A-Za-z0-9=_-]*[a-z]\d[A-Za-z0-9=_-]*)"},
      {"re_", "resend-key", kWord, 33, 33, 0, true, R"(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24})"},
      // Payment and shops
      {"sk_live_", "stripe-key", kAlnum, 10, 200},
      {"sk_test_", "stripe-key", kAlnum, 10, 200},
      {"sk_prod_", "stripe-key", kAlnum, 10, 200},
      {"sk_org_live_", "stripe-key", kAlnum, 10, 200},
      {"sk_org_test_", "stripe-key", kAlnum, 10, 200},
      {"rk_live_", "stripe-key", kAlnum, 10, 200},
      {"rk_test_", "stripe-key", kAlnum, 10, 200},
      {"rk_prod_", "stripe-key", kAlnum, 10, 200},
      {"whsec_", "stripe-key", kAlnum, 24, 80},
      {"shpat_", "shopify-token", kHex, 32, 32},
      {"shpss_", "shopify-token", kHex, 32, 32},
      {"shpca_", "shopify-token", kHex, 32, 32},
      {"shppa_", "shopify-token", kHex, 32, 32},
      {"sq0atp-", "square-token", kWord, 22, 60},
      {"sq0csp-", "square-token", kWord, 43, 43},
      {"EAAA", "square-token", kWord, 22, 60, 0, true},
      {"EZAK", "easypost-key", kAlnum, 54, 54, 0, true},
      {"EZTK", "easypost-key", kAlnum, 54, 54, 0, true},
      {"FLWSECK_TEST-", "flutterwave-key", kWord, 12, 34},
      {"FLWSECK-", "flutterwave-key", kWord, 12, 40},
      {"FLWPUBK_TEST-", "flutterwave-key", kWord, 34, 34},
      {"shippo_live_", "shippo-token", kHex, 40, 40},
      {"shippo_test_", "shippo-token", kHex, 40, 40},
      {"duffel_test_", "duffel-token", kPadded, 43, 43},
      {"duffel_live_", "duffel-token", kPadded, 43, 43},
      {"access-sandbox-", "plaid-token", kWord, 36, 36},
      {"access-development-", "plaid-token", kWord, 36, 36},
      {"access-production-", "plaid-token", kWord, 36, 36},
      {"live_pub_", "lob-key", kHex, 31, 31},
      {"test_pub_", "lob-key", kHex, 31, 31},
      {"live_", "lob-key", kHex, 35, 35, 0, true},
      {"test_", "lob-key", kHex, 35, 35, 0, true},
      {"rzp_live_", "razorpay-key", kAlnum, 14, 14},
      {"rzp_test_", "razorpay-key", kAlnum, 14, 14},
      {"p8e-", "adobe-secret", kAlnum, 32, 32, 0, true},
      // Monitoring
      {"NRAK-", "newrelic-key", kAlnum, 27, 27},
      {"NRJS-", "newrelic-key", kHex, 19, 19},
      {"NRII-", "newrelic-key", kWord, 32, 32},
      {"NRAL-", "newrelic-key", kWord, 32, 40},
      {"sntrys_", "sentry-token", kPadded, 40, kAny},
      {"sntrys_", "sentry-token", kBase64, 40, kAny},
      {"sntryu_", "sentry-token", kHex, 64, 64},
      {"glsa_", "grafana-token", kWord, 36, 60},
      {"glc_", "grafana-token", kBase64, 32, 400},
      {"eyJrIjoi", "grafana-key", kAlnum, 70, 400},
      {"ddp_", "datadog-key", kAlnum, 32, 40},
      {"dt0c01.", "dynatrace-token", kDotted, 89, 89},
      {"dt0s01.", "dynatrace-token", kDotted, 89, 89},
      {"dt0s16.", "dynatrace-token", kDotted, 73, 89},
      {"phc_", "posthog-key", kAlnum, 43, 43},
      {"phx_", "posthog-key", kAlnum, 40, 60},
      {"sdk-", "launchdarkly-key", kWord, 36, 36, 0, true,
       "sdk-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
      {"api-", "launchdarkly-key", kWord, 36, 36, 0, true,
       "api-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
      {"waka_", "wakatime-key", kWord, 36, 36},
      {"hcaik_", "honeycomb-key", kLower, 58, 58},
      // Everything else
      {"ntn_", "notion-token", kAlnum, 40, 60},
      {"secret_", "notion-token", kAlnum, 43, 43, 0, true},
      {"figd_", "figma-token", kWord, 36, 60},
      {"ATATT3", "atlassian-token", kPadded, 60, 240},
      {"ATCTT3", "atlassian-token", kPadded, 60, 240},
      {"ATBB", "bitbucket-password", kAlnum, 32, 32, 0, true},
      {"tskey-", "tailscale-key", kWord, 24, 80},
      {"dnkey-", "defined-networking-token", kPadded, 79, 79},
      {"pat", "airtable-token", kDotted, 79, 79, 0, true, R"(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})"},
      {"fio-u-", "frameio-token", kPadded, 64, 64},
      {"tfp_", "typeform-token", kPadded, 40, 64},
      {"_mmk", "maxmind-key", kWord, 0, 0, 36, true, "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"},
      {"EAAM", "facebook-token", kAlnum, 100, kAny},
      {"EAAC", "facebook-token", kAlnum, 100, kAny},
      {"EAACEdEose0cBA", "facebook-token", kAlnum, 20, kAny},
      {"EAAG", "facebook-token", kAlnum, 100, kAny},
      {"IGQV", "instagram-token", kWord, 100, kAny},
      {"pk.eyJ1Ijoi", "mapbox-token", kDotted, 40, 200},
      {"sk.eyJ1Ijoi", "mapbox-token", kDotted, 40, 200},
      {"pk.", "mapbox-token", kDotted, 83, 83, 0, true, R"(pk\.[A-Za-z0-9]{60}\.[A-Za-z0-9]{22})"},
      {"sl.", "dropbox-token", kPadded, 130, 160, 0, true},
      {"sc_", "authress-key", kToken, 60, 200, 0, true, R"(sc_.{5,30}\..{4,6}\.acc[_-].{10,32}\.[\w+/=-]{30,120})"},
      {"ext_", "authress-key", kToken, 60, 200, 0, true, R"(ext_.{5,30}\..{4,6}\.acc[_-].{10,32}\.[\w+/=-]{30,120})"},
      {"scauth_", "authress-key", kToken, 60, 200, 0, true,
       R"(scauth_.{5,30}\..{4,6}\.acc[_-].{10,32}\.[\w+/=-]{30,120})"},
      {"authress_", "authress-key", kToken, 60, 200, 0, true,
       R"(authress_.{5,30}\..{4,6}\.acc[_-].{10,32}\.[\w+/=-]{30,120})"},
      {"YC", "yandex-key", kWord, 38, 38, 0, true, R"(YC[A-Za-z0-9_-]*[a-z][A-Za-z0-9_-]*\d[A-Za-z0-9_-]*)"},
      {"ZXlK", "jwt", kBase64, 60, kAny},
      {"CFPAT-", "contentful-token", kWord, 43, 43},
      {"RGAPI-", "riot-key", kWord, 36, 36},
      {"zpka_", "zuplo-key", kWord, 40, 80},
      {"sk_", "elevenlabs-key", kHex, 48, 48, 0, true},
      {"apify_api_", "apify-token", kAlnum, 36, 40},
      {"cal_live_", "calcom-key", kHex, 32, 32},
  };
  return all;
}

}  // namespace upskill
