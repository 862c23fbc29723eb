#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/import/kineto_import.h"

namespace tutti::core {

/// The profiler events of one rank, in compact lists. Events may arrive in any order. After the
/// last event, the lists are sorted by time and joined. The correlation id connects a kernel with
/// its launch. A kernel belongs to the training step and the pass (forward or backward) in which
/// the host launched the kernel.
class RankTrace::Events {
 public:
  Events(MeasuredRun& run, std::string name) : run_(run), name_(std::move(name)) {}

  void take(const KinetoEvent& e);
  /// Adds the rank to the run.
  Expected<void> finish(KinetoHeader header);

 private:
  /// An interval of time on a thread of the host.
  struct HostRange {
    std::int64_t start = 0, end = 0;
    std::int32_t thread = 0;
    std::int32_t text = -1;  ///< index of the name in the table of texts; -1 if the name is not
                             ///< needed
  };

  struct Launch {
    std::int64_t correlation = 0;
    std::int64_t start = 0;
    std::int32_t thread = 0;
  };

  struct Kernel {
    std::int64_t start = 0, end = 0;
    std::int64_t correlation = -1;
    std::int64_t external = -1;
    std::int64_t launched = -1;  ///< time at which the host launched the kernel; -1: the launch was
                                 ///< before the trace began
    std::int32_t thread = -1;    ///< the host's thread that launched the kernel
    std::int32_t collective = -1;
    bool is_copy = false;
  };

  /// Memory of the GPU that the host allocated.
  struct Allocation {
    std::int64_t time = 0;
    std::int64_t bytes = 0;
    std::int32_t thread = 0;
  };

  /// A call of a collective on the host. The trace records the call as an operator
  /// record_param_comms or as an annotation nccl:….
  struct Call {
    HostRange range;
    std::int64_t external = -1;
    MeasuredCollective what;
  };

  struct HostStep {
    std::int64_t number = 0, start = 0, end = 0;
  };
  struct Gradient {
    HostRange range;
    std::int64_t elements = -1;
    ElementType type = {};
    std::vector<std::int64_t> shape = {};
  };

  /// The copy that the host made before a call of a collective.
  struct CopyBefore {
    std::int64_t bytes = -1;    ///< size of the memory that was allocated for the copy; -1: unknown
    std::int64_t since_ns = 0;  ///< time from the end of the copy to the call
  };

  template <class T>
  bool full(const std::vector<T>& list);

  // Records events (kineto_events.cpp).
  std::int32_t thread_of(const KinetoEvent& e);
  std::int32_t text_of(std::string_view text);
  HostRange range_of(const KinetoEvent& e, std::int32_t text = -1);
  void take_kernel(const KinetoEvent& e);
  /// Copies the metadata of a collective from the event of its kernel or of its call.
  void describe(const KinetoEvent& e, MeasuredCollective& c);
  void take_annotation(const KinetoEvent& e);
  void take_operator(const KinetoEvent& e);

  // Joins kernels with launches and calls (kineto_join.cpp).
  Expected<void> join();
  void place_rank();
  /// Returns the number after "rank" in the name of the file, such as "trace_rank3.json"; -1 if
  /// there is none, or if the run already has this rank.
  [[nodiscard]] std::int64_t rank_in_name() const;
  /// Adds the base time of the trace to all its times, because the traces of one host's ranks have
  /// different base times.
  void shift_base();
  void sort_all();
  void join_launches();
  /// Returns the latest call on `thread` that was in progress at `time`; null if there is none.
  /// Calls of one thread do not overlap unless they are nested.
  static Call* call_at(std::vector<Call>& calls, std::int64_t time, std::int32_t thread);
  /// Returns the last copy on the thread of a call. Compiled code makes a copy of each gradient,
  /// and reduces the copy in place.
  [[nodiscard]] CopyBefore copy_before(const HostRange& call) const;
  /// Sets the sizes of all-reduces to the sizes of the memory that was allocated for the copies
  /// that are reduced. The sizes are used only if every all-reduce without a size follows such a
  /// copy, and nearly all of them follow it immediately. In other programs, copies have nothing to
  /// do with all-reduces. Returns true if the sizes are used.
  bool sizes_from_copies();
  /// Counts the records of copies and allocations as used or as ignored. Only sizes_from_copies()
  /// uses these records.
  void count_copies(bool used);
  void join_calls();
  /// Counts each kernel and copy once. The ids of launches ascend. Therefore a kernel whose id is
  /// lower than that of the first launch in the trace was launched before the trace began. Such a
  /// kernel belongs to work that the trace does not contain, and no result includes it.
  void count_kernels();

  // Determines training steps, layers and packs (kineto_steps.cpp).
  void make_steps();
  /// Determines the steps of a trace that does not mark its steps. A step ends after its call of
  /// Optimizer.step. A trace with fewer than two such calls is one step. `last` is the end of the
  /// last kernel.
  void find_unmarked_steps(std::int64_t first, std::int64_t last);
  /// Returns the training step that the host executed at `time`; -1 if there is none.
  [[nodiscard]] std::int32_t step_at(std::int64_t time) const;
  /// Returns the time at which the host stops issuing work for step `s`.
  [[nodiscard]] std::int64_t host_end(std::size_t s) const;
  void list_kernels_by_step();
  /// Returns the indices of a step's kernels, sorted by start time.
  [[nodiscard]] std::span<const std::size_t> kernels_of(std::size_t s) const;
  /// Determines the gradients, layers and packs of training step `s`.
  void fill_step(std::size_t s);
  /// Finds the packs of a step in which the backward pass itself, and not the hooks of gradients,
  /// issues one all-reduce per gradient. Returns false for all other steps.
  bool packs_inside_functions(std::size_t s, std::int32_t thread);
  std::string layer_name(std::int32_t text, std::int32_t layer) const;
  template <class It>
  void fill_packs(std::size_t s, It grads, It grads_end, std::int32_t thread);
  [[nodiscard]] bool inside_accumulation(std::int64_t time, std::int32_t thread) const;
  void make_compute();
  [[nodiscard]] bool in_optimizer(std::int64_t time) const;

  MeasuredRun& run_;
  std::string name_;
  KinetoHeader header_;
  MeasuredRank rank_;
  std::string rank_problem_;
  bool too_many_ = false;
  std::string key_;
  std::map<std::string, std::int32_t, std::less<>> threads_, texts_;
  std::vector<std::string> names_;
  std::vector<Kernel> kernels_;
  std::vector<Launch> launches_;
  std::optional<std::int64_t> first_correlation_;  ///< the lowest id of a launch in the trace
  std::vector<HostStep> steps_;
  std::vector<HostRange> optimizer_, autograd_, accumulations_, clones_;
  std::vector<Allocation> allocations_;
  std::vector<Gradient> gradients_;
  std::vector<Call> calls_, annotated_;
  std::vector<MeasuredCollective> collectives_;
  std::vector<std::int32_t> step_of_kernel_;
  std::vector<std::size_t> by_step_, first_of_step_;
  std::vector<MeasuredCollective*> of_step_;  ///< the gradient all-reduces of the current step,
                                              ///< indexed by pack
  std::vector<std::int32_t> backward_thread_;
  std::vector<std::int64_t> backward_host_;
};

}  // namespace tutti::core
