// NCCL corrects or ignores many values of its variables, and the rules differ between releases.
// This file applies the rules of a given release. If NCCL replaces a value, or if the release does
// not support a variable, this file adds a note. Values that NCCL would reject or that cannot be
// interpreted are problems. NCCL_ALGO and NCCL_PROTO have the most difficult rules. Up to 2.23,
// their value is one list for all functions, and unknown words are ignored. From 2.24 on, there can
// be one list per function, and unknown words are errors. A plain list excludes all algorithms that
// it does not name. A list after '^' excludes only the algorithms that it names. The folders
// search, tuning and time implement the effects of the settings.

#include "core/nccl/settings.h"

#include <algorithm>
#include <functional>
#include <span>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/number.h"
#include "core/nccl/number_settings.h"
#include "core/nccl/tuning/symmetric.h"

namespace tutti::core::nccl {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<std::size_t> index_of(std::string_view word,
                                    std::span<const std::string_view> names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](auto name) { return same_word(name, word); });
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

/// "CollNet" was the name of CollNetDirect until 2.13.
std::optional<std::size_t> index_of_algorithm(std::string_view word, Version version) {
  if (version < Version{2, 14, 0} && same_word(word, "CollNet"))
    return static_cast<std::size_t>(Algorithm::kCollNetDirect);
  return index_of(word, kAlgorithmNames);
}

/// Reads NCCL_ALGO or NCCL_PROTO: "ring,tree", "^ring", or, from 2.24 on, "ring;allreduce:tree".
/// SOURCE: NVIDIA/nccl src/graph/tuning.cc, parseList.
template <std::size_t n>
void read_list(const std::string& name, std::string_view text,
               std::span<const std::string_view, n> names, Version version,
               std::array<std::array<Preference, n>, kFunctions>& preferences, Problems& problems) {
  const bool strict = version >= Version{2, 24, 0};  // earlier releases ignored unknown words
  const auto parts = strict ? split(text, ';') : std::vector<std::string_view>{text};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view list = parts[i];
    std::optional<std::size_t> only;
    if (const auto colon = list.find(':'); strict && colon != std::string_view::npos) {
      const std::string_view function = list.substr(0, colon);
      only = index_of(function, kFunctionNames);
      if (!only)
        return problems.add({ProblemCode::kUnknownName, name}, {},
                            "{}={}: \"{}\" is not a function of NCCL; expected one of {}", name,
                            text, function, fmt::join(kFunctionNames, ", "));
      list.remove_prefix(colon + 1);
    } else if (i > 0) {
      return problems.add({ProblemCode::kSyntax, name}, {},
                          "{}={}: every list after the first must begin with the name of a "
                          "function, such as allreduce:{}",
                          name, text, list);
    }
    const bool excludes = list.starts_with('^');
    if (excludes) list.remove_prefix(1);
    for (std::size_t f = 0; f < kFunctions; ++f) {
      if (!only || *only == f) preferences[f].fill(excludes ? Preference::kYes : Preference::kNo);
    }
    for (const std::string_view word : split(list, ',')) {
      std::optional<std::size_t> which;
      if constexpr (n == kAlgorithms) which = index_of_algorithm(word, version);
      if constexpr (n != kAlgorithms) which = index_of(word, names);
      if (!which && !strict) continue;
      if (!which)
        return problems.add({ProblemCode::kUnknownName, name}, {},
                            "{}={}: \"{}\" is unknown; expected some of {}", name, text, word,
                            fmt::join(names, ", "));
      for (std::size_t f = 0; f < kFunctions; ++f) {
        if (!only || *only == f)
          preferences[f][*which] = excludes ? Preference::kNo : Preference::kYes;
      }
    }
  }
}

class SettingsReader {
 public:
  SettingsReader(Version version, Settings& settings, Problems& problems)
      : version_(version), settings_(settings), problems_(problems) {}

  /// Returns true if the variable is supported.
  bool read(const std::string& name, const std::string& value) {
    if (name == "NCCL_ALGO") {
      read_list<kAlgorithms>(name, value, kAlgorithmNames, version_, settings_.algorithms,
                             problems_);
    } else if (name == "NCCL_PROTO") {
      read_list<kProtocols>(name, value, kProtocolNames, version_, settings_.protocols, problems_);
    } else if (name == "NCCL_THREAD_THRESHOLDS") {
      thresholds(name, value);
    } else if (name == "NCCL_NET_GDR_LEVEL") {
      settings_.gdr_level = value;
    } else if (name == "NCCL_CTA_POLICY") {
      cta_policy(name, value);
    } else if (name == "NCCL_SYM_KERNEL") {
      symmetric_kernel(name, value);
    } else if (name == "NCCL_NVB_DISABLE") {
      forwarding_by_gpus(name, value);
    } else {
      return threads(name, value) || buffer(name, value) || count(name, value) || flag(name, value);
    }
    return true;
  }

 private:
  void thresholds(const std::string& name, const std::string& value) {
    std::istringstream text(value);
    for (std::int64_t& threshold : settings_.thread_thresholds) {
      if (!(text >> threshold)) {
        threshold = -2;
        break;
      }
    }
    std::string rest;
    text.clear();
    if (text >> rest)
      problems_.add({ProblemCode::kSyntax, name}, {},
                    "{}={}: expected up to six numbers separated by blanks, for tree LL, tree "
                    "LL128, tree Simple, ring LL, ring LL128 and ring Simple",
                    name, value);
  }

  /// SOURCE: NVIDIA/nccl src/init.cc. NCCL accepts numbers since 2.27, and names since 2.29.
  void cta_policy(const std::string& name, const std::string& value) {
    if (version_ < kSymmetricKernels) return not_yet(name, value, "2.27");
    constexpr std::string_view kNames[] = {"DEFAULT", "EFFICIENCY", "ZERO"};
    const auto number = whole_number<int>(value);
    const auto named =
        version_ >= Version{2, 29, 0} ? index_of(value, kNames) : std::optional<std::size_t>();
    if (named || (number && *number >= 0 && *number <= 2)) {
      settings_.cta_policy = static_cast<CtaPolicy>(named ? static_cast<int>(*named) : *number);
      if (settings_.cta_policy == CtaPolicy::kEfficiency)
        settings_.notes.push_back(
            fmt::format("{}={}: with this setting, NCCL uses NVLS for all-gathers and "
                        "reduce-scatters of registered buffers, which Tutti does not model",
                        name, value));
      return;
    }
    problems_.add(
        {ProblemCode::kUnknownName, name}, {},
        "{}={}: expected 0 (default), 1 (efficiency) or 2 (zero); NCCL 2.29 and later also accept "
        "DEFAULT, EFFICIENCY and ZERO",
        name, value);
  }

  void symmetric_kernel(const std::string& name, const std::string& value) {
    if (version_ < kSymmetricKernels) return not_yet(name, value, "2.27");
    if (value == "^") return;
    const auto names = symmetric_kernel_names();
    if (std::find(names.begin(), names.end(), value) == names.end())
      return problems_.add({ProblemCode::kUnknownName, name}, {}, "{}={}: expected one of {}", name,
                           value, fmt::join(names, ", "));
    settings_.symmetric_kernel = value;
  }

  /// Without forwarding, messages between GPUs without a common NVLink travel over PCIe. Published
  /// tables contain no such measurement, so Tutti could not predict their times. SOURCE:
  /// NVIDIA/nccl src/graph/paths.cc, ncclTopoSetPaths.
  void forwarding_by_gpus(const std::string& name, const std::string& value) {
    if (value == "0") return;  // NCCL's default
    if (value != "1")
      return problems_.add({ProblemCode::kWrongType, name}, {}, "{}={}: expected 0 or 1", name,
                           value);
    problems_.add({ProblemCode::kUnsupported, name}, {},
                  "{}={}: with this variable, GPUs without a common NVLink communicate over PCIe "
                  "instead of through a third GPU, and Tutti does not model the times of these "
                  "messages; remove the variable, which has an effect only on machines where some "
                  "GPUs have no common NVLink (such as a DGX-1); 'tutti import nccl-topology FILE "
                  "--graphs --set {}=1' prints the graphs that NCCL finds with the variable",
                  name, value, name);
  }

  void not_yet(const std::string& name, const std::string& value, const char* since) {
    settings_.notes.push_back(fmt::format(
        "{}={}: this setting has no effect in NCCL {}; the setting needs NCCL {} or later", name,
        value, to_string(version_), since));
  }

  bool threads(const std::string& name, const std::string& value) {
    Settings& s = settings_;
    if (name == "NCCL_NTHREADS") {
      s.threads = threads_as_taken(name, value, 64, 512, s.notes);
    } else if (name == "NCCL_LL128_NTHREADS") {
      s.ll128_threads = threads_as_taken(name, value, 160, 640, s.notes);
    } else {
      return false;
    }
    return true;
  }

  bool buffer(const std::string& name, const std::string& value) {
    Settings& s = settings_;
    const std::pair<const char*, std::optional<std::int64_t>&> all[] = {
        {"NCCL_BUFFSIZE", s.buffer_bytes},
        {"NCCL_LL_BUFFSIZE", s.ll_buffer_bytes},
        {"NCCL_LL128_BUFFSIZE", s.ll128_buffer_bytes}};
    for (const auto& [known, to] : all) {
      if (name != known) continue;
      to = buffer_as_taken(name, value, version_, s.notes, problems_);
      return true;
    }
    return false;
  }

  bool count(const std::string& name, const std::string& value) {
    struct Known {
      const char* name;
      std::optional<std::int64_t>& to;
      std::int64_t least;
    };
    Settings& s = settings_;
    const Known all[] = {{"NCCL_MIN_NCHANNELS", s.min_channels, 0},
                         {"NCCL_MAX_NCHANNELS", s.max_channels, 1},
                         {"NCCL_MIN_NRINGS", s.min_channels, 0},
                         {"NCCL_MAX_NRINGS", s.max_channels, 1},
                         {"NCCL_NVLS_NCHANNELS", s.nvls_channels, 1},
                         {"NCCL_NET_OVERHEAD", s.net_overhead_ns, 0},
                         {"NCCL_CROSS_NIC", s.cross_nic, 0},
                         {"NCCL_COLLNET_NODE_THRESHOLD", s.collnet_nodes, 0},
                         {"NCCL_SOCKET_NTHREADS", s.socket_threads, 0},
                         {"NCCL_SYM_CTAS", s.symmetric_blocks, 0},
                         {"NCCL_NSOCKS_PERTHREAD", s.sockets_per_thread, 0}};
    for (const Known& known : all) {
      if (name != known.name) continue;
      const auto given = whole_number<std::int64_t>(value);
      if (!given || *given < known.least) {
        problems_.add({given ? ProblemCode::kTooSmall : ProblemCode::kWrongType, name}, {},
                      "{}={}: expected a number from {}", name, value, known.least);
      } else {
        known.to = *given;
      }
      return true;
    }
    return false;
  }

  bool flag(const std::string& name, const std::string& value) {
    Settings& s = settings_;
    const std::pair<const char*, std::optional<bool>&> all[] = {
        {"NCCL_NVLS_ENABLE", s.nvls},         {"NCCL_PAT_ENABLE", s.pat},
        {"NCCL_COLLNET_ENABLE", s.collnet},   {"NCCL_LL128_C2C", s.ll128_c2c},
        {"NCCL_P2P_DISABLE", s.p2p_disabled}, {"NCCL_SHM_DISABLE", s.shm_disabled},
        {"NCCL_PXN_DISABLE", s.pxn_disabled}, {"NCCL_WIN_ENABLE", s.windows},
        {"NCCL_IB_DISABLE", s.ib_disabled},   {"NCCL_NET_DISABLE_INTRA", s.net_intra_disabled}};
    for (const auto& [known, to] : all) {
      if (name != known) continue;
      if (value == "0" || value == "1") {
        to = value == "1";
      } else if (value != "2" || (name != "NCCL_NVLS_ENABLE" && name != "NCCL_PAT_ENABLE")) {
        problems_.add({ProblemCode::kWrongType, name}, {}, "{}={}: expected 0 or 1", name, value);
      }
      if (name == "NCCL_NET_DISABLE_INTRA") heed_release_of(name, value);
      return true;
    }
    return false;
  }

  /// SOURCE: NVIDIA/nccl src/transport/net.cc of 2.12 and 2.13 (which transport may connect two
  /// GPUs), and src/graph/paths.cc since 2.14.
  void heed_release_of(const std::string& name, const std::string& value) {
    if (!settings_.net_intra_disabled.value_or(false) || version_ >= kNetInPaths) return;
    if (version_ >= kNetDisableIntra) {
      settings_.notes.push_back(fmt::format(
          "{}={}: this variable does not affect the paths of NCCL {}, because only NCCL 2.14 and "
          "later compare the network with the links between a machine's GPUs",
          name, value, to_string(version_)));
      return;
    }
    settings_.net_intra_disabled.reset();
    settings_.notes.push_back(
        fmt::format("{}={}: this variable has no effect in NCCL {}; it needs NCCL 2.12 or later",
                    name, value, to_string(version_)));
  }

  Version version_;
  Settings& settings_;
  Problems& problems_;
};

}  // namespace

std::vector<std::string> Settings::of_the_search() const {
  std::vector<std::string> names;
  if (p2p_disabled.value_or(false)) names.emplace_back("NCCL_P2P_DISABLE");
  if (shm_disabled.value_or(false)) names.emplace_back("NCCL_SHM_DISABLE");
  if (pxn_disabled.value_or(false)) names.emplace_back("NCCL_PXN_DISABLE");
  if (ib_disabled.value_or(false)) names.emplace_back("NCCL_IB_DISABLE");
  if (net_intra_disabled.value_or(false)) names.emplace_back("NCCL_NET_DISABLE_INTRA");
  if (cross_nic) names.emplace_back("NCCL_CROSS_NIC");
  if (gdr_level) names.emplace_back("NCCL_NET_GDR_LEVEL");
  return names;
}

Expected<Settings> read_settings(const std::vector<std::pair<std::string, std::string>>& variables,
                                 Version version, std::vector<std::string>* unknown) {
  Settings settings;
  Problems problems;
  SettingsReader reader(version, settings, problems);
  for (const auto& [name, value] : variables) {
    if (reader.read(name, value)) continue;
    if (unknown) {
      unknown->push_back(name);
    } else {
      problems.add({ProblemCode::kUnknownName, name}, {},
                   "{}={}: this variable does not affect Tutti's model of NCCL", name, value);
    }
  }
  if (!problems.empty()) return problems.take();
  return settings;
}

}  // namespace tutti::core::nccl
