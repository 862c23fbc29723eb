#include "core/nccl/search/search_settings.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "core/base/number.h"

namespace tutti::core::nccl {

namespace {

constexpr std::array<std::string_view, 12> kPathTypes{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                      "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};

/// An environment variable with the values 0 and 1: its name, the member that it sets, and the
/// value of the member for "1".
struct Switch {
  std::string_view name;
  bool SearchSettings::*member;
  bool on = true;
};
constexpr std::array<Switch, 9> kSwitches{
    {{"NCCL_NET_GDR_C2C", &SearchSettings::gdr_c2c},
     {"NCCL_SHM_DISABLE", &SearchSettings::shm, false},
     {"NCCL_NVB_DISABLE", &SearchSettings::nvb, false},
     {"NCCL_PXN_DISABLE", &SearchSettings::pxn, false},
     {"NCCL_PXN_C2C", &SearchSettings::pxn_c2c},
     {"NCCL_NET_DISABLE_INTRA", &SearchSettings::net_inside, false},
     {"NCCL_NVLS_ENABLE", &SearchSettings::nvls},
     {"NCCL_COLLNET_ENABLE", &SearchSettings::collnet},
     {"NCCL_MNNVL_SCATTER_NETS_ENABLE", &SearchSettings::scatter_nets}}};
constexpr std::array<std::string_view, 5> kOthers{"NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE",
                                                  "NCCL_NET_GDR_LEVEL", "NCCL_CROSS_NIC",
                                                  "NCCL_NETDEVS_POLICY"};

/// Parses a maximum distance: a path type, given by its name or by the number that old versions
/// used for it.
std::optional<PathType> level(std::string_view text) {
  if (const auto type = path_type(text)) return *type <= PathType::kSys ? type : std::nullopt;
  constexpr std::array<PathType, 6> kOld{PathType::kLoc, PathType::kPix, PathType::kPxb,
                                         PathType::kPhb, PathType::kSys, PathType::kSys};
  const auto old = whole_number<int>(text);
  if (!old || *old < 0) return std::nullopt;
  return kOld[std::min(*old, 5)];
}

}  // namespace

std::string_view to_string(PathType type) { return kPathTypes[static_cast<std::size_t>(type)]; }

std::optional<PathType> path_type(std::string_view name) {
  for (std::size_t t = 0; t < kPathTypes.size(); ++t) {
    if (kPathTypes[t] == name) return static_cast<PathType>(t);
  }
  return std::nullopt;
}

Expected<void> set(SearchSettings& settings, std::string_view name, std::string_view value) {
  const auto expected = [&](std::string_view what, ProblemCode code = ProblemCode::kWrongType) {
    return tl::unexpected(Error::request({code, std::string(name)},
                                         fmt::format("{}={}: expected {}", name, value, what)));
  };
  for (const Switch& known : kSwitches) {
    if (known.name != name) continue;
    // NCCL_NVLS_ENABLE may also be 2, which means on if the hardware supports NVLS. The topology
    // states whether it does, so 2 means the same as 1 here.
    const bool two = name == "NCCL_NVLS_ENABLE" && value == "2";
    if (value != "0" && value != "1" && !two) return expected("0 or 1");
    settings.*known.member = (value != "0") == known.on;
    return {};
  }
  if (name == "NCCL_P2P_LEVEL" || name == "NCCL_NET_GDR_LEVEL") {
    const auto type = level(value);
    if (!type) return expected("LOC, NVL, PIX, PXB, PHB or SYS", ProblemCode::kUnknownName);
    (name == "NCCL_P2P_LEVEL" ? settings.p2p_level : settings.gdr_level) = type;
    return {};
  }
  if (name == "NCCL_P2P_DISABLE") {
    if (value != "0" && value != "1") return expected("0 or 1");
    if (value == "1") settings.p2p_level = PathType::kLoc;
    return {};
  }
  if (name == "NCCL_CROSS_NIC") {
    const auto cross = whole_number<int>(value);
    if (!cross) return expected("0, 1 or 2");
    if (*cross < 0 || *cross > 2)
      return expected("0, 1 or 2", *cross < 0 ? ProblemCode::kTooSmall : ProblemCode::kTooLarge);
    settings.cross_nic = *cross;
    return {};
  }
  if (name == "NCCL_NETDEVS_POLICY") {
    const bool most = value.starts_with("MAX:");
    const int count = most ? whole_number<int>(value.substr(4)).value_or(0) : 0;
    if (value != "AUTO" && value != "ALL" && count <= 0)
      return expected("AUTO, ALL or MAX:N",
                      most ? ProblemCode::kTooSmall : ProblemCode::kUnknownName);
    settings.net_policy = most             ? NetPolicy::kMax
                          : value == "ALL" ? NetPolicy::kAll
                                           : NetPolicy::kAuto;
    settings.max_nets = count;
    return {};
  }
  std::vector<std::string> all(kOthers.begin(), kOthers.end());
  for (const Switch& known : kSwitches) all.emplace_back(known.name);
  return tl::unexpected(
      Error::request({ProblemCode::kUnknownName, std::string(name)},
                     fmt::format("{}: NCCL's search does not use this variable{}; it uses {}", name,
                                 did_you_mean(name, all), fmt::join(all, ", "))));
}

}  // namespace tutti::core::nccl
