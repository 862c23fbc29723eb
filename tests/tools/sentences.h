// What processes of a run say in words alone: no exit status, code or value has it. Each sentence
// that several tests look for stands here once, so that it can be worded anew in one place.
#pragma once

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tutti::test {

/// In the notes of a run: its results were compared.
inline constexpr const char* kVerified = "results verified: every element is correct";

inline auto says_verified() { return testing::HasSubstr(kVerified); }

/// On stderr, of worker `w`: its connection has ended.
inline auto says_gone(int w) {
  return testing::HasSubstr(fmt::format("worker {} has disconnected (", w));
}
/// … it is connected, and sends nothing.
inline auto says_silent(int w) {
  return testing::AllOf(testing::HasSubstr(fmt::format("worker {} has ", w)),
                        testing::HasSubstr("not been heard from for"));
}
/// … it sent this error.
inline auto says_that_it_failed(int w, const std::string& why) {
  return testing::HasSubstr(fmt::format("worker {} reports: {}", w, why));
}
/// On stderr of a process that is told so by the coordinator.
template <class Why>
auto says_the_run_failed(Why why) {
  return testing::AllOf(testing::HasSubstr("the run has failed: "), why);
}
inline auto says_interrupted() { return testing::HasSubstr("interrupted"); }
/// The scenario and the launcher do not fit.
inline auto says_processes(int workers, int processes) {
  return testing::HasSubstr(fmt::format("{} workers, but {} processes", workers, processes));
}
/// On stderr of every rank but 0, of an error that rank 0 reports.
inline auto says_ask_rank_zero() { return testing::HasSubstr("see the output of rank 0"); }
/// On stderr of a rank whose rank 0 left no address.
inline auto says_no_rendezvous() {
  return testing::HasSubstr("the coordinator's address is unknown");
}
/// In the notes of a run that was interrupted; how many steps it had done.
inline auto says_stopped_by_request() { return testing::HasSubstr("stopped by request after "); }
/// A timeline is read as far as it is whole.
inline auto says_cut_off() { return testing::HasSubstr("ends before its index"); }

}  // namespace tutti::test
