#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "real/cuda/cuda_devices.h"
#include "real/interpreter/interpreter.h"
#include "real/nccl/api.h"

namespace tutti::real {

struct NcclOptions {
  std::vector<core::Rank> ranks;  ///< the ranks of this process in order, each with its own GPU
  /// The number of ranks of the communicator; 0: the communicator has only ranks of this process.
  std::int32_t ranks_in_all = 1;
  /// The communicator's identifier, from NcclCollectives::make_id(). All processes use the same
  /// identifier. Unused if the communicator has only ranks of this process.
  std::string id;
  double factor = 1;  ///< for a MEAN: the factor by which sums are multiplied
  /// For each pack, the collective between workers, which runs after the NCCL reduction inside this
  /// worker and before the NCCL broadcast. If the list is empty, NCCL executes all collectives
  /// completely.
  std::vector<core::Collective> across;
  std::chrono::duration<double> timeout{60};
  bool follow_channels = false;  ///< true: report each channel to the listener
  /// True: processes share GPUs, so each process tells NCCL that it is a separate host.
  bool separate_host_ids = false;
};

/// Executes collectives with NCCL, in place or out of place, as the contract of the collective
/// requires (core/schedule/contract.h). All-reduce, reduce-scatter, all-gather, broadcast and
/// reduce use the NCCL operations of the same names. All other collectives are groups of sends and
/// receives, as in nccl-tests. An all-reduce uses one communicator of all ranks (`nccl`), or has
/// three phases (`nccl/ring` and similar): an NCCL reduction inside each worker, a schedule between
/// the first ranks of all workers, and an NCCL broadcast inside each worker.
///
/// A pack's operations on all ranks of this process are one NCCL group. NCCL requires all ranks to
/// start the operations of a communicator in the same order. If processes share a communicator,
/// packs are therefore issued in the order of open(), and a pack that is ready early waits for its
/// predecessors. Operations are queued on one stream per rank. The caller of start() decides
/// whether a pack is launched before its predecessor is complete.
///
/// Communicators are non-blocking, and poll() checks their state, so no call blocks inside NCCL.
class NcclCollectives : public Collectives, private InterpreterListener {
 public:
  /// Loads the NCCL module and returns its function table. ERRORS (kRequest): those of load_api().
  static core::Expected<const TuttiNcclApi*> load();
  /// Creates the identifier of a communicator of several processes. ERRORS (kRun): an NCCL error.
  static core::Expected<std::string> make_id(const TuttiNcclApi& api);

  /// Creates the communicator, and waits until the other processes have joined it. `idle` is called
  /// regularly while this function waits, and returns false to cancel the wait.
  /// ERRORS (kRun): an NCCL error; a process did not join within the timeout; `idle` returned
  /// false.
  /// REQUIRES: all arguments outlive the result.
  static core::Expected<std::unique_ptr<NcclCollectives>> open(const TuttiNcclApi& api,
                                                               Transport& transport,
                                                               CudaDevices& devices,
                                                               NcclOptions options,
                                                               const std::function<bool()>& idle);
  ~NcclCollectives() override;

  /// Sets the listener. To be called first.
  void connect(CollectiveListener& listener) { listener_ = &listener; }

  void open(CollectiveTag tag, const core::Collective& collective, Operation operation,
            const std::vector<core::Rank>& ranks, const std::vector<std::byte*>& data) override;
  void start(CollectiveTag tag, core::Rank rank) override;
  void close(CollectiveTag tag) override;
  core::Expected<void> poll() override;
  [[nodiscard]] Clock::time_point next_due() const override;
  [[nodiscard]] std::int64_t moved() const override { return moved_ + lowered_->moved(); }
  [[nodiscard]] std::string progress_text() const override;
  void drain() override;
  [[nodiscard]] Receiver& receiver() override { return *lowered_; }
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] std::vector<std::string> final_notes() const override;
  void worked(Ticket ticket) override;

 private:
  /// The phases of a pack, in the order of execution. A pack has the phases kAcross and
  /// kBroadcasting only if a schedule moves its data between workers.
  enum class Phase : std::uint8_t { kStarting, kReducing, kAcross, kBroadcasting, kDone };
  struct Pack {
    CollectiveTag tag;
    const core::Collective* collective = nullptr;
    Operation operation = Operation::kSum;
    std::vector<std::byte*> data;  ///< by index in options_.ranks
    Phase phase = Phase::kStarting;
    /// In phase kStarting: the number of ranks of this process that have not started. In later
    /// phases: the number of ranks that have not completed the phase.
    std::size_t missing = 0;
  };

  NcclCollectives(const TuttiNcclApi& api, Transport& transport, CudaDevices& devices,
                  NcclOptions options);
  core::Expected<void> make_communicators(const std::function<bool()>& idle);
  void poll_channels();
  void record_channel(const TuttiNcclChannel& channel);
  void rank_done(CollectiveTag tag, core::Rank rank) override;
  void step_done(const StepDone&) override {}

  [[nodiscard]] bool stages() const { return !options_.across.empty(); }
  [[nodiscard]] std::int32_t own_ranks() const {
    return static_cast<std::int32_t>(options_.ranks.size());
  }
  void enter(Pack& pack, Phase phase);
  void issue(Pack& pack);
  int call_nccl(const Pack& pack, std::size_t rank, void* stream);
  int call_nccl_in_parts(const Pack& pack, std::size_t rank, void* stream);
  [[nodiscard]] TuttiNcclFunction function_of(const Pack& pack) const;
  core::Expected<void> after_issue();
  void phase_done(Pack& pack, core::Rank rank);
  [[nodiscard]] int state_of_all();
  [[nodiscard]] core::Expected<void> check_communicators();
  bool succeeded(int answer, const std::string& doing);
  void end_communicators();

  const TuttiNcclApi& api_;
  CudaDevices& devices_;
  NcclOptions options_;
  CollectiveListener* listener_ = nullptr;
  std::unique_ptr<Interpreter> lowered_;               ///< executes schedules between workers
  std::vector<TuttiNcclCommunicator*> communicators_;  ///< by index in options_.ranks
  std::map<CollectiveTag, Pack> packs_;
  /// Packs that were opened but are not in queued_ yet, in the order of open().
  std::deque<CollectiveTag> in_order_;
  std::deque<Pack*> queued_;  ///< packs that are ready to be issued to NCCL
  Pack* issuing_ = nullptr;   ///< the pack that NCCL is enqueueing on the streams
  std::map<Ticket, std::pair<Pack*, core::Rank>> tickets_;
  /// The last ticket that this object has used. The tickets of this object are larger than 2^63, so
  /// they differ from the interpreter's tickets, which count from 1.
  Ticket next_ticket_ = Ticket{1} << 63;
  Clock::time_point looked_{};
  std::int64_t moved_ =
      0;  ///< the number of phases that ranks have completed, used to detect progress
  std::string failure_;

  /// An operation that was issued to NCCL, as long as NCCL has not reported all of its channels.
  /// One entry represents the operation on all communicators. Used only if channels are recorded.
  struct Requested {
    CollectiveTag tag;
    std::int32_t part = 0;
    TuttiNcclFunction function = kTuttiNcclOther;
    std::int64_t bytes = 0;
    std::vector<bool> heard;  ///< for each communicator, true if one of its channels was reported
  };
  /// kYes: NCCL's channels are recorded. Values other than kYes are reasons why channels are not
  /// recorded.
  enum class Following : std::uint8_t { kNo, kYes, kOtherProfiler, kNoProfiler, kLost };
  Following following_ = Following::kNo;
  std::deque<Requested> requested_;
  std::int64_t given_up_ = 0;  ///< NCCL's number of the first operation in requested_
  /// The number of channels that NCCL still has to report for the operations in requested_. An
  /// operation with an unknown number of channels counts as one channel.
  std::int64_t channels_due_ = 0;
  std::int64_t channels_reported_ = 0;  ///< number of channels reported
  std::int64_t channels_missed_ = 0;    ///< the number of channels that NCCL did not report in time
};

}  // namespace tutti::real
