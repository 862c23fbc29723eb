// Messages of the processes of a run that no exit status, code or value represents. Each sentence
// that several tests check is here once, so that it can be reworded in one place.
#pragma once

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tutti::test {

/// In the notes of a run: its results were verified.
inline constexpr const char* kVerified = "results verified: every element is correct";

inline auto says_verified() { return testing::HasSubstr(kVerified); }

/// On stderr: the connection of worker `w` has ended.
inline auto says_gone(int w) {
  return testing::HasSubstr(fmt::format("worker {} has disconnected (", w));
}
/// On stderr: worker `w` is connected, but sends nothing.
inline auto says_silent(int w) {
  return testing::AllOf(testing::HasSubstr(fmt::format("worker {} has ", w)),
                        testing::HasSubstr("not been heard from for"));
}
/// On stderr: worker `w` reported this error.
inline auto says_that_it_failed(int w, const std::string& why) {
  return testing::HasSubstr(fmt::format("worker {} reports: {}", w, why));
}
/// On stderr of a process to which the coordinator reports that the run has failed.
template <class Why>
auto says_the_run_failed(Why why) {
  return testing::AllOf(testing::HasSubstr("the run has failed: "), why);
}
inline auto says_interrupted() { return testing::HasSubstr("interrupted"); }
/// On stderr: the scenario's number of workers differs from the launcher's number of processes.
inline auto says_processes(int workers, int processes) {
  return testing::HasSubstr(fmt::format("{} workers, but {} processes", workers, processes));
}
/// On stderr of every rank except 0: rank 0 reports the error.
inline auto says_ask_rank_zero() { return testing::HasSubstr("see the output of rank 0"); }
/// On stderr of a rank that found no address of rank 0.
inline auto says_no_rendezvous() {
  return testing::HasSubstr("the coordinator's address is unknown");
}
/// In the notes of a run that was interrupted; the number of completed steps follows.
inline auto says_stopped_by_request() { return testing::HasSubstr("stopped by request after "); }
/// In the message about an incomplete timeline, which is read up to its damage.
inline auto says_cut_off() { return testing::HasSubstr("ends before its index"); }

}  // namespace tutti::test
