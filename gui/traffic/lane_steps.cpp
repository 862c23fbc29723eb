#include "gui/traffic/lane_steps.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tutti::gui {

using core::Time;

namespace {

/// Returns a + b. Damaged files may contain any indices, so the sum may wrap around.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

void LaneSteps::add(const Step& step, bool receives) {
  const auto [last, first_of_key] = last_index_.try_emplace(step.key, step.index);
  if (!first_of_key && step.index <= last->second) return skip();
  last->second = step.index;
  append(step.key, step.index);
  if (receives) last_ = {step.peer, wrapping_sum(step.peer_index, -step.index), step.bytes.count()};
  push_message();
}

void LaneSteps::skip() {
  if (runs_.empty() || runs_.back().key.pack != kSkipped)
    runs_.push_back({added(), {0, kSkipped}, 0});
  push_message();
}

void LaneSteps::push_message() {
  peers_.push_back(last_.peer);
  peer_shifts_.push_back(last_.peer_shift);
  bytes_.push_back(last_.bytes);
}

void LaneSteps::append(const Key& key, std::int64_t index) {
  if (!runs_.empty()) {
    const Run& last = runs_.back();
    if (last.key == key && last.index + (added() - last.first) == index) return;
  }
  runs_.push_back({added(), key, index});
}

void LaneSteps::finish() {
  last_index_.clear();
  runs_.shrink_to_fit();
  peers_.shrink_to_fit();
  peer_shifts_.shrink_to_fit();
  bytes_.shrink_to_fit();
  by_key_.resize(runs_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0u);
  std::sort(by_key_.begin(), by_key_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::tie(runs_[a].key, runs_[a].index) < std::tie(runs_[b].key, runs_[b].index);
  });
}

std::optional<LaneSteps::Step> LaneSteps::step(Index span) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), span,
                       [](Index wanted, const Run& run) { return wanted < run.first; });
  if (after == runs_.begin()) return std::nullopt;
  const Run& run = *(after - 1);
  if (run.key.pack == kSkipped) return std::nullopt;
  const std::int64_t index = run.index + (span - run.first);
  return Step{run.key, index, static_cast<std::int32_t>(peers_[span]),
              wrapping_sum(peer_shifts_[span], index), core::Bytes(bytes_[span])};
}

std::optional<LaneSteps::Index> LaneSteps::find(const Key& key, std::int64_t index) const {
  const auto after = std::upper_bound(by_key_.begin(), by_key_.end(), std::tie(key, index),
                                      [this](const auto& wanted, std::uint32_t run) {
                                        return wanted < std::tie(runs_[run].key, runs_[run].index);
                                      });
  if (after == by_key_.begin()) return std::nullopt;
  const std::size_t number = *(after - 1);
  const Run& run = runs_[number];
  if (run.key != key || index - run.index >= length(number)) return std::nullopt;
  return run.first + static_cast<Index>(index - run.index);
}

std::int64_t LaneSteps::done(const Key& key, Time t) const {
  Index ended = spans_.first_from(t + Time(1));
  if (ended > 0 && spans_.end(ended - 1) > t) --ended;
  const auto after =
      std::partition_point(by_key_.begin(), by_key_.end(), [&](std::uint32_t number) {
        const Run& run = runs_[number];
        return std::tie(run.key, run.first) < std::tie(key, ended);
      });
  if (after == by_key_.begin()) return 0;
  const std::size_t number = *(after - 1);
  const Run& run = runs_[number];
  return run.key == key ? run.index + std::min(ended - run.first, length(number)) : 0;
}

std::size_t LaneSteps::memory() const {
  return runs_.capacity() * sizeof(Run) + by_key_.capacity() * sizeof(by_key_[0]) +
         peers_.memory() + peer_shifts_.memory() + bytes_.memory();
}

}  // namespace tutti::gui
