#include "core/explore/outcome.h"

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
  made.status = error.kind() == ErrorKind::kRequest ? Outcome::Status::kRefused : Outcome::Status::kFailed;
  made.message = error.message();
  return made;
}

}  // namespace tutti::core
