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
  std::vector<core::Rank> ranks;  ///< of this process, in order; each on a GPU of its own
  std::int32_t ranks_in_all = 1;  ///< of the communicator; 0: it has only those of this process
  /// The communicator's name, from NcclCollectives::make_id(): the same in all processes. Not needed if it has only ranks
  /// of this process.
  std::string id;
  double factor = 1;  ///< what sums are multiplied by: that of a MEAN
  /// By pack: what goes across workers between the reduction and the broadcast inside this one. Empty: NCCL does it all.
  std::vector<core::Collective> across;
  std::chrono::duration<double> timeout{60};
  bool follow_channels = false;  ///< tell the listener what each did
  bool poses_as_host = false;    ///< processes share GPUs, so that each had to say that it is a host of its own
};

/// Collectives by NCCL, out of place where the contract says so: all-reduce, reduce-scatter, all-gather, broadcast and reduce
/// are its own operations; the others are groups of its sends and receives, as nccl-tests has them.
/// All-reduces: of all ranks in one communicator (`nccl`), or inside this worker, with a schedule across workers in
/// the middle (`nccl/ring` and its kind): reduce here, let the worker's first rank reduce with the others', broadcast here.
///
/// A pack's operations on all ranks of this process are one NCCL group. NCCL wants everyone to begin the operations of a
/// communicator in the same order; so where processes share one, packs go in the order in which they were opened, and one
/// that is ready early waits for its turn. Operations are queued behind each other on a stream per rank: whether a pack is
/// launched before the one in front is done is the plan's to say, through start().
///
/// Nothing waits inside NCCL: communicators are non-blocking, and poll() asks how they are.
class NcclCollectives : public Collectives, private InterpreterListener {
 public:
  /// Loads the NCCL module and returns its function table. ERRORS (kRequest): as load_api().
  static core::Expected<const TuttiNcclApi*> load();
  /// A name for a communicator of several processes. ERRORS (kRun): NCCL's.
  static core::Expected<std::string> make_id(const TuttiNcclApi& api);

  /// Makes the communicator; waits for the other processes. `idle` is called now and then; it answers false to give up.
  /// ERRORS (kRun): NCCL's; not all came within the timeout; given up.
  /// REQUIRES: what it is given outlives it.
  static core::Expected<std::unique_ptr<NcclCollectives>> open(const TuttiNcclApi& api, Transport& transport,
                                                               CudaDevices& devices, NcclOptions options,
                                                               const std::function<bool()>& idle);
  ~NcclCollectives() override;

  /// Who is told. Comes first.
  void connect(CollectiveListener& listener) { listener_ = &listener; }

  void open(CollectiveTag tag, const core::Collective& collective, Operation operation,
            const std::vector<core::Rank>& ranks, const std::vector<std::byte*>& data) override;
  void start(CollectiveTag tag, core::Rank rank) override;
  void close(CollectiveTag tag) override;
  core::Expected<void> poll() override;
  [[nodiscard]] Clock::time_point next_due() const override;
  [[nodiscard]] std::int64_t moved() const override { return moved_ + lowered_->moved(); }
  [[nodiscard]] std::string where_it_stands() const override;
  void hear_the_rest() override;
  [[nodiscard]] Receiver& receiver() override { return *lowered_; }
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] std::vector<std::string> last_words() const override;
  void worked(Ticket ticket) override;

 private:
  /// What is done with a pack here, in this order. kAcross only where there are stages.
  enum class Phase : std::uint8_t { kStarting, kReducing, kAcross, kSpreading, kDone };
  struct Pack {
    CollectiveTag tag;
    const core::Collective* collective = nullptr;
    Operation operation = Operation::kSum;
    std::vector<std::byte*> data;  ///< of options_.ranks
    Phase phase = Phase::kStarting;
    std::size_t missing = 0;  ///< ranks here that have not started, or not come to the end of the phase
  };

  NcclCollectives(const TuttiNcclApi& api, Transport& transport, CudaDevices& devices, NcclOptions options);
  core::Expected<void> make_communicators(const std::function<bool()>& idle);
  void listen_to_channels();
  void hear(const TuttiNcclChannel& channel);
  void rank_done(CollectiveTag tag, core::Rank rank) override;
  void step_done(const StepDone&) override {}

  [[nodiscard]] bool stages() const { return !options_.across.empty(); }
  [[nodiscard]] std::int32_t own_ranks() const { return static_cast<std::int32_t>(options_.ranks.size()); }
  void enter(Pack& pack, Phase phase);
  void issue(Pack& pack);
  int ask(const Pack& pack, std::size_t rank, void* stream);
  int ask_for_parts(const Pack& pack, std::size_t rank, void* stream);
  [[nodiscard]] TuttiNcclFunction function_of(const Pack& pack) const;
  core::Expected<void> after_issue();
  void through(Pack& pack, core::Rank rank);
  [[nodiscard]] int state_of_all();
  [[nodiscard]] core::Expected<void> looked_at();
  bool right(int answer, const std::string& doing);
  void end_communicators();

  const TuttiNcclApi& api_;
  CudaDevices& devices_;
  NcclOptions options_;
  CollectiveListener* listener_ = nullptr;
  std::unique_ptr<Interpreter> lowered_;               ///< of what goes across workers
  std::vector<TuttiNcclCommunicator*> communicators_;  ///< of options_.ranks
  std::map<CollectiveTag, Pack> packs_;
  std::deque<CollectiveTag> in_order_;  ///< opened, and not yet queued
  std::deque<Pack*> queued_;            ///< for NCCL
  Pack* issuing_ = nullptr;             ///< what NCCL is still putting on the streams
  std::map<Ticket, std::pair<Pack*, core::Rank>> tickets_;
  Ticket next_ticket_ = Ticket{1} << 63;  ///< the interpreter's count from 1
  Clock::time_point looked_{};
  std::int64_t moved_ = 0;  ///< phases that ranks have come through
  std::string failure_;

  /// What was asked of NCCL and may still be told of, if channels are followed: the same of all communicators.
  struct Asked {
    CollectiveTag tag;
    std::int32_t part = 0;
    TuttiNcclFunction function = kTuttiNcclOther;
    std::int64_t bytes = 0;
    std::vector<bool> heard;  ///< of a channel of it, by communicator
  };
  /// Whether NCCL's channels are followed, or why they are not (any more).
  enum class Following : std::uint8_t { kNo, kYes, kOtherProfiler, kNoProfiler, kLost };
  Following following_ = Following::kNo;
  std::deque<Asked> asked_;
  std::int64_t given_up_ = 0;      ///< operations before those
  std::int64_t channels_due_ = 0;  ///< of those; one where the number is not known yet
  std::int64_t heard_ = 0;         ///< channels
  std::int64_t unheard_ = 0;       ///< channels that were due and not told of in time
};

}  // namespace tutti::real
