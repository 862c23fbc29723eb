#include "core/explore/outcome.h"

#include <charconv>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {

std::string_view to_string(Outcome::Status status) {
  switch (status) {
    case Outcome::Status::kDone: return "done";
    case Outcome::Status::kRefused: return "refused";
    case Outcome::Status::kFailed: return "failed";
  }
  return "";
}

Outcome outcome_of(const Summary& summary) {
  const auto parts = summary.steady_parts();
  TUTTI_CHECK(parts.has_value(), "no step ended");
  Outcome made;
  made.step = parts->time;
  made.forward = parts->forward;
  made.backward = parts->backward;
  made.other_compute = parts->other_compute;
  made.communication = parts->communication;
  made.exposed = parts->exposed;
  made.slowed = parts->slowed;
  made.step_bound = summary.info().step_bound;
  made.communication_bound = summary.info().communication_bound;
  made.packs = std::ssize(summary.info().packs);
  made.seed = summary.info().seed;
  return made;
}

Outcome outcome_of(const Error& error) {
  Outcome made;
  made.status =
      error.kind() == ErrorKind::kRequest ? Outcome::Status::kRefused : Outcome::Status::kFailed;
  made.message = error.message();
  return made;
}

std::string to_text(const Outcome& outcome) {
  std::string text = fmt::format("{} {} {} {}", static_cast<int>(outcome.status),
                                 outcome.stopped ? 1 : 0, outcome.packs, outcome.seed);
  for (const Cost& cost : kCosts) text += fmt::format(" {}", (outcome.*cost.time).count());
  return text + '\n' + outcome.message;
}

std::optional<Outcome> outcome_from_text(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](auto& value, char behind) {
    const auto [stop, status] = std::from_chars(at, end, value);
    if (status != std::errc() || stop == end || *stop != behind) return false;
    at = stop + 1;
    return true;
  };
  Outcome outcome;
  int status = 0, stopped = 0;
  if (!number(status, ' ') || status < 0 || status > 2 || !number(stopped, ' ') ||
      !number(outcome.packs, ' ') || !number(outcome.seed, ' '))
    return std::nullopt;
  for (std::size_t i = 0; i < kCosts.size(); ++i) {
    std::int64_t count = 0;
    if (!number(count, i + 1 == kCosts.size() ? '\n' : ' ')) return std::nullopt;
    outcome.*kCosts[i].time = Time(count);
  }
  outcome.status = static_cast<Outcome::Status>(status);
  outcome.stopped = stopped != 0;
  outcome.message.assign(at, end);
  return outcome;
}

}  // namespace tutti::core
