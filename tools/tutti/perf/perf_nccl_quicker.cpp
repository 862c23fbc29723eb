#include "tools/tutti/perf/perf_nccl_quicker.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::tools {

namespace nccl = core::nccl;

namespace {

std::string as_text(const FasterSettings::Variables& variables) {
  std::string text;
  for (const auto& [name, value] : variables)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace

std::optional<FasterSetting> FasterSettings::than(const NcclPerfRow& row,
                                                  const std::vector<nccl::Candidate>& considered) {
  std::optional<FasterSetting> best;
  for (const nccl::Candidate& one : considered) {
    const bool chosen =
        one.algorithm == row.choice->algorithm && one.protocol == row.choice->protocol;
    if (one.off || chosen) continue;
    const std::pair<std::string, std::string> algorithm{"NCCL_ALGO", to_string(one.algorithm)};
    const std::pair<std::string, std::string> protocol{"NCCL_PROTO", to_string(one.protocol)};
    // Try settings with few variables first.
    for (const Variables& more :
         {Variables{protocol}, Variables{algorithm}, Variables{algorithm, protocol}}) {
      const auto found = with(more, row.bytes, one);
      if (!found) continue;
      if (!best || found->us < best->us) best = found;
      break;
    }
  }
  const bool by_more_than_the_band = best && row.time.us() * row.band.low > best->us;
  return by_more_than_the_band ? best : std::nullopt;
}

/// Returns the setting with these additional variables; nullopt if NCCL would not choose `wanted`
/// with this setting.
std::optional<FasterSetting> FasterSettings::with(const Variables& more, std::int64_t bytes,
                                                  const nccl::Candidate& wanted) {
  for (const Variables::value_type& variable : more) {
    if (std::any_of(variables_.begin(), variables_.end(),
                    [&](const auto& set) { return set.first == variable.first; }))
      return std::nullopt;
  }
  const std::string text = as_text(more);
  const auto [known, fresh] = predictors_.try_emplace(text);
  if (fresh) {
    Variables all = variables_;
    all.insert(all.end(), more.begin(), more.end());
    if (auto settings = nccl::read_settings(all, subject_.comm.version)) {
      settings->tuner = subject_.settings.tuner;
      settings->buffers = subject_.settings.buffers;
      known->second.emplace(subject_.system, subject_.comm, *settings, parameters_, bands_,
                            calibration_);
    }
  }
  if (!known->second) return std::nullopt;
  auto time = known->second->of(request_.collective, bytes, request_.type, request_.reduction);
  if (!time || time->choice->algorithm != wanted.algorithm ||
      time->choice->protocol != wanted.protocol)
    return std::nullopt;
  if (bound_) bound_->apply(*time);
  return FasterSetting{text, time->time.us()};
}

}  // namespace tutti::tools
