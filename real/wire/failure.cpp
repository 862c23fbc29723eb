#include "real/wire/failure.h"

#include "real/proto/run.pb.h"
#include "real/wire/peer_text.h"

namespace tutti::real {

using core::Error;
using core::ProblemCode;
using core::ProblemKind;

const ProblemKind& kind_of(const Error& error) { return error.problems().front().kind; }

void write_failure(const Error& error, proto::Failure& failure) {
  const ProblemKind& kind = kind_of(error);
  failure.set_text(error.message());
  failure.set_request(error.kind() == core::ErrorKind::kRequest);
  failure.set_code(std::string(to_string(kind.code)));
  if (kind.worker >= 0) failure.set_worker(kind.worker);
}

Error error_of(const proto::Failure& failure) {
  ProblemKind kind{core::parse_problem_code(failure.code()).value_or(ProblemCode::kInvalid)};
  if (failure.has_worker() && failure.worker() >= 0) kind.worker = failure.worker();
  const std::string text = peer_text(failure.text(), kLongestFailure, core::LineBreaks::kStay);
  return failure.request() ? Error::request(kind, text) : Error::run(kind, text);
}

}  // namespace tutti::real
