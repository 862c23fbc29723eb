#include "core/explore/strategy_trials.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::core {
namespace {

/// Formats values for a note: "2, 4 and 98 more".
std::string shown_list(const std::vector<std::string>& values) {
  constexpr std::size_t kMax = 5;
  const std::vector<std::string> first(values.begin(),
                                       values.begin() + std::min(values.size(), kMax));
  return fmt::format("{}", fmt::join(first, ", ")) +
         (values.size() > kMax ? fmt::format(" and {} more", values.size() - kMax) : "");
}

}  // namespace

std::vector<std::string> StrategyTrials::choose(const std::vector<Axis>& axes) {
  std::vector<std::string> notes;
  for (const Axis& axis : axes) {
    const std::string& field = axis.fields.front();
    bool tried = axis.fields.size() == 1 && field.starts_with(kStrategyPrefix);
    const std::size_t needed = axis.rows.size() * names_.size();
    if (tried && all_ + needed > kMaxTrials) {
      tried = false;
      notes.push_back(
          fmt::format("every strategy is simulated with all {} values of {}, even if it does not "
                      "support some of them, because at most {} combinations of strategy and value "
                      "are checked before the sweep",
                      axis.rows.size(), field, kMaxTrials));
    }
    if (tried) all_ += needed;
    tried_.push_back(tried);
  }
  return notes;
}

std::optional<AcceptedValues> StrategyTrials::accepted(const Axis& axis, bool outside) {
  const std::string& field = axis.fields.front();
  // Reasons by alternative and value; nullopt if the value is accepted.
  std::vector<std::vector<std::optional<std::string>>> why;
  for (const StrategySettings& one : selected_) {
    auto& reasons = why.emplace_back();
    for (const std::vector<std::string>& row : axis.rows) {
      if (control_.stop && control_.stop()) stopped_ = true;
      if (stopped_) return std::nullopt;
      reasons.push_back(alternatives_.why_not(one, field, row.front()));
      if (control_.progress)
        control_.progress(static_cast<double>(++done_) / static_cast<double>(all_));
    }
  }
  const auto accepts = [&](std::size_t a) {
    return std::any_of(why[a].begin(), why[a].end(), [](const auto& w) { return !w; });
  };
  bool any_accepts = false;
  for (std::size_t a = 0; a < names_.size(); ++a) any_accepts = any_accepts || accepts(a);
  AcceptedValues found{field, std::vector<std::vector<std::string>>(names_.size()), {}};
  bool differ = false;
  for (std::size_t a = 0; a < names_.size(); ++a) {
    std::vector<std::string> left_out;
    std::string reason;
    if (!accepts(a)) found.values[a].emplace_back();
    differ = differ || !accepts(a);
    for (std::size_t v = 0; v < axis.rows.size(); ++v) {
      const bool by_none =
          std::all_of(why.begin(), why.end(), [&](const auto& w) { return w[v].has_value(); });
      const bool stays = accepts(a) ? !why[a][v] || outside || by_none : !any_accepts;
      if (stays) {
        found.values[a].push_back(axis.rows[v].front());
        continue;
      }
      if (left_out.empty()) reason = *why[a][v];
      left_out.push_back(axis.rows[v].front());
    }
    if (left_out.empty()) continue;
    differ = true;
    found.notes.push_back(fmt::format("strategy={} is simulated without {}={}: {}", names_[a],
                                      field.substr(kStrategyPrefix.size()), shown_list(left_out),
                                      reason));
  }
  return differ ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace tutti::core
