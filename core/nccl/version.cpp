#include "core/nccl/version.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tutti::core::nccl {
namespace {

/// The patch number that represents a version without a patch number, such as "2.18". This patch
/// number is higher than that of any release.
constexpr int kLastPatch = 99;

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(stop - text.data());
  return number;
}

/// Decodes NCCL_VERSION_CODE. Before 2.9, 2408 is 2.4.8; from 2.9 on, 20903 is 2.9.3. SOURCE:
/// NVIDIA/nccl src/nccl.h.in.
Version of_code(int code) {
  if (code < 10'000) return {code / 1'000, code / 100 % 10, code % 100};
  return {code / 10'000, code / 100 % 100, code % 100};
}

std::optional<Version> read(std::string_view text) {
  const auto first = take_number(text);
  if (!first) return std::nullopt;
  if (text.empty()) return *first >= 2'000 ? std::optional(of_code(*first)) : std::nullopt;
  Version version{*first, 0, kLastPatch};
  if (!text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  const auto second = take_number(text);
  if (!second) return std::nullopt;
  version.minor = *second;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const auto third = take_number(text);
    if (!third) return std::nullopt;
    version.patch = *third;
  }
  const bool ended =
      text.empty() || text.front() == '+' || text.front() == '-' || text.front() == ' ';
  return ended ? std::optional(version) : std::nullopt;
}

}  // namespace

Expected<Version> parse_version(std::string_view written) {
  const auto version = read(written);
  if (!version)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kSyntax},
        fmt::format("NCCL version {}: expected a release such as 2.18.3 or 2.28", written)));
  if (*version < kOldestVersion)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kUnsupported},
        fmt::format("NCCL version {}: older than {}, the oldest release whose choice is modelled",
                    written, to_string(kOldestVersion))));
  return *version;
}

std::string to_string(Version version) {
  if (version.patch == kLastPatch) return fmt::format("{}.{}", version.major, version.minor);
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace tutti::core::nccl
